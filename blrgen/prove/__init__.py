"""Proofs by levels: identity, random-exact, numeric, refuted; never `simplify`.

`equal` decides one equation, `verify_file` a step function somebody wrote,
`emitted` the files that blrgen emits, `mutate` whether any of that can fail.
"""
