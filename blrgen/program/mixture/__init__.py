"""The rule of a mixture → one program over axes: log q from all components, then their steps.

| module | what it does |
|---|---|
| `density` | log q, its gradient and its Hessian at the mean of every component |
| `entries` | Expressions of numbers and vectors by their entries, as equations over axes |
| `lower` | A derivation of a mixture as a program over axes |
| `words` | Products of vectors and matrices as equations over axes |
"""
