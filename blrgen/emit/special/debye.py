"""Ratios of Bessel functions of large order: Debye's expansions, derived exactly.

With x = n z, s = √(1 + z²), p = 1/s,

    I_{n+1}(x)/I_n(x) = z (1/(1+s) + p Σ e_k(p) n⁻ᵏ)
    its derivative in x = (p/n) (1/(1+s) + Σ f_k(p) n⁻ᵏ),   f = p² e − p(1−p²) e′

uniformly in x.  e_k comes from Debye's U_k and V_k: the derivative of log I_n is
(s/z) ΣV_k n⁻ᵏ / ΣU_k n⁻ᵏ, whose quotient of series has the factor 1 − p² = z²p².
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

Polynomial = list[Fraction]  # coefficients of p, from the lowest power up


def add(a: Polynomial, b: Polynomial) -> Polynomial:
    """A + b."""
    size = max(len(a), len(b))
    filled = [x + [Fraction(0)] * (size - len(x)) for x in (a, b)]
    return [x + y for x, y in zip(*filled, strict=True)]


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """A · b."""
    out = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return out


def derivative(a: Polynomial) -> Polynomial:
    """The derivative in p."""
    return [k * a[k] for k in range(1, len(a))] or [Fraction(0)]


def integral(a: Polynomial) -> Polynomial:
    """The integral from 0 to p."""
    return [Fraction(0)] + [x / (k + 1) for k, x in enumerate(a)]


def _of(*coefficients: int | Fraction) -> Polynomial:
    return [Fraction(c) for c in coefficients]


@cache
def mass_polynomials(count: int) -> tuple[tuple[Fraction, ...], ...]:
    """U_1, …, U_count: I_n(n z) = e^{nη}/√(2πn√(1 + z²)) · (1 + Σ U_k(p) n⁻ᵏ)."""
    half, u = Fraction(1, 2), [_of(1)]
    for _ in range(count):
        first = multiply(_of(0, 0, half, 0, -half), derivative(u[-1]))
        second = integral(multiply(_of(1, 0, -5), u[-1]))
        u.append(add(first, [x / 8 for x in second]))
    return tuple(tuple(x) for x in u[1:])


@cache
def ratio_polynomials(count: int) -> tuple[tuple[Fraction, ...], ...]:
    """e_1, …, e_count."""
    half = Fraction(1, 2)
    u, v = [_of(1)], [_of(1)]
    for _ in range(count):
        slope = derivative(u[-1])
        first = multiply(_of(0, 0, half, 0, -half), slope)
        second = integral(multiply(_of(1, 0, -5), u[-1]))
        following = add(first, [x / 8 for x in second])
        less = multiply(_of(0, -half, 0, half), u[-1])
        v.append(add(add(following, less), multiply(_of(0, 0, -1, 0, 1), slope)))
        u.append(following)
    quotient: list[Polynomial] = []
    for k in range(count + 1):
        term = v[k]
        for j in range(k):
            term = add(term, [-x for x in multiply(quotient[j], u[k - j])])
        quotient.append(term)
    return tuple(tuple(_without_factor(q)) for q in quotient[1:])


def _without_factor(d: Polynomial) -> Polynomial:
    """The polynomial divided by 1 − p², which must divide it."""
    out: Polynomial = []
    for k, c in enumerate(d):
        out.append(c + (out[k - 2] if k >= 2 else 0))
    if any(out[len(d) - 2 :]):
        raise ArithmeticError("1 − p² does not divide the polynomial")
    return out[: len(d) - 2]


def slope_polynomials(count: int) -> tuple[tuple[Fraction, ...], ...]:
    """f_1, …, f_count."""
    found = []
    for e in ratio_polynomials(count):
        down = multiply(_of(0, -1, 0, 1), derivative(list(e)))
        found.append(tuple(add(multiply(_of(0, 0, 1), list(e)), down)))
    return tuple(found)


def table(
    polynomials: tuple[tuple[Fraction, ...], ...], length: int = 0
) -> tuple[list[Fraction], int]:
    """The numbers g with poly_k(p) = pᵏ Σ g_kj p²ʲ, k and j from the highest down; the row length.

    Rows are filled with zeros at the front, to one length.
    """
    rows = []
    for k, poly in enumerate(polynomials, start=1):
        row = list(poly[k::2])
        if any(poly[:k]) or any(poly[k + 1 :: 2]):
            raise ArithmeticError("a polynomial that is not pᵏ times one in p²")
        while row and row[-1] == 0:
            row.pop()
        rows.append(row)
    length = max(length, *map(len, rows))
    filled = [[Fraction(0)] * (length - len(row)) + row[::-1] for row in reversed(rows)]
    return [x for row in filled for x in row], length
