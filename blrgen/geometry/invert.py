"""μ → λ for any family: the closed form, one equation, or Newton steps on all parameters.

Where the mean map can be solved for λ that is it.  Where it can be solved for all parameters
but one (Wishart, normal-gamma: all but the shape) a single monotone equation is left.  Else
D(λ) = ⟨λ, μ⟩ − A(λ) is maximised by safeguarded Newton steps.  A μ that no member has is
refused; a search that did not converge says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.hull import separating
from blrgen.geometry.inversion import Inversion, Outside
from blrgen.geometry.newton import DIGITS, Newton
from blrgen.geometry.place import checked, exact_value

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Number = Any
Vector = list[Any]
_FAR = mpmath.mpf(10) ** 20

__all__ = ["Inversion", "Outside", "constants_of", "natural_of_mean", "out_of_range"]


def natural_of_mean(
    geometry: Geometry, mean: Mapping[str, Any] | Sequence[Any] | Any,
    fixed: Mapping[str, Any] | None = None,
) -> Inversion:  # fmt: skip
    """λ(μ), and whether it was found; a μ that no member has is refused."""
    family, fixed = geometry.family, fixed or {}
    named = _named(geometry, mean)
    if family.factors:
        return _of_product(geometry, list(named.values()), fixed)
    if family.components is not None:
        from blrgen.geometry.invert_components import natural_of_vectors

        return natural_of_vectors(geometry, named, fixed)
    if not geometry.ring.elementwise:
        from blrgen.geometry.invert_arrays import natural_of_arrays

        return natural_of_arrays(geometry, named, fixed)
    return _of_scalars(geometry, named, fixed)


def _of_scalars(
    geometry: Geometry, named: Mapping[str, Any], fixed: Mapping[str, Any]
) -> Inversion:
    family = geometry.family
    target = _target(named)
    solver = Newton(geometry, target, constants_of(family, fixed))
    if solver.numeric:  # a search by quadrature costs more than a look at the support
        _check_hull(family, target, solver)
    found = solver.closed() or _one_equation(geometry, target, solver.constants) or solver.run()
    # an edge of the hull is reached as λ runs off; then ⟨λ, T⟩ shows which
    if not found.converged or max(map(abs, found.natural)) > _FAR:
        if not found.converged:
            _check_hull(family, target, solver)
        _check_hull(family, target, solver, [float(x) for x in found.natural])
    return found


def _check_hull(
    family: Family, target: Vector, solver: Newton, last: list[float] | None = None
) -> None:
    """Refuse means outside the hull of the statistics, along the axes or the direction `last`."""
    if family.joint:
        return
    direction = separating(family, target, solver.constants, last)
    if direction is not None:
        raise out_of_range(family, target, direction)


def _one_equation(
    geometry: Geometry, target: Vector, constants: Mapping[Expr, Number]
) -> Inversion | None:
    """By elimination, where it goes through and its equation is met."""
    from blrgen.geometry.inverse import mean_symbols
    from blrgen.geometry.invert_arrays import by_elimination
    from blrgen.geometry.one_equation import DIGITS as MANY
    from blrgen.value.arithmetic import REALS
    from blrgen.value.instance import Instance

    with mpmath.workdps(MANY):
        base = Instance(
            {}, {**constants, **dict(zip(mean_symbols(geometry), target, strict=True))}, REALS
        )
        found = by_elimination(geometry, base, target)
    return found if found is not None and found.converged else None


def _of_product(geometry: Geometry, mean: list[Any], fixed: Mapping[str, Any]) -> Inversion:
    """Factor by factor: each has mean parameters of its own."""
    known = {p.name for p in geometry.family.fixed}
    extra = sorted(set(fixed) - known)
    if extra:
        raise UserError(f"not a constant of {geometry.family.name!r}: {', '.join(extra)}")
    found: list[Inversion] = []
    for g in geometry.factors:  # type: ignore[attr-defined]
        own, mean = mean[: len(g.natural)], mean[len(g.natural) :]
        constants = {p.name: fixed[p.name] for p in g.family.fixed if p.name in fixed}
        found.append(natural_of_mean(g, own, constants))
    reasons = dict.fromkeys(f.reason for f in found if f.reason)
    return Inversion(
        tuple(x for f in found for x in f.natural), all(f.converged for f in found),
        max(f.iterations for f in found), max(f.residual for f in found), "; ".join(reasons),
    )  # fmt: skip


def out_of_range(family: Family, target: Vector, direction: list[float]) -> UserError:
    """No density of the family has these mean parameters."""
    shown = ", ".join(mpmath.nstr(t, 8) for t in target)
    terms = " + ".join(
        f"{v:.4g}·({t})" for v, t in zip(direction, family.statistics, strict=True) if v
    )
    return UserError(
        f"no member of {family.name!r} has the mean parameters ({shown})",
        where=family.path,
        why=f"they are not inside the convex hull of the statistics: {terms} never exceeds "
        "its value there",
    )


def _target(named: Mapping[str, Any]) -> Vector:
    """μ as exact numbers, in the order of the statistics."""
    with mpmath.workdps(DIGITS):
        return [_number(v, name) for name, v in named.items()]


def _named(geometry: Geometry, mean: Any) -> dict[str, Any]:
    """The mean parameters by name, in the order of the statistics."""
    from blrgen.geometry.inverse import mean_symbols

    names = [s.name for s in mean_symbols(geometry)]
    if not isinstance(mean, Mapping):
        given = list(mean) if isinstance(mean, Sequence) or hasattr(mean, "__len__") else [mean]
        if len(given) != len(names):
            raise UserError(f"{len(names)} mean parameters are needed, not {len(given)}")
        mean = dict(zip(names, given, strict=True))
    missing = [n for n in names if n not in mean]
    extra = sorted(set(mean) - set(names))
    if missing or extra:
        said = [f"missing: {', '.join(missing)}"] if missing else []
        said += [f"not a mean parameter: {', '.join(extra)}"] if extra else []
        raise UserError("; ".join(said), how=f"give {','.join(f'{n}=…' for n in names)}")
    return {n: mean[n] for n in names}


def _number(value: Any, name: str) -> Number:
    from blrgen.value.digits import exact

    if isinstance(value, mpmath.mpf) and mpmath.isfinite(value):
        return value
    found = exact_value(value, name, "mean parameters")
    if isinstance(found, sp.MatrixBase):
        raise UserError(f"{name} is a number, not a list", where="mean parameters")
    return exact(found)


def constants_of(family: Family, fixed: Mapping[str, Any]) -> dict[Expr, Expr]:
    """The known constants, exactly, all of them and inside their domains."""
    missing = [p.name for p in family.fixed if p.name not in fixed]
    extra = sorted(set(fixed) - {p.name for p in family.fixed})
    if missing or extra:
        raise UserError(
            f"missing constants: {', '.join(missing)}"
            if missing
            else f"not a constant of {family.name!r}: {', '.join(extra)}"
        )
    return checked(family.fixed, fixed, {}, "known constants")
