"""Points inside the declared domains, and the sign of an expression over them."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Domain, Family, Parameter, Support

Expr = Any
_SHIFTS = ((1, 3), (5, 7), (9, 4))
_MANY = 40  # points at which a sign is looked at
_DIGITS = 30  # in which a sign is taken


def interior_points(family: Family, count: int = 3) -> list[dict[Expr, Expr]]:
    """Exact points inside the natural domains (and the constants')."""
    return parameter_points((*family.fixed, *family.natural), count)


def parameter_points(parameters: tuple[Parameter, ...], count: int) -> list[dict[Expr, Expr]]:
    """Exact points inside the domains; later bounds may use earlier parameters."""
    points = []
    for k in range(count):
        point: dict[Expr, Expr] = {}
        for i, p in enumerate(parameters):
            num, den = _SHIFTS[k % 3]
            step = sp.Rational(num + 2 * i + k // 3, den + i)
            point[p.symbol] = placed(p, step, point)
        points.append(point)
    return points


def placed(p: Parameter, step: Expr, point: dict[Expr, Expr]) -> Expr:
    """`inside`, on a whole number where the parameter is one."""
    if not p.domain.whole:
        return inside(p.domain, step, point)
    low = sp.S.Zero if p.domain.lower is None else sp.sympify(p.domain.lower).subs(point)
    high = sp.oo if p.domain.upper is None else sp.sympify(p.domain.upper).subs(point)
    low = -3 if low == -sp.oo else sp.ceiling(low)
    return min(low + sp.ceiling(step), sp.floor(high) if high.is_finite else sp.oo)


@lru_cache(maxsize=64)
def many_points(parameters: tuple[Parameter, ...]) -> tuple[dict[Expr, Expr], ...]:
    """Points all over the domains, some of them near the ends and far out."""
    random = Random(0)
    points = list(parameter_points(parameters, 6))
    while len(points) < _MANY:
        point: dict[Expr, Expr] = {}
        for p in parameters:
            scale = random.choice((1, 1, 1, 1, 16, sp.Rational(1, 64)))
            point[p.symbol] = placed(p, scale * sp.Rational(random.randint(1, 400), 97), point)
        points.append(point)
    return tuple(points)


def inside(domain: Domain, step: Expr, point: dict[Expr, Expr]) -> Expr:
    """A point of the domain, `step` > 0 from its end; bounds may use the point so far."""
    low, high = (
        -sp.oo if domain.lower is None else sp.sympify(domain.lower).subs(point),
        sp.oo if domain.upper is None else sp.sympify(domain.upper).subs(point),
    )
    if low == -sp.oo and high == sp.oo:
        return step - 1
    if high == sp.oo:
        return low + step
    if low == -sp.oo:
        return high - step
    return low + (high - low) * step / (1 + step)


def contains(domain: Domain, value: Expr, point: dict[Expr, Expr]) -> bool:
    """Whether a number lies in an interval (or anywhere on the real line)."""
    if not (value.is_number and value.is_real):
        return False
    low = -sp.oo if domain.lower is None else sp.sympify(domain.lower).subs(point)
    high = sp.oo if domain.upper is None else sp.sympify(domain.upper).subs(point)
    return bool(low <= value) and bool(value <= high)


def sign_of(
    x: Expr, family: Family, variable: Expr = None, ends: tuple[Expr, Expr] | None = None
) -> int | None:
    """+1, −1 or 0 all over the declared domains, as far as points can tell; None when mixed.

    `variable` runs between `ends`, when it occurs in x.
    """
    x = sp.sympify(x)
    if x in (sp.oo, -sp.oo):
        return 1 if x == sp.oo else -1
    for sign, known in ((1, x.is_positive), (-1, x.is_negative), (0, x.is_zero)):
        if known:
            return sign
    parameters = (*family.fixed, *family.natural)
    if not x.free_symbols <= {variable, *(p.symbol for p in parameters)}:
        return None
    if not x.has(variable):
        return _one_sign(x, parameters, None)
    return _one_sign(x.xreplace({variable: _PLACE}), parameters, ends or (-sp.oo, sp.oo))


_PLACE = sp.Dummy("x")  # stands for the variable, whatever its name: the grids are kept


@lru_cache(maxsize=256)
def _grid(
    parameters: tuple[Parameter, ...], ends: tuple[Expr, Expr] | None
) -> tuple[dict[Expr, Any], ...]:
    """Points of the domains as numbers, each with a few places between the ends."""
    with mpmath.workdps(_DIGITS):
        return tuple(
            numbers(point | place)
            for point in many_points(parameters)
            for place in (({},) if ends is None else _places(_PLACE, ends, point))
        )


@lru_cache(maxsize=4096)
def _one_sign(
    x: Expr, parameters: tuple[Parameter, ...], ends: tuple[Expr, Expr] | None
) -> int | None:
    """The sign that x has at all points of the grid."""
    signs = set()
    for point in _grid(parameters, ends):
        signs.add(_sign_of_numbers(x, point))
        if len(signs) > 1 or None in signs:
            return None
    return signs.pop()


def _places(
    variable: Expr, ends: tuple[Expr, Expr] | None, point: dict[Expr, Expr]
) -> list[dict[Expr, Expr]]:
    low, high = ends or (-sp.oo, sp.oo)
    between = Domain("interval", sp.sympify(low).subs(point), sp.sympify(high).subs(point))
    steps = (sp.Rational(1, 50), sp.Rational(3, 7), sp.Rational(9, 5), sp.Integer(30))
    return [{variable: inside(between, step, {})} for step in steps]


def numbers(point: dict[Expr, Expr], digits: int = _DIGITS) -> dict[Expr, Any]:
    """A point in mpmath's numbers; what is no fraction to so many digits."""
    return {
        k: mpmath.mpf(int(v.p)) / int(v.q) if v.is_Rational else mpmath.mpf(sp.N(v, digits)._mpf_)
        for k, v in point.items()
    }


def _sign_at(x: Expr, point: dict[Expr, Expr]) -> int | None:
    with mpmath.workdps(_DIGITS):
        return _sign_of_numbers(x, numbers(point))


def _sign_of_numbers(x: Expr, point: dict[Expr, Any]) -> int | None:
    from blrgen.value.evaluate import Undefined, evaluate

    with mpmath.workdps(_DIGITS):
        try:
            value = evaluate(x, point)
        except Undefined:
            return None
        return None if isinstance(value, mpmath.mpc) else int(mpmath.sign(value))


def first_negative(h: Expr, family: Family) -> dict[Expr, Expr] | None:
    """A point of the support (and constants) at which h is negative, if one of a few is."""
    x, support = family.variable, family.support
    if h == 1 or not h.has(x) or support.kind not in ("finite", "integers", "interval", "vector"):
        return None
    for point in parameter_points(family.fixed, 3):
        for place in _support_points(support, point):
            if _sign_at(h, {**point, x: place}) == -1:
                return {x: place, **point}
    return None


def zero_on_support(h: Expr, family: Family) -> bool:
    """Whether h vanishes at every one of a few points of the support."""
    x, support = family.variable, family.support
    if not h.has(x) or support.kind not in ("finite", "integers", "interval", "vector"):
        return bool(h == 0)
    (point,) = parameter_points(family.fixed, 1)
    return all(_vanishes(h, {**point, x: place}) for place in _support_points(support, point))


def _vanishes(h: Expr, point: dict[Expr, Expr]) -> bool:
    """Zero, or what rounding leaves of it: less and less the more digits there are."""
    from blrgen.value.evaluate import Undefined, evaluate

    found = []
    for digits in (_DIGITS, 2 * _DIGITS):
        with mpmath.workdps(digits):
            try:
                found.append(abs(evaluate(h, numbers(point, digits))))
            except Undefined:
                return False
    return bool(found[1] <= mpmath.mpf(10) ** (-_DIGITS // 2) * found[0])


def _support_points(support: Support, point: dict[Expr, Expr]) -> list[Expr]:
    if support.kind == "finite":
        return list(support.points)
    low, high = (sp.sympify(e).subs(point) for e in (support.lower, support.upper))
    if support.kind == "integers":
        start = sp.Integer(-3) if low == -sp.oo else low
        return [start + k for k in range(8) if start + k <= high]
    return [next(iter(p.values())) for p in _places(sp.Dummy("x"), (low, high), {})]
