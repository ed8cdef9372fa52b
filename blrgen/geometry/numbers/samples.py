"""Points all over a support: the places at which a density is first looked at."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from blrgen.core import Family
from blrgen.geometry.numbers.branch import Branch, number, segments
from blrgen.geometry.numbers.summation import PLAIN

Expr = Any
Array = Any


def samples(family: Family, point: dict[Expr, Any]) -> list[tuple[Branch, Array]]:
    """(branch, places on it) over an interval, a line, integers or points."""
    from blrgen.geometry.numbers.moments import check_support

    check_support(family)
    support = family.support
    if support.kind == "finite":
        return [(PLAIN, np.array([float(number(p, point)) for p in support.points]))]
    low, high = number(support.lower, point), number(support.upper, point)
    if support.kind == "integers":
        steps = np.unique(
            np.round(np.concatenate([np.arange(2000.0), np.geomspace(2e3, 1e15, 400)]))
        )
        start = 0.0 if mpmath.isinf(low) else float(low)
        grid = np.concatenate([start - steps, start + steps])
        return [(PLAIN, np.unique(grid[(grid >= float(low)) & (grid <= float(high))]))]
    found = []
    for branch in segments(family, support.lower, support.upper, point, mpmath.mpf(0)):
        top = 0.0 if branch.top is None else float(branch.top)
        grid = top - np.concatenate([np.linspace(0.0, 8.0, 1600), np.geomspace(8.0, 1e8, 1600)])
        if branch.top is None:
            far = np.geomspace(700.0, 1e9, 400)
            grid = np.concatenate([-far, np.linspace(-700.0, 700.0, 5601), far])
        found.append((branch, np.sort(grid)))
    return found
