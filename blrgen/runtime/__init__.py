"""Support functions of emitted files: ordinary Python, copied into the files that use them.

| module | what it does |
|---|---|
| `apart` | Rows in chunks, each on a thread, by functions that let others run |
| `arrays` | Arrays of a caller as flat views and back, checked before they are used |
| `batches` | Steps on some of the rows, and runs of them |
| `besselk` | Functions of K by the trapezoidal rule |
| `bessels` | Ratios of Bessel functions |
| `chained` | Chains: one element at a time, and the most probable path |
| `choices` | One of two values for every element, with the probability of that element |
| `compiled` | What compiled code says in words of its own: how it is compiled, choices |
| `draws` | Draws in place of parameters: labels, paths, first values, what is kept of all |
| `elementary` | exp, log and their kin without branches |
| `ends` | Where a model's parameters end: floors, singular matrices, and what is told of them |
| `errors` | The error function and its kin |
| `exponentials` | Logarithms of sums and differences of exponentials |
| `falls` | Differences of the functions of Gamma at two points, without cancellation |
| `gammas` | log Γ, ψ and what is built from them |
| `guarded` | Steps of models that are not conjugate, in parts where need be, and nodes of sums |
| `handed` | What a caller hands a model's class: sizes, numbers, labels, lengths, looked at |
| `hashed` | Random words by a hash of counters |
| `kept` | What an object keeps: attributes in their domains, resuming |
| `lapack` | Matrices in compiled loops where they are small and by LAPACK where they are large |
| `linear` | Matrices in NumPy: what is symmetric, factors, triangular systems |
| `stacks` | Stacks of matrices at once, in whole arrays |
| `logistic` | Logistic numbers made of random words |
| `loops` | Linear algebra in loops on memory of the caller's |
| `marks` | Decorators of functions that both targets have |
| `mixtures` | Mixtures: first values, what a step is given, what it may leave |
| `moved` | Arrays of a model in other places: data far from 0 near it, several laid end to end |
| `multivariate` | Functions of the multivariate Gamma function |
| `noise` | Normal numbers made of random words: each is a function of its place in a stream |
| `numbers` | Numbers and arrays that are looked at, and numbers made once a step |
| `plain` | What NumPy says in words of its own: choices, the bits of floats |
| `quantiles` | Pieces of a density whose logarithm is linear between two points |
| `randoms` | Noise from NumPy's generators |
| `runs` | Runs of a model until its objective rests, and resuming them |
| `sampling` | Draws from families with NumPy's generators |
| `starts` | First states of a model: as given, drawn, or by grouping rows |
| `threads` | Compiled kernels on whole arrays, or on stretches of them with threads |
| `threefry` | Random words by Threefry2x32-20, a cipher of counters (Salmon et al., 2011) |
| `unbounded` | Whether an objective grows without bound where points come to an end |
| `uniform` | Uniform numbers made of random words, strictly between the ends |

`blrgen.emit.support` reads the syntax trees of these modules: a definition is copied with what
it uses, and with the imports that its names stand for.  Nothing here imports from blrgen but
from these modules.
"""
