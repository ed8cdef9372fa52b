"""Domains as intervals: reading their text, sampling inside them, deciding signs.

A sign is decided by Pólya-like substitution: x in (a, ∞) is a + y, x in (a, b) is
(a + b y)/(1 + y), each with y > 0.  A polynomial all of whose coefficients are then
positive, with even powers of the unrestricted variables, is non-negative.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod
from random import Random
from typing import Any

Expr = Any
Monomial = tuple[int, ...]
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:/\d+)?"
_INTERVAL = re.compile(r"^\s*([\[(])\s*(.+?)\s*,\s*(.+?)\s*([\])])\s*$")
_LIMIT = 4000  # terms of a polynomial whose sign is still looked at


@dataclass(frozen=True)
class Range:
    """An interval of the reals; None is an infinite end; `points` when it is finite."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    integer: bool = False
    points: tuple[Fraction, ...] = ()
    closed: tuple[bool, bool] = (False, False)  # whether the ends belong to it

    def sample(self, random: Random) -> Fraction:
        """A generic point strictly inside, of moderate size and small denominator."""
        if self.points:
            return random.choice(self.points)
        if self.integer:
            low = int(self.lower) if self.lower is not None else -6
            high = int(self.upper) if self.upper is not None else low + 6
            return Fraction(random.randint(low, max(low, high)))
        if self.lower is not None and self.upper is not None:
            return self.lower + (self.upper - self.lower) * Fraction(random.randint(5, 92), 97)
        size = Fraction(random.randint(11, 400), 101) * random.choice((1, 1, 1, Fraction(1, 16)))
        if self.lower is not None:
            return self.lower + size
        if self.upper is not None:
            return self.upper - size
        return size * random.choice((-1, 1))


REAL = Range()
POSITIVE = Range(lower=Fraction(0))
UNIT = Range(Fraction(0), Fraction(1), closed=(True, True))


def read(text: str) -> Range:
    """The interval a domain's text names; what is not an interval is the whole line."""
    text = text.strip()
    if text.startswith("{"):
        points = re.findall(_NUMBER, text)
        if points:
            values = tuple(Fraction(p) for p in points)
            return Range(min(values), max(values), points=values, closed=(True, True))
    integers = re.match(r"^integers\s*>=\s*(-?\d+)$", text)
    if integers:
        return Range(lower=Fraction(int(integers[1])), integer=True, closed=(True, False))
    match = _INTERVAL.match(text)
    if not match:
        return REAL
    closed = (match[1] == "[", match[4] == "]")
    return Range(_bound(match[2]), _bound(match[3]), closed=closed)


def _bound(text: str) -> Fraction | None:
    return Fraction(text) if re.fullmatch(_NUMBER, text) else None


def range_of(symbol: Expr, domains: Mapping[Any, str]) -> Range:
    """The range of a symbol: its declared domain met with its SymPy assumptions."""
    text = domains.get(symbol, domains.get(getattr(symbol, "name", ""), ""))
    found = read(text) if text else REAL
    lower, (low, high) = found.lower, found.closed
    if symbol.is_nonnegative and (lower is None or lower < 0):
        lower, low = Fraction(0), not symbol.is_positive
    integer = found.integer or bool(symbol.is_integer)
    if integer:
        if lower == 0 and symbol.is_positive:
            lower = Fraction(1)
        low, high = lower is not None, found.upper is not None
    return Range(lower, found.upper, integer, found.points, (low, high))


def names_in_bounds(symbol: Expr, domains: Mapping[Any, str]) -> set[str]:
    """The names in the text of a domain, as in (-oo, -eta1)."""
    text = domains.get(symbol, domains.get(getattr(symbol, "name", ""), ""))
    words = set(re.findall(r"[A-Za-z_]\w*", text)) if _INTERVAL.match(text) else set()
    return words - {"oo"}


def range_at(symbol: Expr, domains: Mapping[Any, str], point: Mapping[Expr, Fraction]) -> Range:
    """The range where bounds use other symbols, at their values; as without where that fails."""
    from blrgen.errors import UserError
    from blrgen.read.domain import read_domain

    plain = range_of(symbol, domains)
    text = domains.get(symbol, domains.get(getattr(symbol, "name", ""), ""))
    try:
        found = read_domain(text, {s.name: s for s in point if s is not symbol})
    except UserError:
        return plain
    ends = [_value(e, point) for e in (found.lower, found.upper)]
    if None not in ends and ends[0] >= ends[1]:  # type: ignore[operator]
        return plain
    return Range(ends[0], ends[1], plain.integer, closed=plain.closed)


