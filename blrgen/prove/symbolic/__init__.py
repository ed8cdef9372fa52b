"""Running Python source on symbols: exact literals, stand-in modules, a trace of every line.

`number` is an element of an array, `arrays` and `linear` what NumPy does to arrays of
them, `modules` what an import finds, `instrument` rewrites the source, `run` runs it.
"""
