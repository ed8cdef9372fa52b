"""Support functions of emitted files: ordinary Python, copied into the files that use them.

| module | what it holds | targets |
|---|---|---|
| `arrays` | what a caller hands in as flat views, and back; what a class keeps | both |
| `numbers` | numbers and arrays that are looked at | both |
| `marks` | decorators of functions that both targets have | – |
| `plain`, `compiled` | what each target says in words of its own, by the same names | one |
| `threads` | kernels on whole arrays or on stretches of them | Numba |
| `elementary`, `exponentials`, `errors` | exp, log and their kin | both |
| `gammas`, `falls`, `multivariate` | log Γ, ψ and what is made of them | both |
| `bessels`, `besselk` | Bessel functions | both |
| `quantiles` | pieces of a density that is drawn from by its inverse | both |
| `threefry`, `hashed` | random words, by the two generators | Numba |
| `noise`, `logistic`, `uniform`, `choices` | numbers of the laws, made of random words | Numba |
| `randoms` | noise from NumPy's generators | both |
| `linear`, `lapack` | factors, solutions and products of matrices | one |
| `sampling` | draws from families | both |

`blrgen.emit.support` reads the syntax trees of these modules: a definition is copied with what
it uses, and with the imports that its names stand for.  Nothing here imports from blrgen but
from these modules.
"""
