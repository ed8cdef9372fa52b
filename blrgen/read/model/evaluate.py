"""A model's expressions at one point: exact fractions as long as they last, else doubles.

A value is a number or a list (of lists) of numbers.  What has no value (the logarithm of a
negative number, a quotient by zero, the inverse of a singular matrix) raises `Undefined`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from blrgen.read.model.values import (
    Call,
    Expr,
    MatrixProduct,
    Negation,
    Number,
    Place,
    Power,
    Product,
    Ref,
    Shape,
    Size,
    SizeOf,
    Sum,
)

Scalar = Fraction | float
Value = Any  # Scalar | list[Value]
MAX_BITS = 4_000  # of an exact number; beyond it doubles go on
MAX_POWER = 64
MAX_ELEMENTS = 400  # of an array


class Undefined(Exception):
    """An expression has no value at this point."""

    def __init__(self, place: Place, what: str) -> None:
        self.place, self.what = place, what
        super().__init__(what)


class TooFar(Exception):
    """Beyond the range of doubles: nothing can be said here."""


class Evaluator:
    """Values of expressions, given sizes and the value of every reference."""

    def __init__(self, sizes: Mapping[str, int], ref: Callable[[Ref], Value]) -> None:
        self.sizes, self.ref = sizes, ref

    def size(self, size: Size) -> int:
        return (self.sizes.get(size.name, 2) if size.name else 0) + size.number

    def shape(self, shape: Shape) -> tuple[int, ...]:
        found = tuple(max(0, self.size(s)) for s in shape)
        if math.prod(found) > MAX_ELEMENTS:
            raise TooFar
        return found

    def value(self, e: Expr) -> Value:
        try:
            return self._value(e)
        except OverflowError:
            raise TooFar from None

    def _value(self, e: Expr) -> Value:
        match e:
            case Number(value=value):
                return value
            case SizeOf(size=size):
                return Fraction(self.size(size))
            case Ref():
                return self.ref(e)
            case Negation(arg=arg):
                return each(lambda x: -x, self._value(arg))
            case Sum(terms=terms):
                return fold(lambda a, b: exact(a + b), [self._value(t) for t in terms])
            case Product(factors=factors):
                return fold(lambda a, b: exact(a * b), [self._value(f) for f in factors])
            case MatrixProduct(left=left, right=right):
                return matmul(self._value(left), self._value(right))
            case Power(base=base, exponent=exponent):
                return both(lambda a, b: power(a, b, e.place), self._value(base),
                            self._value(exponent))  # fmt: skip
            case Call():
                return self.call(e)

    def call(self, e: Call) -> Value:
        if e.function in ("zeros", "ones", "eye"):
            return _filled(e.function, self.shape(e.shape))
        args = [self._value(a) for a in e.args]
        if e.function in _WHOLE:
            return _WHOLE[e.function](args, e.place)
        if e.function not in _SCALAR:
            raise TooFar
        if len(args) == 1:
            return each(lambda x: _scalar(e, x), args[0])
        return both(lambda x, y: _scalar(e, x, y), *args) if len(args) == 2 else _give_up()


def _give_up() -> Value:
    raise TooFar


def each(do: Callable[[Scalar], Scalar], x: Value) -> Value:
    """A function of every number in a value."""
    return [each(do, y) for y in x] if isinstance(x, list) else do(x)


def both(do: Callable[[Scalar, Scalar], Scalar], a: Value, b: Value) -> Value:
    """Component by component; a number goes with every component."""
    if isinstance(a, list) and isinstance(b, list):
        return [both(do, x, y) for x, y in zip(a, b, strict=True)]
    if isinstance(a, list):
        return [both(do, x, b) for x in a]
    if isinstance(b, list):
        return [both(do, a, y) for y in b]
    return do(a, b)


def fold(do: Callable[[Scalar, Scalar], Scalar], values: list[Value]) -> Value:
    """Values joined from left to right."""
    found = values[0]
    for v in values[1:]:
        found = both(do, found, v)
    return found


def exact(x: Scalar) -> Scalar:
    """The number itself, as a double where it has grown too long."""
    if (
        isinstance(x, Fraction)
        and (x.numerator.bit_length() + x.denominator.bit_length()) > MAX_BITS
    ):
        return float(x)
    return x


def power(a: Scalar, b: Scalar, place: Place) -> Scalar:
    """a to the b, exact where b is whole or the root is rational."""
    if isinstance(b, Fraction) and b.denominator == 1:
        n = int(b)
        if a == 0 and n < 0:
            raise Undefined(place, "a quotient by zero")
        if isinstance(a, Fraction) and abs(n) <= MAX_POWER:
            return exact(a**n)
        return float(a) ** n
    if a < 0 or (a == 0 and b < 0):
        raise Undefined(place, "a power of a negative number" if a < 0 else "a quotient by zero")
    root = isqrt(a) if b == Fraction(1, 2) and isinstance(a, Fraction) else None
    return root if root is not None else float(a) ** float(b)


def isqrt(a: Fraction) -> Fraction | None:
    """The square root where it is rational."""
    n, d = math.isqrt(a.numerator), math.isqrt(a.denominator)
    return Fraction(n, d) if n * n == a.numerator and d * d == a.denominator else None


def matmul(a: Value, b: Value) -> Value:
    """A matrix times a vector or a matrix."""
    if not isinstance(b[0], list):
        return [total([x * y for x, y in zip(row, b, strict=True)]) for row in a]
    return [[total([x * y for x, y in zip(row, col, strict=True)]) for col in zip(*b, strict=True)]
            for row in a]  # fmt: skip


def total(values: list[Scalar]) -> Scalar:
    """Their sum."""
    found: Scalar = Fraction(0)
    for v in values:
        found = exact(found + v)
    return found


def pivots(matrix: list[list[Scalar]]) -> list[Scalar]:
    """The pivots of elimination without exchanges: all positive for a positive definite one."""
    rows = [list(r) for r in matrix]
    found = []
    for i, row in enumerate(rows):
        found.append(row[i])
        if row[i] == 0:
            return [*found, *([Fraction(0)] * (len(rows) - i - 1))]
        for other in rows[i + 1 :]:
            factor = other[i] / row[i]
            for j in range(i, len(rows)):
                other[j] = exact(other[j] - factor * row[j])
    return found


def inverse(matrix: list[list[Scalar]], place: Place) -> Value:
    """Gauss–Jordan with exchanges."""
    n = len(matrix)
    rows = [[*r, *(Fraction(i == j) for j in range(n))] for i, r in enumerate(matrix)]
    for i in range(n):
        at = max(range(i, n), key=lambda k: abs(float(rows[k][i])))
        if rows[at][i] == 0:
            raise Undefined(place, "the inverse of a singular matrix")
        rows[i], rows[at] = rows[at], rows[i]
        rows[i] = [exact(x / rows[i][i]) for x in rows[i]]
        for k in range(n):
            if k != i and rows[k][i] != 0:
                rows[k] = [exact(x - rows[k][i] * y) for x, y in zip(rows[k], rows[i], strict=True)]
    return [r[n:] for r in rows]


def _logdet(args: list[Value], place: Place) -> Scalar:
    found = pivots(args[0])
    if any(p <= 0 for p in found):
        raise Undefined(place, "the log-determinant of a matrix that is not positive definite")
    return sum(math.log(p) for p in found)


def _filled(name: str, shape: tuple[int, ...]) -> Value:
    if name == "eye":
        return [[Fraction(i == j) for j in range(shape[0])] for i in range(shape[0])]
    number = Fraction(name == "ones")
    row: Value = [number] * shape[-1]
    return [list(row) for _ in range(shape[0])] if len(shape) == 2 else row


def _prod(args: list[Value], place: Place) -> Scalar:
    return fold(lambda a, b: exact(a * b), [Fraction(1), *args[0]])  # type: ignore[no-any-return]


_WHOLE: dict[str, Callable[[list[Value], Place], Value]] = {
    "sum": lambda a, _: total(a[0]),
    "prod": _prod,
    "dot": lambda a, _: total([x * y for x, y in zip(*a, strict=True)]),
    "head": lambda a, _: a[0][:-1],
    "last": lambda a, _: a[0][-1],
    "outer": lambda a, _: [[x * y for y in a[1]] for x in a[0]],
    "transpose": lambda a, _: [list(c) for c in zip(*a[0], strict=True)],
    "diag": lambda a, _: [[x if i == j else Fraction(0) for j in range(len(a[0]))]
                          for i, x in enumerate(a[0])],
    "inv": lambda a, place: inverse(a[0], place),
    "trace": lambda a, _: total([row[i] for i, row in enumerate(a[0])]),
    "logdet": _logdet,
}  # fmt: skip

_SCALAR: dict[str, Callable[..., float]] = {
    "exp": math.exp, "log": math.log, "log1p": math.log1p, "expm1": math.expm1,
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "sinh": math.sinh,
    "cosh": math.cosh, "gamma": math.gamma, "loggamma": math.lgamma, "erf": math.erf,
    "abs": abs, "factorial": lambda x: math.gamma(x + 1),
    "beta": lambda a, b: math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)),
}  # fmt: skip
_RATIONAL = ("abs",)  # exact of exact arguments


def _scalar(e: Call, *args: Scalar) -> Scalar:
    if e.function == "sqrt":
        return power(args[0], Fraction(1, 2), e.place)
    if e.function in _RATIONAL:
        return max(args[0], -args[0])
    if e.function == "exp" and args[0] == 0:
        return Fraction(1)
    if e.function == "log" and args[0] == 1:
        return Fraction(0)
    try:
        return float(_SCALAR[e.function](*map(float, args)))
    except ValueError:
        raise Undefined(
            e.place, f"{e.function}({', '.join(f'{float(a):.3g}' for a in args)})"
        ) from None
