"""Numbers modulo a prime, and small dense matrices over any numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from blrgen.decide.modular import P, Unlucky, inverse

Number = Any
Rows = tuple[tuple[Number, ...], ...]


class Mod:
    """An element of the field with P elements; mixes with ints and fractions."""

    __slots__ = ("v",)

    def __init__(self, v: int) -> None:
        self.v = v % P

    @staticmethod
    def lift(x: Any) -> Mod:
        if isinstance(x, Mod):
            return x
        if isinstance(x, int):
            return Mod(x)
        if isinstance(x, Fraction):
            return Mod(x.numerator * inverse(x.denominator))
        return NotImplemented  # type: ignore[no-any-return]

    def _with(self, other: Any, f: Callable[[int, int], int]) -> Mod:
        other = Mod.lift(other)
        return other if other is NotImplemented else Mod(f(self.v, other.v))

    def __add__(self, other: Any) -> Mod:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Mod:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Mod:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Mod:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Mod:
        return self._with(other, lambda a, b: a * inverse(b))

    def __rtruediv__(self, other: Any) -> Mod:
        return self._with(other, lambda a, b: b * inverse(a))

    def __pow__(self, n: Any) -> Mod:
        if not isinstance(n, int):
            return NotImplemented
        return Mod(pow(self.v if n >= 0 else inverse(self.v), abs(n), P))

    def __neg__(self) -> Mod:
        return Mod(-self.v)

    def __eq__(self, other: object) -> bool:
        other = Mod.lift(other)
        return isinstance(other, Mod) and self.v == other.v

    def __hash__(self) -> int:
        return hash(self.v)

    def __repr__(self) -> str:
        return str(self.v)

    def conjugate(self) -> Mod:
        return self


def identity(n: int, scale: Number = 1) -> Rows:
    """A multiple of the identity matrix."""
    return tuple(tuple(scale if i == j else scale * 0 for j in range(n)) for i in range(n))


def add(a: Rows, b: Rows) -> Rows:
    """The sum of two matrices."""
    return tuple(tuple(x + y for x, y in zip(r, s, strict=True)) for r, s in zip(a, b, strict=True))


def scale(c: Number, a: Rows) -> Rows:
    """A number times a matrix."""
    return tuple(tuple(c * x for x in r) for r in a)


def transpose(a: Rows) -> Rows:
    """The transpose."""
    return tuple(zip(*a, strict=True))


def multiply(a: Rows, b: Rows) -> Rows:
    """The product of two matrices."""
    columns = transpose(b)
    return tuple(
        tuple(sum((x * y for x, y in zip(r, c, strict=True)), start=0 * r[0]) for c in columns)
        for r in a
    )


def invert(a: Rows) -> tuple[Rows, Number]:
    """The inverse and the determinant, by elimination with the largest pivot there is."""
    n = len(a)
    rows = [list(r) + list(e) for r, e in zip(a, identity(n), strict=True)]
    determinant: Number = 1
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: _size(rows[i][k]))
        if rows[pivot][k] == 0:
            raise Unlucky
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            determinant = -determinant
        lead = rows[k][k]
        determinant = determinant * lead
        rows[k] = [x / lead for x in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return tuple(tuple(r[n:]) for r in rows), determinant


def _size(x: Number) -> Any:
    return int(x.v != 0) if isinstance(x, Mod) else abs(x)
