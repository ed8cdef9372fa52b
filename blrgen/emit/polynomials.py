"""Polynomials of random numbers, which `blrgen.runtime` holds as constants.

Each is the Chebyshev interpolant of its function on the interval it is used on, computed to
fifty digits and rounded once; its degree is the least whose error is below one rounding of 1.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
from mpmath import mp

DIGITS = 50
ROUNDING = {"float32": 2.0**-24, "float64": 2.0**-53}


def _fitted(f: Callable[[Any], Any], low: Any, high: Any, real: str) -> tuple[float, ...]:
    """The shortest interpolant within one rounding, its coefficients from the lowest up."""
    for count in range(2, 30):
        found, error = mpmath.chebyfit(f, [low, high], count, error=True)
        if error < ROUNDING[real]:
            return tuple(float(c) for c in reversed(found))
    raise ArithmeticError("no short polynomial is near enough")


@cache
def atanh_over_x(real: str, end: Fraction) -> tuple[float, ...]:
    """artanh(s)/s for |s| ≤ end, in powers of s².

    1/5 is the end of s = x/(2 + x) where x is in [−1/3, 1/3], and 1/3 that of
    s = (x − y)/(2 + x + y) where both are.
    """
    with mp.workdps(DIGITS):
        return _fitted(
            _by_root(mpmath.atanh), 0, mpmath.mpf(end.numerator) ** 2 / end.denominator**2, real
        )


@cache
def sine_over_x(real: str) -> tuple[float, ...]:
    """sin(πt/4)/t for |t| ≤ 1, in powers of t²."""
    with mp.workdps(DIGITS):
        quarter = mpmath.pi / 4
        return _fitted(_by_root(lambda t: mpmath.sin(quarter * t), quarter), 0, 1, real)


@cache
def cosine(real: str) -> tuple[float, ...]:
    """cos(πt/4) for |t| ≤ 1, in powers of t²."""
    with mp.workdps(DIGITS):
        return _fitted(lambda q: mpmath.cos(mpmath.pi / 4 * mpmath.sqrt(q)), 0, 1, real)


def _by_root(f: Callable[[Any], Any], at_zero: Any = 1) -> Callable[[Any], Any]:
    """f(√q)/√q as a function of q, with its limit at 0."""
    return lambda q: f(mpmath.sqrt(q)) / mpmath.sqrt(q) if q else mpmath.mpf(at_zero)


def log_2() -> float:
    """The natural logarithm of 2, rounded once."""
    with mp.workdps(DIGITS):
        return float(mpmath.log(2))


def literal(value: float, real: str) -> str:
    """The shortest decimal that rounds to the same number of the type."""
    if real == "float64":
        return repr(value)
    rounded = to_single(value)
    return next(
        t for t in (f"{rounded:.{k}g}" for k in range(1, 10)) if to_single(float(t)) == rounded
    )


def to_single(value: float) -> float:
    """The float32 next to a number."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def inside(low: Fraction, high: Fraction, real: str) -> tuple[str, str]:
    """The outermost numbers of the type strictly between two ends."""
    return _neighbour(low, high, real), _neighbour(high, low, real)


def _neighbour(end: Fraction, other: Fraction, real: str) -> str:
    """The number of the type next to `end` on the side of `other`."""
    import numpy as np

    kind = np.dtype(real).type
    at = kind(float(end))
    if (Fraction(float(at)) - end) * (1 if other > end else -1) <= 0:
        at = np.nextafter(at, kind(float(other)))
    return literal(float(at), real)
