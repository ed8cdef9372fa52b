"""Long divisors that several terms share, as names of their own: F⁻¹ has one, its determinant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.components import total, varies
from blrgen.algebra.ring import Ring

Expr = Any
_LONG = 8  # operations up to which a divisor is written out
_OFTEN = 5  # how often a shorter one must occur to get a name
_SHORT = 3
_SUMS = 5  # operations up to which a number made from sums over components is written out


def divisors(ring: Ring, expressions: Sequence[Expr], taken: set[str]) -> dict[Expr, Expr]:
    """Divisor → the symbol to write for it; deterministic, empty when none is long."""
    if ring.components:
        return _numbers(expressions, taken)
    if not ring.elementwise:
        return {}
    count: dict[Expr, int] = {}
    for x in expressions:
        for term in sp.Add.make_args(x):
            for f in sp.Mul.make_args(term):
                if f.is_commutative and f.is_Pow and f.exp == -1 and f.base.is_Add:
                    count[f.base] = count.get(f.base, 0) + 1
    long = [
        d
        for d, n in count.items()
        if n > 1 and sp.count_ops(d) > (_SHORT if n >= _OFTEN else _LONG)
    ]
    return _named(long, taken)


def _numbers(expressions: Sequence[Expr], taken: set[str]) -> dict[Expr, Expr]:
    """Divisors of vectors that are numbers made from sums over the components."""
    found: dict[Expr, None] = {}
    for x in expressions:
        for p in sorted(x.atoms(sp.Pow), key=sp.default_sort_key):
            d = p.base
            if p.exp == -1 and d.is_Add and d.has(total) and not varies(d):
                found[d] = None
    return _named([d for d in found if sp.count_ops(d) > _SUMS], taken)


def _named(long: list[Expr], taken: set[str]) -> dict[Expr, Expr]:
    found: dict[Expr, Expr] = {}
    for d in sorted(long, key=sp.default_sort_key):
        name = "det" if not found else f"det{len(found) + 1}"
        if name in taken:
            return found
        found[d] = sp.Symbol(name, real=True)
    return found
