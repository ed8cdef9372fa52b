"""Whether a loss is a number wherever its variable can be: looked for at points of the support.

Where no values of the data make it one, at a point of the support, it is no loss on this
support: log θ on the line, 1/θ where θ may be 0.  What is not found is not excluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family, Support
from blrgen.errors import UserError
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
_POINTS = tuple(sp.Rational(k, 4) for k in (0, 2, -2, 4, -4, 8, -9, 80))
_TRIES = 24  # values of the data at each point
_DIGITS = 20
_LARGE = 500  # beyond it exp is beyond doubles, and nothing more is computed


def check_defined(loss: Expr, family: Family, where: str) -> None:
    """Refuse a loss that is not a number at some point of a scalar variable's support."""
    if not family.elementwise or family.components is not None or family.joint:
        return
    x = family.variable
    others = sorted(loss.free_symbols - {x}, key=str)
    for point in _inside(family.support):
        if not any(_is_number(loss, {x: point, **data}) for data in _values(others)):
            raise UserError(
                f"the loss is not defined at {x} = {point}", where=where,
                why=f"{x} may be there: its support is {family.support.text}",
                how="a loss that is a real number on all of the support, or a family whose support "
                "leaves the point out",
            )  # fmt: skip


def _inside(support: Support) -> Iterator[Expr]:
    """Simple points of a support whose ends are numbers."""
    if support.kind == "finite":
        yield from support.points
        return
    ends = [sp.sympify(e) for e in (support.lower, support.upper) if e is not None]
    if support.kind not in ("interval", "integers", "vector") or not all(e.is_number for e in ends):
        return
    low, high = support.lower, support.upper
    for p in _POINTS:
        if support.kind == "integers" and not p.is_integer:
            continue
        above = low is None or p > low or (p == low and not support.lower_open)
        below = high is None or p < high or (p == high and not support.upper_open)
        if above and below:
            yield p


def _values(names: list[Expr]) -> Iterator[dict[Expr, Expr]]:
    """Values of the data: signs and sizes by a fixed seed."""
    random = Random(1)
    for _ in range(_TRIES if names else 1):
        yield {n: sp.Rational(random.choice((-9, -3, -1, 1, 2, 7)), random.choice((1, 2, 5)))
               for n in names}  # fmt: skip


def _is_number(loss: Expr, at: dict[Expr, Expr]) -> bool:
    """Whether it is real there; what is too large for doubles is a number all the same.

    From the inside out, so that no argument is large enough to take long.
    """
    memo: dict[Expr, Any] = {}
    with mpmath.workdps(_DIGITS):
        point = {k: mpmath.mpf(int(v.p)) / int(v.q) for k, v in at.items()}
        for part in sp.postorder_traversal(loss):
            if part.is_number:
                continue
            try:
                value = evaluate(part, point, memo)
            except Undefined:
                return False
            if abs(value) > _LARGE:
                return True
        return not isinstance(value, mpmath.mpc)
