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
    unit = a[0][0] * 0 + 1 if n else 1
    rows = [list(r) + list(e) for r, e in zip(a, identity(n, unit), strict=True)]
    determinant: Number = 1
    for k in range(n):
        determinant = determinant * _brought(rows, k)
        over = _over(rows[k][k])
        own = rows[k][k:] = [x * over for x in rows[k][k:]]
        for i in range(n):
            if i != k:
                _less(rows[i], rows[i][k], own, k)
    return tuple(tuple(r[n:]) for r in rows), determinant


def determinant(a: Rows) -> Number:
    """The determinant alone, which needs no inverse; as there, none of a singular matrix."""
    rows = [list(r) for r in a]
    found: Number = 1
    for k in range(len(rows)):
        found = found * _brought(rows, k)
        _eliminate(rows, k)
    return found


def pivots(a: Rows) -> list[Number]:
    """The pivots of elimination without exchanges: ratios of leading minors."""
    rows = [list(r) for r in a]
    for k in range(len(rows) - 1):
        _eliminate(rows, k)
    return [row[k] for k, row in enumerate(rows)]


def _brought(rows: list[list[Number]], k: int) -> Number:
    """The pivot of a column with its sign, once its row is the k-th."""
    pivot = max(range(k, len(rows)), key=lambda i: _size(rows[i][k]))
    lead = rows[pivot][k]
    if lead == 0:
        raise Unlucky
    rows[k], rows[pivot] = rows[pivot], rows[k]
    return lead if pivot == k else -lead


def _eliminate(rows: list[list[Number]], k: int) -> None:
    """Zeros below the k-th pivot."""
    if len(rows) > k + 1:
        over = _over(rows[k][k])
    for row in rows[k + 1 :]:
        _less(row, row[k] * over, rows[k][k:], k)


def _less(row: list[Number], factor: Number, other: list[Number], k: int) -> None:
    """A multiple of another row taken from a row, from its k-th column on."""
    if factor != 0:
        row[k:] = [x - factor * y for x, y in zip(row[k:], other, strict=True)]


def _over(x: Number) -> Number:
    """1/x, exact of whole numbers too."""
    return Fraction(1, x) if isinstance(x, int) else 1 / x


def _size(x: Number) -> Any:
    return int(x.v != 0) if isinstance(x, Mod) else abs(x)
