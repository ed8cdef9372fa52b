"""Programs of rules → the class of an optimizer, as a tree that every target spells.

| module | what it does |
|---|---|
| `target` | What a target says of itself |
| `parts` | What every class has: arguments, domains, words, resuming |
| `base` | What the classes of all rules are written with: numbers, inputs, `step`, `run` |
| `writer` | The class of a rule of arrays: constructor, step |
| `probing` | `draw`, `observe`, and steps from draws |
| `guard` | A step that leaves its domain is undone and said |
| `posterior` | What is known of the posterior, and samples |
| `matrices` | The class of a rule of vectors and matrices |
| `held` | How the caller holds its parameters: arrays as one vector, or a matrix |
| `matrix_start` | Its constructor and inputs |
| `matrix_ends` | What it looks at before anything is written |
| `matrix_posterior` | Its posterior and samples, from one factor |
"""
