"""A letter for X + S where a rule has its inverse: (X + S)⁻¹X = 1 − (X + S)⁻¹S.

With B = X + S for X everywhere, words in X and B⁻¹ become words in B and B⁻¹, which cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import SymMat, symmat
from blrgen.algebra.words import collect_words, normal

Expr = Any


def shifted(
    expressions: Sequence[Expr], taken: set[str], gaps: Sequence[Expr] = ()
) -> tuple[tuple[Expr, ...], tuple[Expr, Expr] | None]:
    """The expressions in the letter, and (letter, what it stands for); unchanged if longer.

    `gaps` are sums that domains say are definite: they are tried first.
    """
    bases = {p.base for e in expressions for p in e.atoms(sp.Pow) if _is_inverse_sum(p)}
    for base in (*gaps, *sorted(bases, key=sp.default_sort_key)):
        found = _moved(base)
        if found is None:
            continue
        x, slope, rest = found
        name, k = "B", 1
        while name in taken:
            k, name = k + 1, f"B{k + 1}"
        letter = symmat(name, x.shape[0])
        new = tuple(normal(e.subs(x, (letter - rest) / slope)) for e in expressions)
        if sum(map(sp.count_ops, new)) < sum(map(sp.count_ops, expressions)):
            return new, (letter, base)
    return tuple(expressions), None


def _is_inverse_sum(p: Expr) -> bool:
    return bool(not p.is_commutative and p.exp.is_negative and p.base.is_Add)


def _moved(base: Expr) -> tuple[Expr, Expr, Expr] | None:
    """(X, α, S) of αX + S with one symmetric symbol X that stands nowhere else in it."""
    words = collect_words(base)
    alone = [w for w in words if len(w) == 1 and isinstance(w[0], SymMat)]
    for (x,) in sorted(alone, key=str):
        rest = sp.Add(*[c * sp.Mul(*w) for w, c in words.items() if w != (x,)])
        if not rest.has(x) and not words[(x,)].has(x) and sp.sympify(rest) != 0:
            return x, words[(x,)], rest
    return None
