"""Programs over axes → functions → source text.

| module | what it does |
|---|---|
| `nodes` | the tree: functions, loops, assignments, views; what each needs is a field of it |
| `memory` | what every value is called and where an entry of it lies |
| `kernels` | the loops of a schedule → functions |
| `constants` | every number given the arrays' type, before the loops |
| `views` | rows of arrays taken before the innermost loops |
| `numba` | the tree → Numba's Python |
| `arrays` | the equations → array statements; their tree → NumPy |
"""
