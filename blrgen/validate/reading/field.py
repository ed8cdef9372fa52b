"""The field with p² elements, p = 2¹²⁷ − 1, i² = −1: every element of GF(p) has a root in it."""

from __future__ import annotations

from random import Random
from typing import Any

from blrgen.decide.modular import Unlucky

P = 2**127 - 1  # prime, and 3 modulo 4: −1 is no square, and a root is one power


class Pair:
    """a + b i."""

    __slots__ = ("a", "b")

    def __init__(self, a: int, b: int = 0) -> None:
        self.a, self.b = a % P, b % P

    @staticmethod
    def of(x: Any) -> Pair:
        """A whole number or a fraction as an element."""
        if isinstance(x, Pair):
            return x
        if isinstance(x, int):
            return Pair(x)
        return Pair(x.numerator) / Pair(x.denominator)

    def __add__(self, other: Any) -> Pair:
        o = Pair.of(other)
        return Pair(self.a + o.a, self.b + o.b)

    __radd__ = __add__

    def __neg__(self) -> Pair:
        return Pair(-self.a, -self.b)

    def __sub__(self, other: Any) -> Pair:
        o = Pair.of(other)
        return Pair(self.a - o.a, self.b - o.b)

    def __rsub__(self, other: Any) -> Pair:
        return Pair.of(other) - self

    def __mul__(self, other: Any) -> Pair:
        o = Pair.of(other)
        return Pair(self.a * o.a - self.b * o.b, self.a * o.b + self.b * o.a)

    __rmul__ = __mul__

    def inverse(self) -> Pair:
        """1/x; no luck where x is zero."""
        norm = (self.a * self.a + self.b * self.b) % P
        if norm == 0:
            raise Unlucky
        k = pow(norm, -1, P)
        return Pair(self.a * k, -self.b * k)

    def __truediv__(self, other: Any) -> Pair:
        return self * Pair.of(other).inverse()

    def __rtruediv__(self, other: Any) -> Pair:
        return Pair.of(other) * self.inverse()

    def __pow__(self, n: int) -> Pair:
        base, out = (self if n >= 0 else self.inverse()), Pair(1)
        n = abs(n)
        while n:
            out = out * base if n & 1 else out
            base = base * base
            n >>= 1
        return out

    def root(self) -> Pair:
        """A square root of an element of GF(p), either of the two."""
        if self.b:
            raise Unlucky
        if self.a == 0:
            return Pair(0)
        r = pow(self.a, (P + 1) // 4, P)
        if r * r % P == self.a:
            return Pair(r)
        return Pair(0, pow(-self.a, (P + 1) // 4, P))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Pair, int)):
            return NotImplemented
        o = Pair.of(other)
        return self.a == o.a and self.b == o.b

    def __hash__(self) -> int:
        return hash((self.a, self.b))

    def __abs__(self) -> int:
        """Whether it is a pivot: any element but zero is as good as another."""
        return int(bool(self.a or self.b))

    def __repr__(self) -> str:
        return f"{self.a} + {self.b}i" if self.b else str(self.a)


def drawn(random: Random) -> Pair:
    """A random element of GF(p), not zero."""
    return Pair(random.randrange(2, P))
