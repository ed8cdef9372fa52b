"""How the variables of a family are drawn, one after the other, in primitive draws.

The samplers are those of the integration rules.  A scalar variable without one is drawn by
the inverse of its distribution function; of several variables each is drawn given those
before it, in the reverse of the order in which they were integrated; the factors of a
product are drawn each by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.core import Family, Support
from blrgen.errors import UserError
from blrgen.geometry.integrate import exponent_of
from blrgen.geometry.integrate.draws import fresh, law

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any


@dataclass(frozen=True)
class Step:
    """One variable, where it lives, and its value in draws, parameters and earlier variables."""

    variable: Expr
    support: Support
    value: Expr
    family: Family  # the declaration, or the factor of a product, that it belongs to


def steps_of(geometry: Geometry, working: bool = False) -> tuple[Step, ...]:
    """The variables in the order in which they are drawn; refused where there is no way."""
    found: list[Step] = []
    for g in getattr(geometry, "factors", ()) or (geometry,):
        before = sp.Tuple(*[s.value for s in found])
        for variable, support, value in _of_one(g):
            if working:
                value = value.xreplace(g.natural_of_working)
            found.append(Step(variable, support, fresh(before, value), g.family))
    return tuple(found)


def _of_one(g: Geometry) -> list[tuple[Expr, Support, Expr]]:
    family, integral = g.family, g.integral
    places = dict(zip(family.variables, family.supports, strict=True))
    if len(places) == 1:
        sampler = integral.sampler
        if sampler is None and g.ring.elementwise:
            sampler = law(exponent_of(family, g.ring), family.variable, family.support)
        if sampler is not None:
            return [(family.variable, family.support, sampler)]
    elif integral.one_by_one:
        return [(x, places[x], s) for x, s in integral.one_by_one]
    raise UserError(
        f"there is no way to draw from {family.name!r}",
        where=family.path,
        why="no rule that integrates its density says how, and its distribution function "
        "is no function of one number",
    )


def declared_order(geometry: Geometry) -> tuple[Expr, ...]:
    """The variables as the declaration lists them."""
    return tuple(geometry.family.variables)
