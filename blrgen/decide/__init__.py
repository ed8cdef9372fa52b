"""The decide stage: whether two expressions are equal.

| module | what it does |
|---|---|
| `budget` | How much work a proof may take: counted, not timed |
| `cases` | Max, Min, |x|, sign and Piecewise, opened into indicators [f > 0] |
| `domain` | Domains as intervals: reading their text, sampling inside them, deciding signs |
| `equal` | Whether two expressions are equal on their domains |
| `field` | Numbers modulo a prime, and small dense matrices over any numbers |
| `fractions` | Rational functions in symbols and atoms, modulo the relations the atoms satisfy |
| `functions` | The larger and the smaller of two, without SymPy's search for which one it is |
| `matrices` | Equations between vectors and matrices: normal form for every size |
| `modular` | Random-exact tests: both sides at random points of a large prime field |
| `proof` | What is known of an equation, and by which means |
| `rational` | From SymPy expressions to fractions in a workspace: atoms, roots and cases |
| `tower_kind` | Towers as a kind of numbers: functions by name, and linear algebra |
| `towers` | Numbers in a tower of prime fields, in which exp and log have meaning |
| `words` | A normal form for sums of products of matrices, valid for every size |

Levels, strongest first: identity, random-exact, numeric, refuted; never `simplify`.
"""
