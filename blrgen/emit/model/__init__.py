"""Model programs → source files that stand alone.

| module | what it does |
|---|---|
| `file` | a whole file: docstring, kernels, class, support functions |
| `writer` | a model program → its class, as a value |
| `beginning`, `steps`, `known` | its sections: how it begins, how it goes on, what it says |
| `draws` | the class of an algorithm that draws |
| `guarded` | what a class has more where blocks are not conjugate |
| `filters` | a filter → its class, one element of a chain a step |
| `defaults` | defaults of constants → expressions of a constructor |
| `samplers` | functions that draw from families, and what is made of them |
| `places` | where a class keeps what its functions read |
| `kernels` | programs → functions of a target, as values and as text |
"""
