"""The value stage: an expression at a point, in doubles or in as many digits as it takes.

| module | what it does |
|---|---|
| `arithmetic` | The numbers that expressions are evaluated in: doubles in batches |
| `bessel` | log I_ν(x) and log K_ν(x) for x > 0 that neither overflow nor vanish |
| `digits` | Values of expressions at a point, to so many digits, with an estimate of the error |
| `evaluate` | Values of scalar expressions at a point, in arithmetic of any number of digits |
| `indexed` | Values of expressions with indices, by plain loops |
| `instance` | Expressions at a point where every size and every symbol has a value |
| `kinds` | The kind of numbers that indexed expressions and programs are evaluated in |
| `line` | Nodes and weights for ∫ and Σ over a line, placed by the density itself |
| `tape` | Expressions as lists of instructions that run on arrays: of doubles |

Knows nothing of families: densities and their integrals are in `blrgen.geometry.numbers`.
"""
