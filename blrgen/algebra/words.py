"""Products of non-commuting symbols ("words") and sums of them in normal form."""

from __future__ import annotations

from typing import Any

import sympy as sp

Expr = Any


def split(x: Expr) -> tuple[Expr, tuple[Expr, ...]]:
    """A product as (commuting coefficient, word), with A² unrolled to A A."""
    coefficient, parts = (
        x.args_cnc() if x.is_Mul else (([x], []) if x.is_commutative else ([], [x]))
    )
    word: list[Expr] = []
    for p in parts:
        if p.is_Pow and p.exp.is_Integer and abs(int(p.exp)) > 1:
            n = int(p.exp)
            word += [p.base if n > 0 else p.base**-1] * abs(n)
        else:
            word.append(p)
    return sp.Mul(*coefficient), tuple(word)


def normal(x: Expr) -> Expr:
    """A sum of words: products expanded, (A B)⁻¹ = B⁻¹ A⁻¹ with scalars taken out of inverses."""
    if x.is_commutative:
        return sp.expand(x)
    return sp.expand(x.replace(_is_inverse_product, _open_inverse))


def _is_inverse_product(x: Expr) -> bool:
    return bool(
        x.is_Pow
        and x.exp == -1
        and not x.is_commutative
        and (x.base.is_Mul or x.base.is_Pow or x.base.is_Add)
    )


def _open_inverse(x: Expr) -> Expr:
    base = normal(x.base)
    if base.is_commutative:
        return base**-1
    if base.is_Pow and base.exp.is_Integer:
        return base.base**-base.exp
    if base.is_Mul:
        coefficient, word = split(base)
        if all(_invertible(a) for a in word):
            return coefficient**-1 * sp.Mul(*[a**-1 for a in reversed(word)])
    return base**-1


def _invertible(a: Expr) -> bool:
    from blrgen.algebra.ranks import SymMat

    return isinstance(a, SymMat) or bool(a.is_Pow) or bool(a.is_Add)


def terms(x: Expr) -> list[tuple[Expr, tuple[Expr, ...]]]:
    """The sum as a list of (coefficient, word)."""
    return [split(t) for t in sp.Add.make_args(normal(x))]


def collect_words(x: Expr) -> dict[tuple[Expr, ...], Expr]:
    """Word → coefficient, equal words merged."""
    found: dict[tuple[Expr, ...], Expr] = {}
    for coefficient, word in terms(x):
        found[word] = found.get(word, 0) + coefficient
    return {w: c for w, c in found.items() if sp.expand(c) != 0}
