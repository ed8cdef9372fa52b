"""Where values stand in their domains: how far inside a cone, the ends of an interval."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import sympy as sp

from blrgen.algebra.tables import NotDefinite, filled, table
from blrgen.core import Domain
from blrgen.value.arithmetic import REALS
from blrgen.value.evaluate import Undefined
from blrgen.value.instance import Instance

Expr = Any
Value = Any  # an mpf, or a table of them


def exactly(here: Instance) -> Instance:
    """A point of doubles with digits to spare."""

    def exact(value: Any) -> Value:
        value = np.asarray(value)
        if not value.ndim:
            return mpmath.mpf(float(value))
        made = filled(value.shape, None)
        for place in np.ndindex(value.shape):
            made[place] = mpmath.mpf(float(value[place]))
        return made

    return Instance(here.sizes, {x: exact(value) for x, value in here.values.items()}, REALS)


def gap(here: Instance, x: Expr, domain: Domain) -> Value:
    """How far a matrix is inside its cone: what must be positive definite."""
    distance = here.value(x)
    if domain.lower is not None:
        distance = distance - here.like(domain.lower, x)
    return table(distance).times(mpmath.mpf(-1)) if domain.kind == "-spd" else distance


def bounds(here: Instance, domain: Domain) -> tuple[Value, Value]:
    """The ends of an interval, which may depend on sizes and other parameters."""

    def end(edge: Expr, none: Value) -> Value:
        return none if edge is None or edge in (sp.oo, -sp.oo) else here.value(edge)

    return end(domain.lower, -mpmath.inf), end(domain.upper, mpmath.inf)


def is_inside(here: Instance, x: Expr, domain: Domain) -> bool:
    """Whether the value of x is inside a domain."""
    try:
        if domain.kind in ("spd", "-spd"):
            return bool(table(gap(here, x, domain)).pivots)
        if domain.kind == "interval":
            low, high = bounds(here, domain)
            value = here.value(x)
            return bool(
                (low < value or (value == low and not domain.lower_open))
                and (value < high or (value == high and not domain.upper_open))
            )
    except (Undefined, NotDefinite):
        return False
    return True
