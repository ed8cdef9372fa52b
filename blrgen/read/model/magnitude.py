"""How large a number of a text is: programs compute in doubles, which end at 1e308."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, prod

from blrgen.read.model.values import Expr, Negation, Number, Power, Product, Sum

SMALLEST, LARGEST = 1e-300, 1e300


def beyond_doubles(e: Expr) -> bool:
    """Whether the expression is a number that is too large, or too near to 0."""
    size = _size(e)
    return size is not None and not (size == 0 or SMALLEST <= abs(size) <= LARGEST)


def _size(e: Expr) -> float | None:
    """Its value, ∞ or the smallest of doubles where it is beyond them; None if it is no number."""
    match e:
        case Number(value=value):
            return _double(value)
        case Negation(arg=arg):
            inner = _size(arg)
            return None if inner is None else -inner
        case Sum(terms=parts) | Product(factors=parts):
            sizes = [x for x in map(_size, parts) if x is not None]
            if len(sizes) < len(parts):
                return None
            return sum(sizes) if isinstance(e, Sum) else _kept(prod(sizes), all(sizes))
        case Power(base=base, exponent=exponent):
            x, y = _size(base), _size(exponent)
            if x is None or y is None or x <= 0 or not isfinite(y):
                return None if y is None or isfinite(y) else inf
            try:
                return _kept(x**y, True)
            except OverflowError:
                return inf
    return None


def _double(value: Fraction) -> float:
    try:
        return _kept(float(value), value != 0)
    except OverflowError:
        return inf


def _kept(x: float, some: bool) -> float:
    """Not 0 where only rounding makes it 0."""
    return x if x or not some else 5e-324
