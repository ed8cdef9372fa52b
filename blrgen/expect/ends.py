"""Whether p q vanishes at the ends of the support, looked at in numbers.

At points that come ever closer to an end (or go ever further out), log |p q| must go on
falling, and by no less each time: a power of the distance, or faster.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family

Expr = Any
_NEAR = (20, 40, 80, 160)  # digits of the distance to a finite end
_FAR = (4, 8, 16, 32)  # digits of the distance to an infinite one


@dataclass(frozen=True)
class Place:
    """A point near an end: the variable and the parameters there, and log q."""

    digits: int  # of the arithmetic
    at: dict[Expr, Any]
    log_q: Any


@dataclass(frozen=True)
class Ends:
    """Rows of places that run to an end, for several parameters inside their domains."""

    rows: tuple[tuple[Place, ...], ...]

    def vanish(self, p: Expr) -> bool:
        """Whether p·q → 0 along every row."""
        return all(_falls(p, row) for row in self.rows)


def ends_of(family: Family, log_q: Expr, backward: dict[Expr, Expr], *, below: bool = True) -> Ends:
    """The ends of the support (or only the upper one); `backward` is ψ(λ)."""
    from blrgen.geometry.verify import interior_points

    support = family.support
    ends = ((support.lower, 1), (support.upper, -1))[0 if below else 1 :]
    rows = []
    for point in interior_points(family, 3):
        values = {**point, **{x: sp.sympify(f).subs(point) for x, f in backward.items()}}
        rows += [_row(log_q, family.variable, end, side, values) for end, side in ends]
    return Ends(tuple(rows))


def _row(log_q: Expr, x: Expr, end: Expr, side: int, point: dict[Expr, Any]) -> tuple[Place, ...]:
    from blrgen.value.evaluate import Undefined, evaluate

    end = sp.sympify(end).subs(point)
    near = bool(end.is_finite)
    places = []
    for digits in _NEAR if near else _FAR:
        distance = side if near else -side
        precision = digits + 20 if near and end != 0 else 40
        with mpmath.workdps(precision):
            at = {k: evaluate(sp.sympify(v), {}) for k, v in point.items()}
            offset = distance * mpmath.mpf(10) ** (-digits if near else digits)
            at[x] = evaluate(end, {}) + offset if near else offset
            try:
                places.append(Place(precision, at, evaluate(log_q, at)))
            except Undefined:
                places.append(Place(precision, at, mpmath.inf))
    return tuple(places)


def _falls(p: Expr, row: tuple[Place, ...]) -> bool:
    from blrgen.value.evaluate import Undefined, evaluate

    levels = []
    for place in row:
        with mpmath.workdps(place.digits):
            try:
                weight = evaluate(p, place.at)
            except Undefined:
                return False
            levels.append(place.log_q + mpmath.log(abs(weight)) if weight else -mpmath.inf)
    falls = [b - a for a, b in itertools.pairwise(levels) if mpmath.isfinite(a)]
    return all(f < -1 for f in falls) and all(b <= a for a, b in itertools.pairwise(falls))
