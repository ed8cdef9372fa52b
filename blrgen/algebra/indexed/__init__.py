"""The index algebra: sums of products of symbols with indices, in one normal form.

| module | what it does |
|---|---|
| `build` | Symbols, deltas, sums, products, powers, and symbols replaced: in normal form |
| `calculus` | One differential: ∂x_i/∂x_j = δ_ij |
| `functions` | log, exp, powers, log-gamma, opened where they are made |
| `matrices` | inv(M) and logdet(M): scalars out, diagonals by elements |
| `moving` | Indices put in place of others, without capture |
| `naming` | Canonical names of bound indices |
| `normal` | The normal form of a product summed over ranges |
| `primes` | Rational numbers as products of powers of primes |
| `remembered` | Results kept by what is asked and by what is known of the symbols |
| `rules` | The rewritings of the normal form, one at a time |
| `scalars` | SymPy's scalar functions behind the atoms |
| `signs` | What is known of the sign of an expression |
| `values` | Index, Symbol, Atom, Term, Expression: what an expression is |
"""

from blrgen.algebra.indexed.values import ONE, ZERO, Atom, Expression, Index, Range, Symbol, Term

__all__ = ["ONE", "ZERO", "Atom", "Expression", "Index", "Range", "Symbol", "Term"]
