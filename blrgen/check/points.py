"""Where a claim is tried: inside the natural domain, at zero, near the edges."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.core import Family, Parameter
from blrgen.geometry.points import placed
from blrgen.geometry.verify import parameter_points

Expr = Any
Point = dict[Expr, Expr]

NEAR, FAR, OUT = sp.Rational(1, 40), sp.Integer(12), sp.Integer(6)
EXTREME = sp.Integer(800)


def interior(family: Family) -> list[Point]:
    """Exact points inside the domains of the natural parameters and constants; both signs."""
    return parameter_points((*family.fixed, *family.natural), 4)


def at_zero(family: Family) -> list[Point]:
    """The point where every parameter that may be zero is: removable singularities sit there."""
    (start,) = parameter_points((*family.fixed, *family.natural), 1)
    free = [p for p in family.natural if _whole_line(p)]
    if not free:
        return []
    return [{**start, **{p.symbol: sp.S.Zero for p in free}}]


def edges(family: Family) -> list[Point]:
    """One parameter at a time close to each end of its domain, the others inside."""
    parameters = (*family.fixed, *family.natural)
    found = []
    for p in family.natural:
        for step in (1 - OUT, 1 + OUT) if _whole_line(p) else (NEAR, FAR):
            point: Point = {}
            for i, other in enumerate(parameters):
                usual = sp.Rational(9 + 2 * i, 4 + i)
                point[other.symbol] = placed(other, step if other is p else usual, point)
            found.append(point)
    return found


def _whole_line(p: Parameter) -> bool:
    low, high = p.domain.lower, p.domain.upper
    return (low is None or low == -sp.oo) and (high is None or high == sp.oo)


def distinct(points: list[Point]) -> list[Point]:
    """The points without repetitions, in order."""
    found: list[Point] = []
    for p in points:
        if p not in found:
            found.append(p)
    return found


def far_out(family: Family) -> list[Point]:
    """Parameters far out, alone and together: where exponentials overflow a double."""
    parameters = (*family.fixed, *family.natural)
    free = [p for p in family.natural if _whole_line(p)]
    found = []
    chosen = [{p} for p in family.natural] + ([set(free)] if len(free) > 1 else [])
    for group in chosen:
        for sign in (1, -1):
            point: Point = {}
            for i, p in enumerate(parameters):
                usual = sp.Rational(9 + 2 * i, 4 + i)
                step = 1 + sign * EXTREME if _whole_line(p) else EXTREME**sign
                point[p.symbol] = placed(p, step if p in group else usual, point)
            found.append(point)
    return distinct(found)
