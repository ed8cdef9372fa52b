"""Model programs → source files that stand alone.

| module | what it does |
|---|---|
| `file` | a whole file: docstring, kernels, class, support functions |
| `writer` | a model program → its class, as a value |
| `guarded` | what a class has more where blocks are not conjugate |
| `defaults` | defaults of constants → expressions of a constructor |
| `places` | where a class keeps what its functions read |
| `kernels` | programs → functions of a target, as values and as text |
"""
