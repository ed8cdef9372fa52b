"""The numbers that expressions are evaluated in: doubles in batches, or as many digits as wanted.

`DOUBLES`: a number is an array of any shape, a matrix has two more axes at the end, all axes
before them are a batch of points; what has no value is NaN.
`REALS`: an mpf and a `Table` of them, at mpmath's precision in force; what has no finite real
value raises `Undefined`.
`EXTENDED`: the same, where infinite and complex numbers go on, for callers that look at them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from blrgen.algebra import tables
from blrgen.errors import InternalError
from blrgen.value.evaluate import FUNCTIONS, Undefined, evaluate, has_value, value_of

Expr = Any
Number = Any  # an mpf, or an array of doubles
Table = Any
_BROKEN = (ZeroDivisionError, OverflowError, ValueError, TypeError, mpmath.libmp.NoConvergence)


def _log_gamma(x: Number) -> Number:
    """log Γ(x), NaN where it is not real."""

    def one(v: float) -> float:
        try:
            return math.lgamma(v) if v > 0 else math.nan
        except OverflowError:
            return math.inf

    return np.vectorize(one, otypes=[float])(x)


_DIRECT: dict[str, Callable[..., Number]] = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh,
    "sinh": np.sinh, "cosh": np.cosh, "Abs": np.abs, "sign": np.sign, "loggamma": _log_gamma,
}  # fmt: skip


class Doubles:
    """NumPy's arrays, a batch of points at once."""

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Where values are computed."""
        with np.errstate(all="ignore"):
            yield

    def kept(self, value: Any) -> Any:
        """A given value as it is used."""
        if isinstance(value, list):
            return [self.kept(v) for v in value]
        return np.asarray(value, dtype=float)

    def remembered(self, value: Any) -> bool:
        """Whether a value is kept: a derived form repeats functions of one point."""
        return not isinstance(value, list) and np.size(value) == 1

    def checked(self, e: Expr, value: Any) -> Any:
        """What is not finite goes on."""
        return value

    def constant(self, e: Expr) -> Number | None:
        """The value of an expression without symbols."""
        return np.float64(float(sp.N(e, 20))) if e.is_number and e.is_commutative else None

    def number(self, n: int) -> Number:
        """A size."""
        return np.float64(n)

    def spelled(self, e: Expr) -> Expr:
        """log n! without the overflow of n!."""
        if isinstance(e, sp.log) and isinstance(e.args[0], sp.factorial | sp.gamma):
            inner = e.args[0]
            return sp.loggamma(inner.args[0] + int(isinstance(inner, sp.factorial)))
        return e

    def add(self, parts: Sequence[Number]) -> Number:
        """Σ of numbers."""
        return sum(parts[1:], start=parts[0])

    def multiply(self, parts: Sequence[Number]) -> Number:
        """Π of numbers."""
        made: Number = np.float64(1.0)
        for p in parts:
            made = made * p
        return made

    def power(self, e: Expr, base: Number, exponent: Number) -> Number:
        """A power of numbers."""
        return np.exp(exponent) if e.base is sp.E else base**exponent

    def call(self, e: Expr, args: Sequence[Number]) -> Number:
        """A function of numbers: NumPy's, or that of twenty digits, each value once."""
        direct = _DIRECT.get(type(e).__name__)
        if direct is not None:
            return direct(*args)
        bound = e.args[: getattr(e, "bound", 0)]
        names = [sp.Dummy(f"x{i}") for i in range(len(args))]

        def one(*numbers: float) -> float:
            kept = [sp.Integer(int(v)) if v == int(v) else x
                    for v, x in zip(numbers, names, strict=True)]  # fmt: skip
            at = {x: mpmath.mpf(float(v)) for x, v in zip(names, numbers, strict=True)}
            try:
                with mpmath.workdps(20):
                    return float(evaluate(sp.sympify(e.func(*bound, *kept)), at))
            except (Undefined, TypeError):
                return float("nan")

        if len(args) == 1 and np.size(args[0]) > 1:
            places, where = np.unique(args[0], return_inverse=True)
            return np.array([one(v) for v in places])[where].reshape(np.shape(args[0]))
        return np.vectorize(one, otypes=[float])(*args)

    def unit(self, number: Number, n: int) -> Table:
        """A multiple of the identity."""
        return np.asarray(number)[..., None, None] * np.eye(n)

    def filled(self, shape: tuple[int, int], number: Number) -> Table:
        """Entries that are all the same."""
        return np.asarray(number)[..., None, None] * np.ones(shape)

    def scaled(self, number: Number, a: Table) -> Table:
        """c·A."""
        return np.asarray(number)[..., None, None] * a

    def dot(self, a: Table, b: Table) -> Table:
        """A·B; many small products are slow through BLAS."""
        return np.einsum("...ik,...kj->...ij", a, b)

    def inverse(self, a: Table) -> Table:
        """A⁻¹, NaN where there is none."""
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            pass
        determinant = np.linalg.det(a)
        good = np.isfinite(determinant) & (determinant != 0)
        safe = np.where(good[..., None, None], a, np.eye(a.shape[-1]))
        return np.where(good[..., None, None], np.linalg.inv(safe), np.nan)

    def trace(self, a: Table) -> Number:
        """Tr A."""
        return np.trace(a, axis1=-2, axis2=-1)

    def logdet(self, a: Table) -> Number:
        """log|A|, NaN where |A| is not positive."""
        sign, found = np.linalg.slogdet(a)
        return np.where(sign > 0, found, np.nan)

    def single(self, value: Any) -> Number:
        """A value as a number."""
        return value