def _value(bound: Expr, point: Mapping[Expr, Fraction]) -> Fraction | None:
    """A bound as a nearby fraction; None where it is infinite or not real."""
    import sympy as sp

    if bound.is_infinite:
        return None
    value = sp.N(bound.subs({s: sp.Rational(x.numerator, x.denominator) for s, x in point.items()}))
    return Fraction(float(value)).limit_denominator(10**6) if value.is_real else None


def nonnegative(terms: Mapping[Monomial, Any], ranges: Sequence[Range]) -> bool:
    """Whether Σ c xᵐ is provably ≥ 0 (and not identically 0) on the product of the ranges."""
    moved = _substitute(terms, ranges)
    if not moved:
        return False
    free = [k for k, r in enumerate(ranges) if r.lower is None and r.upper is None]
    return all(c > 0 and all(m[k] % 2 == 0 for k in free) for m, c in moved.items())


def positive(terms: Mapping[Monomial, Any], ranges: Sequence[Range]) -> bool:
    """As `nonnegative`, and > 0 in the interior: one term has no unrestricted variable."""
    return nonnegative(terms, ranges) and _reaches(terms, ranges, ends=False)


def everywhere_positive(terms: Mapping[Monomial, Any], ranges: Sequence[Range]) -> bool:
    """As `positive`, and > 0 where variables are at ends that belong to their ranges."""
    return nonnegative(terms, ranges) and _reaches(terms, ranges, ends=True)


def _reaches(terms: Mapping[Monomial, Any], ranges: Sequence[Range], *, ends: bool) -> bool:
    """Whether in every corner some term stays > 0: y = 0 at a lower end, y = ∞ at an upper."""
    moved = _substitute(terms, ranges)
    used = sorted({k for m in terms for k, e in enumerate(m) if e})
    top = {k: max(m[k] for m in terms) for k in used}  # what (1 + y) was multiplied with
    choices = [_ends(ranges[k], top[k], ends) for k in used]
    if prod(map(len, choices)) > 256:
        return False
    return all(
        any(all(w is None or m[k] == w for k, w in zip(used, corner, strict=True)) for m in moved)
        for corner in product(*choices)
    )


def _ends(values: Range, top: int, ends: bool) -> list[int | None]:
    """The exponents that stay > 0 where a variable may be; None is any."""
    if values.lower is None and values.upper is None:
        return [0]
    if not ends:
        return [None]
    low, high = values.closed
    if values.lower is None:  # then y runs from the upper end
        low, high = high, False
    found: list[int | None] = [0] if low else []
    if high and values.upper is not None and values.lower is not None:
        found.append(top)
    return found or [None]


def _substitute(terms: Mapping[Monomial, Any], ranges: Sequence[Range]) -> dict[Monomial, Fraction]:
    """The polynomial in the y > 0, or {} when it grows too large."""
    out = {m: Fraction(int(c.numerator), int(c.denominator)) for m, c in terms.items()}
    used = sorted({k for m in terms for k, e in enumerate(m) if e})
    for k in used:
        low, high = ranges[k].lower, ranges[k].upper
        if (low is None and high is None) or (low == 0 and high is None):
            continue
        degree = max(m[k] for m in out)
        if degree > 40:
            return {}
        new: dict[Monomial, Fraction] = {}
        for m, c in out.items():
            for power, factor in _power(m[k], degree, low, high):
                key = (*m[:k], power, *m[k + 1 :])
                new[key] = new.get(key, Fraction(0)) + c * factor
        out = {m: c for m, c in new.items() if c}
        if len(out) > _LIMIT:
            return {}
    return out


def _power(
    e: int, degree: int, low: Fraction | None, high: Fraction | None
) -> list[tuple[int, Fraction]]:
    """xᵉ, times (1+y)^degree when x is between two bounds, as a polynomial in y."""
    if high is None:
        assert low is not None
        return [(j, comb(e, j) * low ** (e - j)) for j in range(e + 1)]
    if low is None:
        return [(j, comb(e, j) * high ** (e - j) * (-1) ** j) for j in range(e + 1)]
    first = [comb(e, j) * low ** (e - j) * high**j for j in range(e + 1)]
    rest = degree - e
    out = [Fraction(0)] * (degree + 1)
    for i, a in enumerate(first):
        for j in range(rest + 1):
            out[i + j] += a * comb(rest, j)
    return [(j, c) for j, c in enumerate(out) if c]
