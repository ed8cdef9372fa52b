"""A mixture's program over axes → a file that stands alone.

| module | what it does |
|---|---|
| `file` | A derivation of a mixture as its file: docstring, kernels, class, support functions |
| `writer` | The class of a mixture as a value: constructor, step, what is kept |
"""
