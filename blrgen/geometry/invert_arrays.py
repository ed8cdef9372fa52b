"""μ → λ for families with vectors and matrices, at the sizes that the means tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from blrgen.errors import UserError
from blrgen.geometry import array_values as given
from blrgen.geometry.inside import is_inside
from blrgen.geometry.inversion import Inversion, refused
from blrgen.geometry.one_equation import DIGITS, OneEquation
from blrgen.value.arithmetic import REALS
from blrgen.value.evaluate import Undefined
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Value = Any
_MET = 1e-14  # of the residual: far below what doubles tell, far above the digits kept


def natural_of_arrays(
    geometry: Geometry, mean: Mapping[str, Any], fixed: Mapping[str, Any]
) -> Inversion:
    """λ(μ) in closed form, by elimination, or by Newton's method on all parameters."""
    with mpmath.workdps(DIGITS):
        base, target = base_of(geometry, mean, fixed)
        found = closed(geometry, base, target) or by_elimination(geometry, base, target)
        if found is None or not found.converged:
            from blrgen.geometry.array_newton import natural_by_newton

            found = natural_by_newton(geometry, base, target)
        return found


def base_of(
    geometry: Geometry, mean: Mapping[str, Any], fixed: Mapping[str, Any]
) -> tuple[Instance, list[Value]]:
    """Sizes, constants and mean parameters as a point, and the latter in their order."""
    from blrgen.geometry.inverse import mean_symbols
    from blrgen.read.sizes import size_symbols

    family, symbols, where = geometry.family, mean_symbols(geometry), "mean parameters"
    given.check_names([p.name for p in family.fixed], fixed, (), {}, "known constants")
    told = []
    for p in family.fixed:
        value = given.array(fixed[p.name], p.symbol, p.name, "known constants")
        told.append((p.name, p.symbol, value, p.domain.text))
    for x, s, t in zip(geometry.natural, symbols, family.statistics, strict=True):
        value = given.array(mean[s.name], x, s.name, where)
        told.append((s.name, x, value, f"the space of {t}"))
    sizes: dict[Expr, int] = {}
    given.learn_sizes(told, sizes, where)
    unknown = [str(s) for s in size_symbols(family) if s not in sizes]
    if unknown:
        raise UserError(f"the mean parameters do not tell {', '.join(unknown)}", where=where)
    values = [given.numbers(value) for _, _, value, _ in told]
    constants = len(family.fixed)
    base = Instance(
        sizes, dict(zip([p.symbol for p in family.fixed], values[:constants], strict=True)), REALS
    )
    for p in family.fixed:
        given.check_domain(base, p, "known constants")
    target = values[constants:]
    return Instance(sizes, {**base.own, **dict(zip(symbols, target, strict=True))}, REALS), target


def closed(geometry: Geometry, base: Instance, target: list[Value]) -> Inversion | None:
    """The closed form; a value outside the domains means that no member has these means."""
    if geometry.inverse_mean is None:
        return None
    values: dict[Expr, Value] = {}
    for p, e in zip(geometry.family.natural, geometry.inverse_mean, strict=True):
        try:
            values[p.symbol] = base.like(e, p.symbol)
        except Undefined as error:
            why = f"{p.name} = {e} has no value there: {error}"
            raise refused(geometry.family, why) from None
    at = base.with_(values)
    for p, e in zip(geometry.family.natural, geometry.inverse_mean, strict=True):
        if not is_inside(at, p.symbol, p.domain):
            raise refused(geometry.family, f"{p.name} = {e} would not be in {p.domain.text}")
    return _found(geometry, at, target, 0)


def by_elimination(geometry: Geometry, base: Instance, target: list[Value]) -> Inversion | None:
    """All parameters but one in closed form, that one from its equation; None where not."""
    plan = geometry.elimination
    if plan is None:
        return None
    root = OneEquation(geometry, plan, base, target[plan.left]).solve()
    if root.place is None:
        return Inversion((), False, root.steps, float("inf"), root.reason)
    at = root.place
    if plan.working:
        chart = geometry.natural_of_working
        at = at.with_({x: at.like(chart[x], x) for x in geometry.natural})
    return _found(geometry, at, target, root.steps)


def _found(geometry: Geometry, at: Instance, target: list[Value], steps: int) -> Inversion:
    """λ with the residual that it leaves."""
    natural = tuple(at.value(x) for x in geometry.natural)
    left = residual(geometry, at, target)
    met = left < _MET and all(is_inside(at, p.symbol, p.domain) for p in geometry.family.natural)
    reason = "" if met else "μ(λ) is not μ where the equations are met"
    return Inversion(natural, met, steps, left, reason)


def residual(geometry: Geometry, at: Instance, target: list[Value]) -> float:
    """The largest |μ − ∇A| against the largest entry of each μ_i, or 1."""
    worst = mpmath.mpf(0)
    for x, m, t in zip(geometry.natural, geometry.mean, target, strict=True):
        try:
            gap = at.like(m, x) - t
        except Undefined:
            return float("inf")
        size = max([mpmath.mpf(1), *map(abs, _flat(t))])
        worst = max([worst, *(abs(g) / size for g in _flat(gap))])
    return float(worst)


def _flat(value: Value) -> list[Any]:
    return list(value.flat) if isinstance(value, np.ndarray) else [value]
