"""Whether a density falls off fast enough at the ends of its support, where no rule integrates it.

Near a finite end l the density goes as |x − l|^p, far out as x^p, with p the slope of its
logarithm over log|x − l| or log x.  It has a finite mass only with p > −1 at the one and p < −1
at the other.  p is taken from the exponent itself, one octave after the other, at the corners
of the declared domains.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.near_ends import corners, shown
from blrgen.geometry.points import numbers, parameter_points

Expr = Any
_CLOSE, _FAR = -1000, 1000  # where p is taken, in powers of two: past all that parameters do
_MARGIN, _EXACT = 1e-6, 1e-20
_DIGITS = 400
_MOST = 60  # points of the domains
# Whose growth a power of two to the thousandth settles; log x! and log log x do not grow so.
_KNOWN = (sp.log, sp.exp, sp.Abs, sp.sin, sp.cos, sp.sinh, sp.cosh, sp.tanh, sp.erf)


def check_mass(family: Family, exponent: Expr) -> None:
    """Refuse a density of one number whose mass is infinite somewhere in the declared domains."""
    support = family.support
    if support.kind not in ("interval", "integers") or family.joint:
        return
    moving = [f for f in exponent.atoms(sp.Function) if f.has(family.variable)]
    if not all(isinstance(f, _KNOWN) for f in moving):
        return
    if any(f.args[0].has(sp.log) for f in moving if isinstance(f, sp.log)):
        return
    parameters = (*family.fixed, *family.natural)
    for point in (
        *parameter_points(parameters, 3),
        *islice(corners(parameters, (8, 40), (3,)), _MOST),
    ):
        for end, said, power in _ends(family, exponent, point):
            if _infinite(power, end.is_finite):
                raise UserError(
                    f"the density of {family.name!r} cannot be normalised",
                    where=family.path,
                    why=f"at {shown(point)}, inside the declared domain, it goes as {said} to the "
                    f"power {mpmath.nstr(power, 8)}, and its mass there is infinite",
                    how="restrict the natural domain to where ∫ h exp⟨λ, T⟩ is finite",
                )


def _infinite(power: Any, finite: bool) -> bool:
    """Whether ∫ s^p ds diverges at s = 0, or at s = ∞."""
    past = -1 - power if finite else power + 1
    return bool(past > _MARGIN or abs(past) < _EXACT)


def _ends(
    family: Family, exponent: Expr, point: dict[Expr, Expr]
) -> Iterator[tuple[Expr, str, Any]]:
    """Every end of the support, how far it is in words, and the power there."""
    x, support = family.variable, family.support
    for side, bound in ((1, support.lower), (-1, support.upper)):
        end = sp.sympify(bound).subs(point)
        if end.is_finite and support.kind == "integers":
            continue
        away = f"|{x} − {end}|" if end != 0 else f"|{x}|"
        power = _power(exponent, x, point, end, side)
        if power is not None:
            yield end, away if end.is_finite else f"|{x}|", power


def _power(exponent: Expr, x: Expr, point: dict[Expr, Expr], end: Expr, side: int) -> Any:
    """p, where two octaves agree on it as far as the question goes; None where they do not."""
    from blrgen.value.evaluate import Undefined, evaluate

    octave = -1 if end.is_finite else 1
    start = _CLOSE if end.is_finite else _FAR
    with mpmath.workdps(_DIGITS):
        known, values = numbers(point, _DIGITS), []
        for k in range(3):
            step = mpmath.mpf(2) ** (start + octave * k)
            place = numbers({x: end}, _DIGITS)[x] + side * step if end.is_finite else -side * step
            try:
                value = evaluate(exponent, {**known, x: place})
            except Undefined:
                return None
            if isinstance(value, mpmath.mpc):
                return None
            values.append(value)
        slopes = [octave * (b - a) / mpmath.log(2) for a, b in pairwise(values)]
        both = [_infinite(p, end.is_finite) for p in slopes]
        return slopes[1] if both[0] == both[1] else None
