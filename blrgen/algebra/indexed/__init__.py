"""The index algebra: sums of products of symbols with indices, in one normal form.

| module | what it does |
|---|---|
| `values` | Index, Symbol, Atom, Term, Expression: what an expression is |
"""

from blrgen.algebra.indexed.values import ONE, ZERO, Atom, Expression, Index, Range, Symbol, Term

__all__ = ["ONE", "ZERO", "Atom", "Expression", "Index", "Range", "Symbol", "Term"]
