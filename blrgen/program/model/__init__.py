"""A model's algorithm as programs over axes: what a class holds, and what its methods compute.

| module | what it does |
|---|---|
| `values` | `ModelProgram`: arguments, state, one program over axes for each method |
| `given` | a program with some of its equations given from outside |
| `check` | what must fit: the parts of a model program against each other |
"""
