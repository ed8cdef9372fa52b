"""Programs of rules → the class of an optimizer, as a tree that every target spells.

| module | what it does |
|---|---|
| `target` | What a target says of itself |
| `passes` | Which kernels a rule of arrays has, and in which ways they are run |
| `domains` | Which states are looked at after a step |
| `parts` | What every class has: arguments, domains, words, resuming |
| `writer` | The class: constructor, step, run |
| `probing` | `draw`, `observe`, and steps from draws |
| `guard` | A step that leaves its domain is undone and said |
| `posterior` | What is known of the posterior, and samples |
"""
