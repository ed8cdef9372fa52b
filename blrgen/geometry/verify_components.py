"""Checking the log-partition of a family of vectors against its density, at small sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.integrate import Integral
from blrgen.geometry.near_ends import check_scalars
from blrgen.geometry.sized import Point, PointSums, places, points_of, shown, sizes_of
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.instance import Instance

Expr = Any
TOLERANCE = 1e-10
_DIGITS = 30


def verify_components(family: Family, integral: Integral) -> str:
    """The evidence level of A; a wrong given A raises, naming the value it should have."""
    _check_conditions(family, integral.conditions)
    given = family.log_partition
    if given is None:
        return f"derived: {integral.method}"
    derived = integral.method != "given"
    worst = mpmath.mpf(0)
    tried: set[tuple[Expr, int]] = set()
    for sizes, point in places(family):
        claimed = _value(given, point, sizes)
        if derived:
            should = _value(integral.log_partition, point, sizes)
        else:
            density = PointSums(family, sizes, point)
            if not density.settled:
                continue
            should = mpmath.mpf(density.log_partition)
        gap = abs(claimed - should) / max(1, abs(should))
        if not gap < TOLERANCE:
            raise UserError(
                f"the log_partition of {family.name!r} is wrong",
                where=family.path,
                why=f"at {shown(sizes, point)} it is {mpmath.nstr(claimed, 12)}, "
                f"and the density normalises with {mpmath.nstr(should, 12)}",
                how="correct it, or leave it out where blrgen derives it",
            )
        worst = max(worst, gap)
        tried.update(sizes.items())
    if not tried and family.components.free_symbols:
        return "given: not checked (the quadrature does not settle)"
    at = ", ".join(f"{k} = {v}" for k, v in sorted(tried, key=str))
    what = "the derived form" if derived else "the density's own integral"
    return f"numeric: agrees with {what} to 1e-10" + (f" at {at}" if at else "")


def _value(e: Expr, point: Point, sizes: Mapping[Expr, int]) -> Any:
    with mpmath.workdps(_DIGITS):
        found = Instance(sizes, point, EXTENDED).value(sp.sympify(e))
        return found if isinstance(found, mpmath.mpf) else mpmath.nan


def _check_conditions(family: Family, conditions: tuple[Expr, ...]) -> None:
    """What the integral needs to be positive is, at points all over the domain."""
    check_scalars(family, conditions)
    for sizes in sizes_of(family)[:1]:
        for point in points_of(family, sizes, 9):
            here = Instance(sizes, point, EXTENDED)
            for c in conditions:
                value = here.value(sp.sympify(c))
                if not min(value if isinstance(value, list) else [value]) > 0:
                    raise UserError(
                        f"the density of {family.name!r} cannot be normalised",
                        where=family.path,
                        why=f"at {shown(sizes, point)}, inside the declared domain, "
                        f"its mass does not fall off: {c} must be positive",
                        how="restrict the natural domain to where ∫ h exp⟨λ, T⟩ is finite",
                    )