@dataclass(frozen=True)
class Digits:
    """mpmath's numbers; log|A| comes from pivots, and there is none unless A is definite."""

    extended: bool = False  # infinite and complex numbers go on

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Where values are computed."""
        try:
            yield
        except _BROKEN as error:
            if self.extended:
                raise
            raise Undefined(str(error)) from error

    def kept(self, value: Any) -> Any:
        """A given value as it is used."""
        return tables.table(value) if isinstance(value, np.ndarray) else value

    def remembered(self, value: Any) -> bool:
        """Whether a value is kept."""
        return True

    def checked(self, e: Expr, value: Any) -> Any:
        """The value; `Undefined` where it is not finite or not real."""
        if self.extended:
            return value
        if isinstance(value, mpmath.mpc):
            if value.imag != 0:
                raise Undefined("it is not a real number")
            value = value.real
        entries = value.flat if isinstance(value, np.ndarray) else _entries(value)
        if not all(mpmath.isfinite(v) for v in entries):
            raise Undefined(f"{e} is not finite")
        return value

    def constant(self, e: Expr) -> Number | None:
        """The value of a number; functions of numbers are evaluated as all functions are."""
        if e.is_Rational:
            return mpmath.mpf(int(e.p)) / int(e.q)
        if e.is_number and e.is_commutative and not e.args:
            return mpmath.mpf(e.evalf(mpmath.mp.dps)._mpf_)
        return None

    def number(self, n: int) -> Number:
        """A size."""
        return mpmath.mpf(n)

    def spelled(self, e: Expr) -> Expr:
        """Nothing overflows."""
        return e

    def add(self, parts: Sequence[Number]) -> Number:
        """Σ of numbers."""
        return mpmath.fsum(parts)

    def multiply(self, parts: Sequence[Number]) -> Number:
        """Π of numbers."""
        return mpmath.fprod(parts)

    def power(self, e: Expr, base: Number, exponent: Number) -> Number:
        """A power of numbers."""
        return base ** int(e.exp) if e.exp.is_Integer else mpmath.power(base, exponent)

    def call(self, e: Expr, args: Sequence[Number]) -> Number:
        """A function of numbers."""
        if has_value(e):
            return value_of(e, [*[None] * getattr(e, "bound", 0), *args])
        function = FUNCTIONS.get(type(e).__name__)
        if function is None:
            raise InternalError(f"no value for {type(e).__name__}")
        return function(*args)

    def unit(self, number: Number, n: int) -> Table:
        """A multiple of the identity."""
        return tables.unit(number, n)

    def filled(self, shape: tuple[int, int], number: Number) -> Table:
        """Entries that are all the same."""
        return tables.filled(shape, number)

    def scaled(self, number: Number, a: Table) -> Table:
        """c·A."""
        return a if number == 1 else tables.table(a).times(number)

    def dot(self, a: Table, b: Table) -> Table:
        """A·B."""
        return a @ b

    def inverse(self, a: Table) -> Table:
        """A⁻¹."""
        return tables.table(a).inverse

    def trace(self, a: Table) -> Number:
        """Tr A."""
        return mpmath.fsum(a.diagonal())

    def logdet(self, a: Table) -> Number:
        """log|A|."""
        return mpmath.fsum(map(mpmath.log, tables.table(a).pivots))

    def single(self, value: Any) -> Number:
        """A value as a number."""
        return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


Arithmetic = Doubles | Digits
DOUBLES, REALS, EXTENDED = Doubles(), Digits(), Digits(extended=True)
