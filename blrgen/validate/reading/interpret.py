"""A graph at a point: in many digits, in doubles as NumPy computes them, in a finite field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import numpy as np

from blrgen.decide.field import determinant, invert
from blrgen.decide.modular import NoModel, Unlucky
from blrgen.validate.reading.field import Pair, drawn
from blrgen.validate.reading.graph import Block, Node, reachable

HUGE = 2000  # the largest exponent that is computed in many digits


class Undefined:
    """No value: a root of a negative number, a division by zero, what nobody has written."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()
UNKNOWN = Undefined()  # a number too large to compute


def missing(x: Any) -> bool:
    """Whether there is no number."""
    return isinstance(x, Undefined)


# many digits ----------------------------------------------------------------------------------
def in_digits(
    roots: Iterable[Node], point: Mapping[str, Any], overridden: Mapping[int, Any] | None = None
) -> dict[int, Any]:
    """Node → value, at mpmath's precision; a case takes only the branch it needs."""
    memo: dict[int, Any] = dict(overridden or {})
    blocks: dict[int, Any] = {}
    for n in reachable(roots):
        if n.index in memo:
            continue
        try:
            memo[n.index] = _digits(n, memo, point, blocks)
        except (ZeroDivisionError, ValueError, Unlucky):
            memo[n.index] = UNDEFINED
        except OverflowError:
            memo[n.index] = UNKNOWN
    return memo


def _digits(n: Node, memo: dict[int, Any], point: Mapping[str, Any], blocks: dict[int, Any]) -> Any:
    if n.op == "number":
        return mpmath.mpf(n.data.numerator) / n.data.denominator
    if n.op == "symbol":
        return point[n.data]
    if n.op == "constant":
        return +mpmath.pi if n.data == "pi" else +mpmath.e
    if n.op == "truth":
        return n.data
    if n.op == "empty":
        return UNDEFINED
    values = [memo[a.index] for a in n.args]
    if n.op == "case":
        c = values[0]
        return c if missing(c) else values[1] if c else values[2]
    if n.op == "and" and False in [v for v in values if not missing(v)]:
        return False
    if any(map(missing, values)):
        return UNDEFINED if UNDEFINED in values else UNKNOWN
    if n.op == "entry":
        block, k = n.data
        if block.index not in blocks:
            blocks[block.index] = matrix_values(block, values)
        return blocks[block.index][k]
    return REAL[n.op](*values)


def _power(x: Any, y: Any) -> Any:
    whole = y == int(y) if abs(y) < 10**9 else False
    if x == 0:
        if y < 0:
            return UNDEFINED
        return mpmath.mpf(1 if y == 0 else 0)
    if x < 0 and not whole:
        return UNDEFINED
    if whole:
        return x ** int(y)
    return mpmath.power(x, y)


def _root(x: Any) -> Any:
    return UNDEFINED if x < 0 else mpmath.sqrt(x)


def _log(x: Any) -> Any:
    return mpmath.log(x) if x > 0 else UNDEFINED


def _atanh(x: Any) -> Any:
    return mpmath.atanh(x) if abs(x) < 1 else UNDEFINED


def _exp(x: Any) -> Any:
    return mpmath.exp(x) if abs(x) < 10**12 else UNKNOWN


def _tanh(x: Any) -> Any:
    """Not 1 for any x: where it rounds to 1, what is computed of it is not known."""
    y = mpmath.tanh(x)
    return UNKNOWN if abs(y) == 1 else y


def _dot(*values: Any) -> Any:
    return mpmath.fsum(a * b for a, b in zip(values[::2], values[1::2], strict=True))


REAL: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "neg": lambda a: -a, "pow": _power, "sqrt": _root,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), "exp": _exp, "log": _log,
    "abs": abs, "sign": mpmath.sign, "tanh": _tanh, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh, "atanh": _atanh, "sin": mpmath.sin, "cos": mpmath.cos,
    "max": max, "min": min, "dot": _dot,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b, "not": lambda a: not a, "and": lambda a, b: a and b,
}  # fmt: skip


