"""Numbers that the special functions of the runtime hold (`numbers` writes them there).

Asymptotic series are cut where the first term left out is below 2⁻⁵⁸ of the result at
the smallest argument they are used for.  Every number is computed to fifty digits and
rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import Any

import mpmath
from mpmath import mp

DIGITS = 50
ENOUGH = Fraction(1, 2**58)


@cache
def bernoulli(n: int) -> Fraction:
    """The Bernoulli number Bₙ, exactly."""
    p, q = mpmath.bernfrac(n)
    return Fraction(int(p), int(q))


def cut(term: Callable[[int], Fraction], at: int) -> list[Fraction]:
    """term(1), term(2), … of a series Σ term(k)/at^2k, as many as count beside 1."""
    found = [term(1)]
    while abs(found[-1]) * Fraction(1, at ** (2 * len(found))) > ENOUGH:
        found.append(term(len(found) + 1))
    return found


def digamma_terms(at: int) -> list[Fraction]:
    """bₖ of ψ(y) = log y − 1/(2y) − Σ bₖ y⁻²ᵏ."""
    return cut(lambda k: bernoulli(2 * k) / (2 * k), at)


def polygamma_terms(order: int, at: int) -> list[Fraction]:
    """cₖ of ψ⁽ⁿ⁾(y)/(±n!) = y⁻ⁿ(1/n + 1/(2y) + Σ cₖ y⁻²ᵏ)."""

    def term(k: int) -> Fraction:
        top = Fraction(factorial(2 * k + order - 1), factorial(2 * k) * factorial(order))
        return bernoulli(2 * k) * top

    return cut(term, at)


def stirling_terms(at: int) -> list[Fraction]:
    """cₖ of log Γ(y) = (y − ½)log y − y + ½log 2π + Σ cₖ y^(1−2k)."""
    return cut(lambda k: bernoulli(2 * k) / (2 * k * (2 * k - 1)), at)


def midpoint_terms(at: int) -> list[Fraction]:
    """qₖ of ψ(z + ½) = log z + Σ qₖ z⁻²ᵏ, from Bₙ(½) = (2^(1−n) − 1)Bₙ."""
    return cut(lambda k: (1 - Fraction(2, 4**k)) * bernoulli(2 * k) / (2 * k), at)


@cache
def digamma_root() -> tuple[float, float, float]:
    """The root of ψ in three parts, the first two of 24 bits: exact in float32 too."""
    with mp.workdps(DIGITS):
        root = mpmath.findroot(mpmath.digamma, 1.4616)
        high = mpmath.ldexp(mpmath.nint(mpmath.ldexp(root, 23)), -23)
        middle = mpmath.ldexp(mpmath.nint(mpmath.ldexp(root - high, 48)), -48)
        return float(high), float(middle), float(root - high - middle)


def divided_difference(terms: list[Fraction], at: Any) -> list[Any]:
    """The polynomial (P(u) − P(v))/(u − v) in u, for P(u) = Σ termsₖ uᵏ, k ≥ 1, at a number v."""
    found: list[Any] = []
    carried: Any = mpmath.mpf(0)
    for c in reversed(terms):  # synthetic division, from the highest power down
        carried = carried * at + mpmath.mpf(c.numerator) / c.denominator
        found.append(carried)
    return found[::-1]


@cache
def digamma_series(shift: int) -> tuple[float, ...]:
    """The series of ψ at x + shift less that at the root + shift, divided by the difference."""
    with mp.workdps(DIGITS):
        root = mpmath.findroot(mpmath.digamma, 1.4616)
        found = divided_difference(digamma_terms(shift), 1 / (root + shift) ** 2)
        return tuple(float(x) for x in found)


@cache
def loggamma_fit(low: int, count: int) -> tuple[float, ...]:
    """log Γ(x)/((x − 1)(x − 2)) on [low, low + 1]: coefficients of x − (low + ½), highest first."""
    with mp.workdps(DIGITS):
        centre = mpmath.mpf(low) + mpmath.mpf(1) / 2

        def ratio(t: Any) -> Any:
            x = centre + t
            if x in (1, 2):  # l'Hôpital: ψ(1) = −γ, ψ(2) = 1 − γ
                return +mpmath.euler if x == 1 else 1 - mpmath.euler
            return mpmath.loggamma(x) / ((x - 1) * (x - 2))

        half = mpmath.mpf(1) / 2
        return tuple(float(c) for c in mpmath.chebyfit(ratio, [-half, half], count))


def decimal(text: str) -> float:
    """A constant, such as "euler" or "log(2*pi)/2", rounded once."""
    with mp.workdps(DIGITS):
        return float(
            {
                "euler": lambda: +mpmath.euler,
                "half log 2 pi": lambda: mpmath.log(2 * mpmath.pi) / 2,
                "2 pi": lambda: 2 * mpmath.pi,
                "quarter log pi": lambda: mpmath.log(mpmath.pi) / 4,
                "half log 2 pi e": lambda: (mpmath.log(2 * mpmath.pi) - 1) / 2,
            }[text]()
        )


def cumulant_terms(order: int, reach: Fraction, poles: int) -> list[float]:
    """The n-th derivative of log((eˣ − 1)/x) in powers of (x/reach)², without its nearest poles.

    Its coefficients are B_m/(m (m − n)!) for even m ≥ n, m ≥ 2; with ζ(m) in
    |B_m| = 2 m! ζ(m)/(2π)^m as Σ k⁻ᵐ, the poles at ±2πi are the term k = 1.
    """
    found: list[float] = []
    with mp.workdps(DIGITS):
        m, scale = max(2, order + order % 2), mpmath.mpf(1)
        while True:
            c = bernoulli(m) / (m * factorial(m - order))
            rest = 1 - mpmath.fsum(mpmath.mpf(k) ** -m for k in range(1, poles + 1)) / mpmath.zeta(
                m
            )
            value = mpmath.mpf(c.numerator) / c.denominator * rest * scale
            found.append(float(value))
            if abs(value) < 2.0**-58 * max(map(abs, found)):
                return found
            m, scale = m + 2, scale * (mpmath.mpf(reach.numerator) / reach.denominator) ** 2


def pole_pair(order: int) -> tuple[float, list[int]]:
    """(c, P) with (n−1)! (−1)ⁿ⁻¹ 2 Re (x + 2πi)⁻ⁿ = c y^(n mod 2) P(y²)/(1 + y²)ⁿ, y = x/2π.

    P is from the highest power down.
    """
    with mp.workdps(DIGITS):
        sign = -1 if order % 2 == 0 else 1
        c = float(sign * 2 * factorial(order - 1) / (2 * mpmath.pi) ** order)
    return c, [comb(order, j) * (-1) ** (j // 2) for j in range(0, order + 1, 2)]


def bose_polynomial(order: int) -> list[int]:
    """P with dⁿ⁻¹s/dyⁿ⁻¹ = P(s) for s = 1/(eʸ − 1), from s′ = −s(1 + s): lowest power first."""
    p = [0, 1]
    for _ in range(order - 1):
        slope = [k * c for k, c in enumerate(p)][1:]
        p = [0, *slope, 0]
        p = [-(a + b) for a, b in zip(p, [0, *p[:-1]], strict=True)]
    return p
