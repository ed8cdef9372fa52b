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
from blrgen.geometry.integrate.primitive import draws_of, fresh, law

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


def steps_of(
    geometry: Geometry, working: bool = False, numerically: bool = False
) -> tuple[Step, ...]:
    """The variables in the order in which they are drawn; refused where there is no way.

    `numerically`: a scalar by its distribution function also where a rule has a sampler.
    """
    found: list[Step] = []
    for g in getattr(geometry, "factors", ()) or (geometry,):
        before = sp.Tuple(*[s.value for s in found])
        for variable, support, value in _of_one(g, numerically):
            if working:
                value = _opened(value.xreplace(g.natural_of_working), g)
            found.append(Step(variable, support, fresh(before, value), g.family))
    return tuple(found)


def _of_one(g: Geometry, numerically: bool) -> list[tuple[Expr, Support, Expr]]:
    family, integral = g.family, g.integral
    places = dict(zip(family.variables, family.supports, strict=True))
    if len(places) == 1:
        sampler = None if numerically else integral.sampler
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


def _opened(value: Expr, g: Geometry) -> Expr:
    """In working parameters, multiplied out where that is shorter."""
    inner = {
        d: d.func(*d.args[:2], *(_shorter(p, g) for p in d.parameters)) for d in draws_of(value)
    }
    return _shorter(value.xreplace(inner), g)


def _shorter(e: Expr, g: Geometry) -> Expr:
    """Exponentials of differences stay: their factors alone would overflow."""
    if not g.ring.elementwise:
        return g.ring.tidy(e)
    forms = [sp.expand(e, power_exp=False, power_base=False, multinomial=False, mul=mul, log=True)
             for mul in (False, True)]  # fmt: skip
    return min(forms, key=sp.count_ops)


def declared_order(geometry: Geometry) -> tuple[Expr, ...]:
    """The variables as the declaration lists them."""
    return tuple(geometry.family.variables)
