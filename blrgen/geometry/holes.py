"""Points inside the domain where a formula is 0/0: zeros of what it divides by, and 0 itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family
from blrgen.geometry.points import contains, interior_points, numbers

Expr = Any
_DEGREE = 4  # of a divisor whose zeros are looked for


def hole(family: Family, e: Expr) -> tuple[Expr, Expr] | None:
    """(parameter, value) at which e has no number, though it has one around it."""
    point = interior_points(family, 1)[0]
    for p in family.natural:
        for value in _suspects(e, p.symbol, point):
            inner = contains(p.domain, value, point) and value not in (
                sp.sympify(p.domain.lower), sp.sympify(p.domain.upper),
            )  # fmt: skip
            if p.domain.kind == "interval" and inner and not _has_number(e, point, p.symbol, value):
                return p.symbol, value
    return None


def _suspects(e: Expr, x: Expr, point: dict[Expr, Expr]) -> Iterator[Expr]:
    yield sp.S.Zero
    others = {k: v for k, v in point.items() if k != x}
    for f in sorted(e.atoms(sp.Pow), key=sp.default_sort_key):
        divisor = sp.expand(f.base.subs(others))
        if not (f.exp.could_extract_minus_sign() and divisor.has(x) and divisor.is_polynomial(x)):
            continue
        if sp.degree(divisor, x) <= _DEGREE:
            roots = sorted(sp.roots(divisor, x), key=sp.default_sort_key)
            yield from (r for r in roots if r.is_real)


def _has_number(e: Expr, point: dict[Expr, Expr], x: Expr, value: Expr) -> bool:
    from blrgen.value.evaluate import Undefined, evaluate

    with mpmath.workdps(30):
        try:
            found = evaluate(e, numbers(point | {x: value}))
        except Undefined:
            return False
        return not isinstance(found, mpmath.mpc) and bool(mpmath.isfinite(found))
