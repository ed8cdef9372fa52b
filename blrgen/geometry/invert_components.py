"""μ → λ for families of vectors: what a user names, sizes from the lengths of the vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from blrgen.algebra.components import Component
from blrgen.core import Parameter
from blrgen.errors import UserError
from blrgen.geometry.component_newton import Found, natural_of_mean
from blrgen.geometry.inversion import Inversion, refused
from blrgen.geometry.place import exact_value
from blrgen.geometry.sized import Sized
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Value = Any
_DIGITS = 40
_MANY = 100  # for closed forms, in which 1 − Σμ may cancel
_MET = 1e-12
_OUT = mpmath.mpf(10) ** 25  # how far along a direction its largest ⟨v, T⟩ is looked for
_BEYOND = mpmath.mpf(10) ** -14  # of ⟨v, μ⟩, where no λ was found
_AT_MOST = mpmath.mpf(10) ** -24  # where one was found, but that far out
_FAR = mpmath.mpf(10) ** 18
_BROKEN = (ZeroDivisionError, OverflowError, ValueError, TypeError)


def natural_of_vectors(
    geometry: Geometry, mean: Mapping[str, Any], fixed: Mapping[str, Any]
) -> Inversion:
    """λ with lists for vectors, in closed form or by Newton's method."""
    from blrgen.geometry.invert import constants_of

    with mpmath.workdps(_MANY):
        values = [exact_number(v, name) for name, v in mean.items()]
        constants = {k.name: exact_number(v, k.name) for k, v in
                     constants_of(geometry.family, fixed).items()}  # fmt: skip
        sizes = sizes_of_values(geometry, values)
        if geometry.inverse_mean is not None:
            return _closed(geometry, sizes, values, constants)
    with mpmath.workdps(_DIGITS):
        found = natural_of_mean(geometry, sizes, values, constants)
        flat = [x for v in found.natural for x in (v if isinstance(v, list) else [v])]
        if not found.converged or max(map(abs, flat)) > _FAR:
            slack = _AT_MOST if found.converged else _BEYOND
            _check_hull(geometry, sizes, values, constants, found, slack)
        if not found.converged:
            reason = f"μ is not met after {found.steps} steps"
            return Inversion(tuple(found.natural), False, found.steps, float("inf"), reason)
        return _inversion(geometry, sizes, values, constants, found.natural, found.steps)


def _inversion(
    geometry: Geometry, sizes: Mapping[Expr, int], values: list[Value],
    constants: Mapping[str, Value], natural: list[Value], steps: int,
) -> Inversion:  # fmt: skip
    """λ with the residual that it leaves, against the largest entry of each μ_i, or 1."""
    point = dict(zip((x.name for x in geometry.natural), natural, strict=True))
    reached = Sized(geometry, sizes, {**constants, **point}).flat(geometry.mean)
    wanted = [x for v in values for x in (v if isinstance(v, list) else [v])]
    size = max([mpmath.mpf(1), *map(abs, wanted)])
    gap = float(max(abs(a - b) for a, b in zip(reached, wanted, strict=True)) / size)
    met = gap < _MET
    return Inversion(tuple(natural), met, steps, gap, "" if met else "μ(λ) is not μ")


def _closed(
    geometry: Geometry, sizes: Mapping[Expr, int], values: list[Value],
    constants: Mapping[str, Value],
) -> Inversion:  # fmt: skip
    """The closed form; what is outside the domains then has no member."""
    from blrgen.geometry.inverse import mean_symbols

    family, natural = geometry.family, list[Value]()
    names = {s.name: v for s, v in zip(mean_symbols(geometry), values, strict=True)}
    here = Instance(sizes, {**constants, **names}, EXTENDED)
    for p, e in zip(family.natural, geometry.inverse_mean or (), strict=True):
        try:
            value = here.like(e, p.symbol)
        except _BROKEN:
            raise refused(family, f"{p.name} = {e} has no value there") from None
        entries = value if isinstance(value, list) else [value]
        if any(isinstance(v, mpmath.mpc) for v in entries):
            raise refused(family, f"{p.name} = {e} is no real number there")
        if not all(_inside(p, v, here) for v in entries):
            raise refused(family, f"{p.name} = {e} would not be in {p.domain.text}")
        natural.append(value)
    return _inversion(geometry, sizes, values, constants, natural, 0)


