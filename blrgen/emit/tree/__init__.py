"""Programs over axes → functions → source text.

| module | what it does |
|---|---|
| `nodes` | the tree: functions, loops, assignments, views; what each needs is a field of it |
| `places` | its expressions: whole numbers, entries and parts of arrays |
| `memory` | what every value is called and where an entry of it lies |
| `equations` | equations at one place of their loops → statements, and their sums |
| `kernels` | loops of a schedule → statements: recurrences, blocks, ragged rows |
| `functions` | a program → its functions: kernels of rows, and what runs them in chunks |
| `sizes` | sizes that functions name: from shapes of arrays, or as arguments |
| `staged` | a program → compiled functions, and one that calls them and is not compiled |
| `rules` | the kernel of a rule → its functions, in loops or on whole arrays |
| `careful` | loops in which sums keep their digits and NaN stays NaN |
| `fitting` | lines that are too long, with parts of them as locals |
| `apart` | values of functions that go across an array, side by side first |
| `reads` | what statements read, and ends of recurrences that nothing reads |
| `stores` | values put where they go at once |
| `jammed` | four turns at once of a loop around one over rows |
| `loads` | entries of arrays read once, where nothing changes them |
| `lengths` | loops that call functions run as far as an array is long |
| `views` | rows of arrays taken before the innermost loops |
| `matrices` | vectors and matrices → array statements in the words of linear algebra |
| `formed` | a matrix made entry by entry: a function of an entry, the loop over all |
| `constants` | every number given the arrays' type, before the loops |
| `classes`, `layout` | a class as a value; classes as text |
| `described` | the writer of every class: sections in their order, how an object is kept |
| `spelling` | how a target writes what a class does with arrays and numbers |
| `breaks` | long lines, broken as a formatter would |
| `printer`, `numba` | the tree → Numba's Python |
| `values`, `statements`, `arrays` | equations → array statements; rows of data in strips |
| `numpy` | their tree → NumPy |
"""