# matrices, over any numbers -----------------------------------------------------------------------
def matrix_values(
    block: Block, values: list[Any], root: Callable[[Any], Any] | None = None
) -> list[Any]:
    """What a matrix operation gives, row by row; raises where it is not defined."""
    n = block.order
    rows = tuple(tuple(values[i * n : (i + 1) * n]) for i in range(n))
    if block.op == "det":
        try:
            return [determinant(rows)]
        except Unlucky:
            return [values[0] * 0]
    if block.op == "cholesky":
        return _cholesky(rows, root)
    inverse = invert(rows)[0]
    if block.op == "inv":
        return [x for r in inverse for x in r]
    width = block.shape[1]
    right = [values[n * n + i * width : n * n + (i + 1) * width] for i in range(n)]
    return [
        sum((inverse[i][k] * right[k][j] for k in range(n)), start=inverse[i][0] * 0)
        for i in range(n) for j in range(width)
    ]  # fmt: skip


def _cholesky(rows: Any, root: Callable[[Any], Any] | None) -> list[Any]:
    """L D Lᵀ, with roots of the pivots."""
    n = len(rows)
    low: list[list[Any]] = [[rows[0][0] * 0 for _ in range(n)] for _ in range(n)]
    pivots: list[Any] = []
    for j in range(n):
        d = rows[j][j] - sum(
            (low[j][k] * low[j][k] * pivots[k] for k in range(j)), start=0 * rows[0][0]
        )
        if root is None and not d > 0:
            raise Unlucky
        pivots.append(d)
        for i in range(j + 1, n):
            s = rows[i][j] - sum(
                (low[i][k] * low[j][k] * pivots[k] for k in range(j)), start=0 * rows[0][0]
            )
            low[i][j] = s / d
    roots = [(root or mpmath.sqrt)(d) for d in pivots]
    return [roots[j] if i == j else low[i][j] * roots[j] for i in range(n) for j in range(n)]


# the field ---------------------------------------------------------------------------------
FIELD: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: Pair.of(a) / b, "neg": lambda a: -a,
}  # fmt: skip


