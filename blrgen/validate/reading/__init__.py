"""Reading a step function: its syntax tree is given a meaning, and never run to be proved.

Only what is in the tables has a meaning, so no protocol of Python (handlers, hashes, texts, types,
keywords that a stand-in ignores) can see or change what is found; everything else is refused with
its line.  `docs/verify.md` is printed from the tables and says what a verdict covers.

| module | what it does |
|---|---|
| `algebra` | Nodes as SymPy expressions, for `decide`: SymPy may rewrite them, the graph does not |
| `arguments` | The arguments of a call as values, and what the call gave back for each state |
| `arithmetic` | Arithmetic on values: whole numbers with their marks, numbers, arrays |
| `attributes` | Attributes: of modules, of arrays, of lists, dictionaries and records |
| `axes` | Axes of arrays: how many there are, their order, and arrays joined along them |
| `branches` | Paths: a condition that nothing decides is taken both ways, by reading again |
| `calls` | Calls: of functions of the file, and of names of the table |
| `child` | What runs in a process of its own: the function on numbers, with limits |
| `comparisons` | Comparisons: whole numbers, numbers of axes, texts, entries of arrays |
| `comprehensions` | Comprehensions: the items of every turn |
| `constructs` | The table of statements, expressions and what stands at the top of a file |
| `counted` | Loops over the counter: βᵗ by induction over the turns |
| `decided` | Conditions as doubles decide them, where they may decide otherwise than algebra |
| `definedness` | Where what was written has a value: conditions of every operation |
| `document` | docs/verify.md, printed from the tables |
| `edges` | Comparisons that rounding decides: equal by algebra and not in doubles |
| `element` | The rule at one element, in symbols that are only known to be real |
| `elementwise` | What was read against the rule at one element: a counterexample, or a proof |
| `entries` | The arguments of a matrix rule: arrays of symbols of one size |
| `expressions` | The meaning of expressions |
| `factors` | Factors of matrices that only solve: LU, and the logarithm of a determinant |
| `field` | The field with p² elements, p = 2¹²⁷ − 1, i² = −1 |
| `functions` | Functions of every element: NumPy's, and those of `math` on numbers only |
| `graph` | Values as nodes of a shared graph: what is written is kept, nothing is cancelled |
| `indexing` | Subscripts: parts of arrays, lists, tuples and dictionaries, read and stored |
| `interpret` | A graph at a point: in many digits, in doubles as NumPy computes them |
| `limits` | An end in time and memory, whatever the code is |
| `linear` | Products of matrices, and NumPy's and SciPy's linear algebra |
| `lines` | Which line of a refuted function is wrong |
| `loops` | Loops: over an axis of any length read once, as a map; else turn by turn |
| `machine` | What a reading keeps while it goes: the graph, decisions, sizes that constants met |
| `making` | Making arrays and giving them another shape |
| `matrices` | Rules of vectors and matrices: exactly, at sizes, over a field |
| `module` | What may stand at the top of a file, and what each of it means |
| `needs` | Whether matrix code has values wherever the rule has: at one point of the field |
| `points` | Points at which two values may differ: random ones, and those that code singles out |
| `python` | Functions of Python itself, and of functools |
| `ranks` | Elementwise rules: every rank, for every length or at lengths |
| `reader` | One file held against one rule: its function, read afresh, matched and called |
| `reductions` | Sums, products and quantifiers over axes, of arrays of known lengths |
| `rounded` | What doubles make of code that was read, against the rule in many digits |
| `run` | The real run: a test of the reading.  It may take a proof back, and gives none |
| `scopes` | Names: local to a function if it binds them anywhere, then the enclosing ones |
| `shaping` | Giving arrays another shape, joining them, triangles and diagonals |
| `signals` | How a reading ends early; none of these is an exception of the code that is read |
| `sizes` | At which sizes matrix code is read |
| `solving` | NumPy's and SciPy's solvers and factorisations: matrix operations as a whole |
| `statements` | The meaning of statements |
| `storing` | Storing in place: into an array or a part of it, and `a op= b` |
| `table` | The table: every function and keyword that has a meaning, and where it is found |
| `tensors` | Vectors and matrices of any size: what the algebra of words can hold |
| `values` | The values that a reading knows |
| `verdict` | From a file to a verdict: read, match, prove for every length, else at sizes |
| `whole` | Whole numbers of NumPy have 64 bits: what may need more is refused |
| `words` | Matrix rules at every size at once: words in place of entries |
"""
