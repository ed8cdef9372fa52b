"""Whether what an integral needs to be positive is positive all over the declared domains.

The condition of a beta integral, a > 0, is lost at an end of a domain or nowhere.  So it is
looked at as near the ends as numbers can be (2⁻⁸ to 2⁻⁸⁰ of them, at every corner), at ends
that belong to the domain, far out, and at points all over; a polynomial in one parameter is
decided between all of its roots.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import mpmath
import sympy as sp

from blrgen.algebra.components import total
from blrgen.core import Domain, Family, Parameter
from blrgen.errors import UserError
from blrgen.geometry.points import contains, inside, many_points, numbers

Expr = Any
Point = dict[Expr, Expr]
_NEAR = (8, 40, 80)  # powers of ½
_FAR = (3, 12)  # powers of ten
_MOST = 400  # corners of many parameters
_DIGITS = 250  # two corners may cancel down to what is between them


def check_scalars(family: Family, conditions: tuple[Expr, ...]) -> None:
    """Refuse a declaration at a point of which the integral is infinite.

    A condition that is a matrix, or a sum over components, is looked at elsewhere, at sizes.
    """
    known = {p.symbol for p in (*family.fixed, *family.natural) if p.domain.kind == "interval"}
    for condition in map(sp.sympify, conditions):
        if not condition.is_commutative or not condition.free_symbols <= known:
            continue
        if condition.atoms(total):
            continue
        point = first_not_positive(condition, family)
        if point is not None:
            raise UserError(
                f"the density of {family.name!r} cannot be normalised",
                where=family.path,
                why=f"at {shown(point)}, inside the declared domain, its mass does not fall off: "
                f"{condition} must be positive",
                how="restrict the natural domain to where ∫ h exp⟨λ, T⟩ is finite",
            )


def first_not_positive(x: Expr, family: Family) -> Point | None:
    """A point of the declared domains at which a condition x > 0 fails, if one is found."""
    x = sp.sympify(x)
    if x.is_positive or x == sp.oo:
        return None
    parameters = (*family.fixed, *family.natural)
    for point in (*many_points(parameters), *near_roots(x, parameters), *corners(parameters)):
        if not_positive(x, point):
            return point
    return None


def not_positive(x: Expr, point: Point) -> bool:
    """Whether x is zero or negative at a point; what has no real value there is not told."""
    from blrgen.value.evaluate import Undefined, evaluate

    with mpmath.workdps(_DIGITS):
        try:
            value = evaluate(x, numbers(point, _DIGITS))
        except Undefined:
            return False
        if isinstance(value, mpmath.mpc):
            return False
        if abs(value) > mpmath.mpf(10) ** (-_DIGITS // 2):
            return bool(value < 0)
    return sp.sympify(x.xreplace(point)).is_positive is False  # exactly, at an end


def corners(
    parameters: tuple[Parameter, ...], near: tuple[int, ...] = _NEAR, far: tuple[int, ...] = _FAR
) -> Iterator[Point]:
    """Points at and near the ends of every domain, with the others near theirs or inside."""
    for k in near:
        yield from islice(_corners(parameters, {}, sp.Rational(1, 2**k), far), _MOST)


def _corners(
    parameters: tuple[Parameter, ...], point: Point, gap: Expr, far: tuple[int, ...]
) -> Iterator[Point]:
    if not parameters:
        yield point
        return
    first, *rest = parameters
    if first.domain.kind != "interval":
        yield from _corners(
            tuple(rest), point, gap, far
        )  # a matrix: its conditions are told at sizes
        return
    for place in _places(first.domain, point, gap, far):
        yield from _corners(tuple(rest), {**point, first.symbol: place}, gap, far)


def _places(domain: Domain, point: Point, gap: Expr, far: tuple[int, ...]) -> list[Expr]:
    """Near the lower end, near the upper one, far out where there is none, and inside."""
    low, high = (
        none if end is None else sp.sympify(end).subs(point)
        for none, end in ((-sp.oo, domain.lower), (sp.oo, domain.upper))
    )
    if domain.whole:
        start = sp.ceiling(low) if low.is_finite else sp.Integer(-3)
        return [n for n in (start, start + 1, start + 6) if n <= high]
    width = high - low
    found = [inside(domain, sp.S.One, point)]
    for end, sign, open_there in ((low, 1, domain.lower_open), (high, -1, domain.upper_open)):
        if end.is_finite:
            step = gap * (width if (high - low).is_finite else sp.Max(1, abs(end)))
            found.append(end + sign * step if open_there else end)
        else:
            other = high if sign == 1 else low
            start = other if other.is_finite else sp.S.Zero
            found += [start - sign * sp.Integer(10) ** k for k in far]
    return found


def near_roots(x: Expr, parameters: tuple[Parameter, ...]) -> Iterator[Point]:
    """Of a polynomial in one parameter: its roots inside the domain, and points between them."""
    own = [p for p in parameters if x.has(p.symbol)]
    if len(own) != 1 or x.free_symbols != {own[0].symbol} or own[0].domain.kind != "interval":
        return
    (p,) = own
    top = sp.numer(sp.together(x))
    if p.domain.whole or not top.is_polynomial(p.symbol) or sp.degree(top, p.symbol) < 2:
        return
    try:
        roots = sorted(set(sp.Poly(top, p.symbol).real_roots()))
    except NotImplementedError:
        return  # coefficients that are no rational numbers
    between = [(a + b) / 2 for a, b in pairwise(roots)]
    for place in (*roots, *between):
        if contains(p.domain, place, {}):
            yield {p.symbol: place}


def shown(point: Point) -> str:
    """A point as people write it: short fractions, else fifteen digits."""
    return ", ".join(f"{k} = {_short(sp.sympify(v))}" for k, v in point.items())


def _short(value: Expr) -> str:
    if value.is_Rational and value.q < 1000:
        return str(value)
    return str(mpmath.nstr(mpmath.mpf(sp.N(value, 20)._mpf_), 15))
