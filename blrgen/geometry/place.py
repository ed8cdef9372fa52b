"""A point that a user names: values by name, checked against the declared domains.

Natural parameters and known constants, or all working parameters in their place; numbers
are exact, vectors and matrices nested lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.core import Domain, Family, Parameter
from blrgen.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
_LONG = 20_000  # binary digits of one number


@dataclass(frozen=True)
class Place:
    """Exact numbers of the natural parameters and of the constants."""

    natural: dict[Expr, Expr]
    fixed: dict[Expr, Expr]

    @property
    def point(self) -> dict[Expr, Expr]:
        return {**self.fixed, **self.natural}


def place_of(geometry: Geometry, at: Mapping[str, Any], where: str = "--at") -> Place:
    """The point in natural parameters, wherever it was given; outside the domains it is refused."""
    family = geometry.family
    working = uses_working(family, at, where)
    given = family.working if working else family.natural
    _complete(family, given, at, where)
    fixed = checked(family.fixed, at, {}, where)
    found = checked(given, at, fixed, where)
    if not working:
        return Place({p.symbol: found[p.symbol] for p in given}, fixed)
    image: dict[Expr, Expr] = {}
    for p in family.natural:
        value = sp.sympify(geometry.natural_of_working[p.symbol]).subs({**fixed, **found})
        check_inside(p, value, {**fixed, **image}, where)
        image[p.symbol] = value
    return Place(image, fixed)


def uses_working(family: Family, at: Mapping[str, Any], where: str = "--at") -> bool:
    """Whether the names are the working parameters' (and not the natural ones')."""
    natural, working = ({p.name for p in group} for group in (family.natural, family.working))
    mixed = set(at) & natural and set(at) & (working - natural)
    if mixed:
        raise UserError(
            "natural and working parameters are mixed",
            where=where,
            how=f"give either {', '.join(sorted(natural))} or {', '.join(sorted(working))}",
        )
    return bool(set(at) & (working - natural))


def _complete(
    family: Family, given: tuple[Parameter, ...], at: Mapping[str, Any], where: str
) -> None:
    names = [p.name for p in (*family.fixed, *given)]
    missing = [n for n in names if n not in at]
    extra = sorted(set(at) - set(names))
    if missing or extra:
        said = [f"missing: {', '.join(missing)}"] if missing else []
        said += [f"not a parameter: {', '.join(extra)}"] if extra else []
        example = ",".join(f"{n}=…" for n in names)
        known = did_you_mean(extra[0], names) if extra and not missing else ""
        raise UserError("; ".join(said), where=where, how=f"give {example}", why=known)


def checked(
    parameters: tuple[Parameter, ...], at: Mapping[str, Any], known: dict[Expr, Expr], where: str
) -> dict[Expr, Expr]:
    """Exact values of parameters, each inside its domain, which may depend on earlier ones."""
    found: dict[Expr, Expr] = {}
    for p in parameters:
        value = exact_value(at[p.name], p.name, where)
        check_inside(p, value, {**known, **found}, where)
        found[p.symbol] = value
    return found


def exact_value(value: Any, name: str, where: str) -> Expr:
    """A number as a rational (a double as the fraction it is); a list as a matrix."""
    if isinstance(value, sp.Basic | sp.MatrixBase):
        return value
    if isinstance(value, str | bool) or value is None:
        raise UserError(f"{name} is no number: {value!r:.40}", where=where)
    is_array = hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0
    if is_array or isinstance(value, Sequence):
        rows = value.tolist() if is_array else list(value)
        table = [r if isinstance(r, Sequence) else [r] for r in rows]
        if not table or len({len(r) for r in table}) != 1 or not table[0]:
            raise UserError(f"the rows of {name} differ in length", where=where)
        return sp.Matrix([[exact_value(x, name, where) for x in r] for r in table])
    try:
        return sp.Rational(*_ratio(value))
    except (OverflowError, ValueError, TypeError, AttributeError):
        raise UserError(f"{name} is no finite number: {value!r:.40}", where=where) from None


def _ratio(value: Any) -> tuple[int, int]:
    mantissa, power = getattr(value, "man_exp", (0, 0))
    if mantissa and abs(power) < _LONG:  # all digits of mpmath's number
        sign = -1 if value < 0 else 1
        return sign * abs(int(mantissa)) * 2 ** max(power, 0), 2 ** max(-power, 0)
    if hasattr(value, "as_integer_ratio"):
        p, q = value.as_integer_ratio()
    else:
        p, q = float(value).as_integer_ratio()
    return int(p), int(q)


def check_inside(p: Parameter, value: Expr, known: dict[Expr, Expr], where: str) -> None:
    """Refuse a value outside the domain; an end belongs to it where the bracket says so."""
    if isinstance(value, sp.MatrixBase):
        return
    if not inside(p.domain, value, known) or (p.symbol.is_integer and value.is_integer is False):
        raise UserError(
            f"{p.name} = {_short(value)} is outside its domain",
            where=where,
            why=f"{p.name} is in {p.domain.text}",
        )


def inside(domain: Domain, value: Expr, known: dict[Expr, Expr]) -> bool:
    """Whether a number lies in the interval, with its ends where they are closed."""
    if value.is_extended_real is False or value.is_finite is False:
        return False
    for bound, sign, is_open in (
        (domain.lower, 1, domain.lower_open),
        (domain.upper, -1, domain.upper_open),
    ):
        if bound is None:
            continue
        gap = sign * (value - sp.sympify(bound).subs(known))
        if gap in (sp.oo, -sp.oo):
            if gap == -sp.oo:
                return False
            continue
        number = gap if gap.is_Rational else sp.N(gap, 60, maxn=400)
        if number.is_comparable is False:
            return False
        if number < 0 or (number == 0 and is_open):
            return False
    return True


def _short(value: Expr) -> str:
    return f"{float(value):g}" if value.is_comparable else str(value)