def _inside(p: Parameter, value: Value, here: Instance) -> bool:
    if isinstance(value, mpmath.mpc) or not mpmath.isfinite(value):
        return False
    low, high = (
        here.value(sp.sympify(b)) if b is not None and sp.sympify(b).is_finite else None
        for b in (p.domain.lower, p.domain.upper)
    )
    return (low is None or value > low or (value == low and not p.domain.lower_open)) and (
        high is None or value < high or (value == high and not p.domain.upper_open)
    )


def _check_hull(
    geometry: Geometry, sizes: Mapping[Expr, int], values: list[Value],
    constants: Mapping[str, Value], found: Found, slack: Value,
) -> None:  # fmt: skip
    """Refuse μ where ⟨v, T⟩ stays below ⟨v, μ⟩ along the direction v in which λ ran off.

    The largest ⟨v, T⟩ is the limit of ⟨v, ∇A(t v)⟩ as t → ∞.
    """
    flat = [x for v in found.natural for x in (v if isinstance(v, list) else [v])]
    top = max(map(abs, flat), default=mpmath.mpf(0))
    if not top or not mpmath.isfinite(top):
        return
    far = {
        x.name: [e / top * _OUT for e in v] if isinstance(v, list) else v / top * _OUT
        for x, v in zip(geometry.natural, found.natural, strict=True)
    }
    wanted = [x for v in values for x in (v if isinstance(v, list) else [v])]
    direction = [x / top for x in flat]
    try:
        with mpmath.workdps(3 * _DIGITS):
            reached = Sized(geometry, sizes, {**constants, **far}).flat(geometry.mean)
            most, asked = mpmath.fdot(direction, reached), mpmath.fdot(direction, wanted)
    except _BROKEN:
        return
    size = mpmath.fsum(abs(a * b) for a, b in zip(direction, wanted, strict=True))
    if most <= asked + slack * size:
        shown = ", ".join(mpmath.nstr(v, 5) for v in direction)
        raise refused(
            geometry.family,
            f"along v = ({shown}) the statistics never exceed ⟨v, T⟩ = {mpmath.nstr(most, 10)}, "
            f"and ⟨v, μ⟩ is {mpmath.nstr(asked, 10)}: they are not inside the convex hull of T",
        )


def exact_number(value: Any, name: str) -> Any:
    """An mpmath number, or a list of them."""
    from blrgen.value.digits import exact

    if isinstance(value, mpmath.mpf) and mpmath.isfinite(value):
        return value
    if isinstance(value, list | tuple) and any(isinstance(v, mpmath.mpf) for v in value):
        return [exact_number(v, name) for v in value]
    found = exact_value(value, name, "mean parameters")
    if isinstance(found, sp.MatrixBase):
        return [exact(v) for v in found]
    return exact(found)


def sizes_of_values(geometry: Geometry, values: list[Any]) -> dict[Expr, int]:
    """K from vectors of length K or K − 1; all must agree."""
    sizes: dict[Expr, int] = {}
    for x, value in zip(geometry.natural, values, strict=True):
        is_list = isinstance(value, list)
        if isinstance(x, Component) != is_list:
            raise UserError(
                f"the mean parameter of {x.name} is a {'vector' if not is_list else 'number'}",
                where="mean parameters",
            )
        if not is_list:
            continue
        names = sorted(x.size.free_symbols, key=str)
        length = len(value) - int(x.size.subs(dict.fromkeys(names, 0)))
        for name in names:
            if sizes.setdefault(name, length) != length:
                raise UserError(
                    f"the vectors give {name} = {sizes[name]} and {name} = {length}",
                    where="mean parameters",
                )
        if not names and length:
            should = len(value) - length
            raise UserError(
                f"the mean parameter of {x.name} has {len(value)} components, not {should}",
                where="mean parameters",
            )
    return sizes