class FieldPoint:
    """One random point over GF(p²); functions without algebra are random functions."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.symbols: dict[str, Any] = {}
        self.functions: dict[Any, Pair] = {}

    def symbol(self, name: str) -> Any:
        if name not in self.symbols:
            self.symbols[name] = drawn(self.random)
        return self.symbols[name]

    def function(self, key: Any) -> Pair:
        """The value of a random function, the same for the same key."""
        if key not in self.functions:
            self.functions[key] = drawn(self.random)
        return self.functions[key]

    def values(self, roots: Iterable[Node]) -> dict[int, Any]:
        """Node → element of the field."""
        memo: dict[int, Any] = {}
        blocks: dict[int, Any] = {}
        for n in reachable(roots):
            memo[n.index] = self._value(n, [memo.get(a.index) for a in n.args], blocks)
        return memo

    def _value(self, n: Node, values: list[Any], blocks: dict[int, Any]) -> Any:
        if n.op == "number":
            return Pair.of(n.data)
        if n.op == "symbol":
            return self.symbol(n.data)
        if n.op == "empty":
            return drawn(self.random)
        if n.op == "entry":
            block, k = n.data
            if block.index not in blocks:
                blocks[block.index] = matrix_values(block, values, lambda x: Pair.of(x).root())
            return blocks[block.index][k]
        return self.operation(n.op, values)

    def operation(self, op: str, values: list[Any]) -> Any:
        """One operation in the field."""
        if op == "pow":
            return self.power(*values)
        if op == "sqrt":
            return Pair.of(values[0]).root()
        if op in ("exp", "log", "tanh", "sinh", "cosh", "atanh", "sin", "cos", "cbrt"):
            return self.function((op, tuple(values)))
        if op == "dot":
            return sum(
                (a * b for a, b in zip(values[::2], values[1::2], strict=True)), start=Pair(0)
            )
        if op not in FIELD:
            raise NoModel(op)
        return FIELD[op](*values)

    def power(self, x: Any, y: Any) -> Any:
        """xⁿ for whole n, roots for halves; another exponent has no counterpart."""
        if isinstance(y, int):
            return Pair.of(x) ** y
        for n in range(-12, 13):
            if y == n:
                return Pair.of(x) ** n
        half = Pair.of(Fraction(1, 2))
        if y == half:
            return Pair.of(x).root()
        if y == -half:
            return Pair.of(x).root().inverse()
        raise NoModel("a power")


def field_value(e: Any, point: FieldPoint, special: dict[Any, Any]) -> Any:
    """A scalar expression of the rule over the field."""
    if e in special:
        return special[e] if not isinstance(special[e], int) else Pair(special[e])
    if e.is_Rational:
        return Pair(int(e.p)) / Pair(int(e.q))
    if e.is_Symbol:
        return point.symbol(e.name)
    args = [field_value(a, point, special) for a in e.args]
    if e.is_Add:
        return sum(args[1:], start=Pair.of(args[0]))
    if e.is_Mul:
        out = Pair.of(args[0])
        for a in args[1:]:
            out = out * a
        return out
    if e.is_Pow:
        return point.power(*args)
    return point.operation(type(e).__name__.lower(), args)


# doubles -----------------------------------------------------------------------------------
def in_doubles(roots: Iterable[Node], point: Mapping[str, Any]) -> dict[int, Any]:
    """Node → double, or array of them, operation by operation as NumPy does."""
    memo: dict[int, Any] = {}
    blocks: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for n in reachable(roots):
            memo[n.index] = _double(n, memo, point, blocks)
    return memo


def _double(n: Node, memo: dict[int, Any], point: Mapping[str, Any], blocks: dict[int, Any]) -> Any:
    if n.op == "number":
        return np.float64(n.data)
    if n.op == "symbol":
        return np.float64(point[n.data])
    if n.op == "constant":
        return np.float64(np.pi if n.data == "pi" else np.e)
    if n.op == "truth":
        return n.data
    if n.op == "empty":
        return np.float64("nan")
    values = [memo[a.index] for a in n.args]
    if n.op == "entry":
        block, k = n.data
        if block.index not in blocks:
            blocks[block.index] = _double_block(block, values)
        return blocks[block.index][k]
    return DOUBLE[n.op](*values)


def _double_block(block: Block, values: list[Any]) -> Any:
    n = block.order
    a = np.array(values[: n * n]).reshape(n, n)
    try:
        if block.op == "det":
            return [np.linalg.det(a)]
        if block.op == "cholesky":
            return np.linalg.cholesky(a).reshape(-1)
        if block.op == "inv":
            return np.linalg.inv(a).reshape(-1)
        return np.linalg.solve(a, np.array(values[n * n :]).reshape(n, -1)).reshape(-1)
    except np.linalg.LinAlgError:
        return np.full(int(np.prod(block.shape)), np.nan)


def _double_power(x: Any, y: Any) -> Any:
    return np.square(x) if y == 2 else np.power(x, y)


DOUBLE: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "pow": _double_power, "sqrt": np.sqrt, "cbrt": np.cbrt, "exp": np.exp, "log": np.log,
    "abs": np.abs, "sign": np.sign, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh,
    "atanh": np.arctanh, "sin": np.sin, "cos": np.cos, "max": np.maximum, "min": np.minimum,
    "dot": lambda *v: np.dot(np.array(v[::2]), np.array(v[1::2])),
    "case": lambda c, a, b: a if c else b,
    "lt": lambda a, b: bool(a < b), "le": lambda a, b: bool(a <= b),
    "eq": lambda a, b: bool(a == b), "ne": lambda a, b: bool(a != b),
    "not": lambda a: not a, "and": lambda a, b: bool(a) and bool(b),
}  # fmt: skip
