"""The span of statistics that are vectors and matrices: traces of words matched against them."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.ranks import SymMat, T, trace
from blrgen.algebra.words import normal, split
from blrgen.core import Family

Expr = Any


def span_of_words(f: Expr, family: Family) -> tuple[Expr, ...] | None:
    """C with f = c₀ + Σ⟨C_i, T_i⟩, where every term is a scalar statistic or tr(Cᵀ T_i)."""
    found = [sp.S.Zero for _ in family.statistics]
    for term in sp.Add.make_args(sp.expand(f)):
        if not term.has(family.variable):
            continue
        place = _scalar(term, family) or _matrix(term, family)
        if place is None:
            return None
        i, coefficient = place
        found[i] = found[i] + coefficient
    return tuple(_symmetric(c, p.symbol) for c, p in zip(found, family.natural, strict=True))


def _symmetric(c: Expr, like: Expr) -> Expr:
    return normal((c + T(c)) / 2) if isinstance(like, SymMat) and c != 0 else c


def _scalar(term: Expr, family: Family) -> tuple[int, Expr] | None:
    for i, t in enumerate(family.statistics):
        if t.is_commutative:
            ratio = sp.cancel(term / t) if t.is_Add else term / t
            if not ratio.has(family.variable):
                return i, ratio
    return None


def _matrix(term: Expr, family: Family) -> tuple[int, Expr] | None:
    """(i, C) of a term c·tr(word), the word being Cᵀ T_i up to rotation and transpose."""
    holders = [a for a in sp.Mul.make_args(term) if a.has(family.variable)]
    if len(holders) != 1 or not isinstance(holders[0], trace):
        return None
    outside = term / holders[0]
    inner, word = split(holders[0].args[0])
    ranked = sorted(
        (i for i, t in enumerate(family.statistics) if not t.is_commutative),
        key=lambda i: -len(split(family.statistics[i])[1]),
    )
    flipped = tuple(T(a) for a in reversed(word))
    for i in ranked:
        scale, pattern = split(family.statistics[i])
        for w in (word, flipped):
            for k in range(len(w)):
                turned = w[k:] + w[:k]
                rest = turned[len(pattern) :]
                if turned[: len(pattern)] == pattern and not any(
                    a.has(family.variable) for a in rest
                ):
                    # tr(pattern · rest) = ⟨restᵀ, pattern⟩
                    return i, outside * inner / scale * T(sp.Mul(*rest))
    return None
