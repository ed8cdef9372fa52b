"""Differences of ψ and of ψ′ at two points of which one is known to be the larger.

    ψ(x + y) − ψ(x)   → digamma_rise(x, y)
    ψ′(x) − ψ′(x + y) → trigamma_fall(x, y)

The left sides lose all digits where y is small beside x.  In a sum of products the value at
the largest point is put into every other one, ψ′(x) = fall + ψ′(s), and kept where fewer
terms then have opposite signs: ψ′(a) ψ′(b) − ψ′(s) (ψ′(a) + ψ′(b)) with s = a + b becomes the
product of two falls less ψ′(s)².  Where the leading terms 1/x of ψ′ cancel as well, the
same is done with what is left of it, ψ′(x) − 1/x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from blrgen.algebra.named import (
    digamma_rise,
    trigamma_fall,
    trigamma_rest_fall,
)

Expr = Any
Gap = Callable[[Expr, Expr], Expr]  # how much a value at x is above that at x + y


def polygamma_falls(x: Expr) -> Expr:
    """A sum with ψ and ψ′ at more than one point, by what they change by between them."""
    kinds: tuple[tuple[int, Gap], ...] = (
        (0, lambda a, more: -digamma_rise(a, more)), (1, trigamma_fall),
    )  # fmt: skip
    for order, gap in kinds:
        atoms = [f for f in x.atoms(sp.polygamma) if f.args[0] == order]
        found = {f.args[1]: f for f in sorted(atoms, key=sp.default_sort_key)}
        if x.is_Add and len(found) > 1:
            best = fewest(x, list(found.values()), list(found), gap)
            x = best if best is not None else x
    return x


def rest_falls(x: Expr, rests: list[Expr], points: list[Expr]) -> Expr:
    """A polynomial in ψ′ − 1/x at some points, which `rests` stand for, in the same way."""
    found = fewest(x, rests, points, trigamma_rest_fall)
    return x if found is None else found


def fewest(x: Expr, values: list[Expr], points: list[Expr], gap: Gap) -> Expr | None:
    """The form with the fewest terms of opposite signs, None if that is the sum as it is."""
    stand = {v: sp.Dummy(f"v{k}", positive=True) for k, v in enumerate(values)}
    names = list(stand.values())
    parts = [a.xreplace(stand) for a in sp.Add.make_args(x)]
    moved = [a for a in parts if a.has(*names) and a.is_polynomial(*names)]
    best, least = None, _signs(_terms(moved, names))
    for s, top in zip(points, names, strict=True):
        above = {v: sp.expand(s - p) for v, p in zip(names, points, strict=True) if p != s}
        above = {v: more for v, more in above.items() if more.is_positive}
        if not above:
            continue
        letters = {v: sp.Dummy(f"d{k}", positive=True) for k, v in enumerate(above)}
        shifted = [a.xreplace({v: d + top for v, d in letters.items()}) for a in moved]
        terms = _terms(shifted, [*letters.values(), *names])
        if _signs(terms) < least:
            at = dict(zip(names, points, strict=True))
            falls = {d: gap(at[v], above[v]) for v, d in letters.items()}
            best, least = sp.Add(*terms).xreplace(falls), _signs(terms)
    if best is None:
        return None
    rest = [a for a in parts if a not in moved]
    return sp.Add(best, *rest).xreplace({d: v for v, d in stand.items()})


def _terms(parts: list[Expr], letters: list[Expr]) -> list[Expr]:
    """The terms of a polynomial in letters."""
    terms = []
    for powers, c in sorted(sp.Poly(sp.Add(*parts), *letters).as_dict().items()):
        kept = [v**k for v, k in zip(letters, powers, strict=True)]
        terms.append(sp.Mul(sp.factor_terms(sp.cancel(c)), *kept))
    return [t for t in terms if t != 0]


def _signs(terms: list[Expr]) -> tuple[int, int]:
    signs = [
        bool((a / bottom).could_extract_minus_sign())
        for top, bottom in map(sp.fraction, terms)
        for a in sp.Add.make_args(sp.expand(top))
    ]
    return min(sum(signs), len(signs) - sum(signs)), len(signs)
