"""Rational numbers as products of powers of primes."""

from __future__ import annotations

from fractions import Fraction

_LARGE = 10**12  # beyond this a number is its own factor: no search


def prime_powers(c: Fraction) -> list[tuple[int, int]]:
    """(p, k) with c = Π p^k for a positive c; a large number without small factors stays."""
    return sorted([*_split(c.numerator), *((p, -k) for p, k in _split(c.denominator))])


def _split(n: int) -> list[tuple[int, int]]:
    found = []
    p = 2
    while p * p <= n and p < _LARGE**0.5:
        k = 0
        while n % p == 0:
            n, k = n // p, k + 1
        if k:
            found.append((p, k))
        p += 1 if p == 2 else 2
    return [*found, (n, 1)] if n > 1 else found
