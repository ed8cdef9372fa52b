"""Running Python source on symbols: exact literals, stand-in modules, a trace of every line.

| module | what it does |
|---|---|
| `arrays` | Object arrays of expressions, and NumPy's elementwise functions on them |
| `instrument` | Rewriting source so that it computes exactly and tells what each line computed |
| `linalg` | linear algebra of NumPy and SciPy, for any size and modulo a prime |
| `linear` | Vectors and matrices of symbolic size, behaving as NumPy arrays do |
| `modules` | What the running source finds when it imports: NumPy, math, Numba |
| `number` | Numbers that are expressions, and conditions that refuse to steer |
| `run` | One run of a function of a source text on given values, with a record of every line |
| `stand_ins` | What the running source sees of modules, types and builtins: the pieces |

`number` is an element of an array, `arrays` and `linear` what NumPy does to arrays of
them, `modules` what an import finds, `instrument` rewrites the source, `run` runs it.
"""
