"""Families of symbolic size as numbers with many digits, at one point.

As `Instance`, in mpmath's arithmetic at the precision in force: a scalar is an mpf, a vector
or matrix a NumPy array of them.  log|X| comes from the pivots of X, and there is none where
X is not positive definite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from blrgen.algebra.ranks import T, logdet, shape_of, trace
from blrgen.algebra.tables import NotDefinite, filled, table, unit
from blrgen.core import Domain
from blrgen.errors import InternalError
from blrgen.value.evaluate import FUNCTIONS, Undefined, has_value, value_of

Expr = Any
Value = Any  # mpf, or an array of them
_BROKEN = (ZeroDivisionError, OverflowError, ValueError, TypeError, mpmath.libmp.NoConvergence)


class Precise:
    """Values of expressions where every size and every symbol has one.

    What a point shares with the one it was made from is computed once.
    """

    def __init__(
        self, sizes: Mapping[Expr, int], values: Mapping[Expr, Value], inner: Precise | None = None
    ) -> None:
        self.sizes, self.inner = dict(sizes), inner
        self.own = {k: table(v) if isinstance(v, np.ndarray) else v for k, v in values.items()}
        self.memo: dict[Expr, Value] = {}

    def with_(self, values: Mapping[Expr, Value]) -> Precise:
        """The same point with more symbols, or other values of those that it has."""
        if set(values) & set(self.values):
            return Precise(self.sizes, {**self.values, **values})
        return Precise(self.sizes, values, self)

    @property
    def values(self) -> dict[Expr, Value]:
        return {**(self.inner.values if self.inner else {}), **self.own}

    def whole(self, size: Expr) -> int:
        """A size as a number."""
        return int(sp.sympify(size).subs(self.sizes))

    def shape(self, x: Expr) -> tuple[int, int] | None:
        """(rows, columns) of a symbol as numbers; None for a scalar."""
        shape = shape_of(x)
        return None if shape is None else (self.whole(shape[0]), self.whole(shape[1]))

    def value(self, e: Expr) -> Value:
        """The value of an expression; `Undefined` where it has none."""
        e = sp.sympify(e)
        if self.inner is not None and not e.free_symbols & set(self.own):
            return self.inner.value(e)
        found = self.memo.get(e)
        if found is None:
            try:
                found = self._value(e)
            except _BROKEN as error:
                raise Undefined(str(error)) from error
            if not _finite(found):
                raise Undefined(f"{e} is not finite")
            self.memo[e] = found
        return found

    def like(self, e: Expr, x: Expr) -> Value:
        """The value in the shape of x: a number there is that multiple of the identity."""
        value, shape = self.value(e), self.shape(x)
        if shape is None:
            return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
        if not isinstance(value, np.ndarray):
            return unit(value, shape[0]) if shape[0] == shape[1] else filled(shape, value)
        return value

    def _value(self, e: Expr) -> Value:
        if e in self.own:
            return self.own[e]
        if e in self.sizes:
            return mpmath.mpf(self.sizes[e])
        if e.is_Symbol:
            raise Undefined(f"no value for {e}")
        if e.is_Rational:
            return mpmath.mpf(int(e.p)) / int(e.q)
        if e.is_number and e.is_commutative and not e.args:
            return mpmath.mpf(e.evalf(mpmath.mp.dps)._mpf_)
        if e.is_Add:
            return self._sum([self.value(a) for a in e.args])
        if e.is_Mul:
            return self._product([self.value(a) for a in e.args])
        if isinstance(e, T):
            return self.value(e.args[0]).T
        if isinstance(e, trace):
            return mpmath.fsum(self.value(e.args[0]).diagonal())
        if isinstance(e, logdet):
            return mpmath.fsum(map(mpmath.log, table(self.value(e.args[0])).pivots))
        if e.is_Pow:
            return self._power(e)
        return self._function(e)

    @staticmethod
    def _sum(parts: list[Value]) -> Value:
        """Σ, where a number beside matrices is that multiple of the identity."""
        arrays = [p for p in parts if isinstance(p, np.ndarray)]
        number = mpmath.fsum(p for p in parts if not isinstance(p, np.ndarray))
        if not arrays:
            return number
        total = sum(arrays[1:], start=arrays[0])
        return total if len(arrays) == len(parts) else total + unit(number, len(total))

    @staticmethod
    def _product(parts: list[Value]) -> Value:
        word: Value = None
        for p in parts:
            if isinstance(p, np.ndarray):
                word = p if word is None else word @ p
        number = mpmath.fprod(p for p in parts if not isinstance(p, np.ndarray))
        if word is None:
            return number
        return word if number == 1 else table(word).times(number)

    def _power(self, e: Expr) -> Value:
        base = self.value(e.base)
        if not isinstance(base, np.ndarray):
            if e.exp.is_Integer:
                return base ** int(e.exp)
            return _real(mpmath.power(base, self.value(e.exp)))
        once = table(base).inverse if e.exp < 0 else base
        result = once
        for _ in range(abs(int(e.exp)) - 1):
            result = result @ once
        return result

    def _function(self, e: Expr) -> Value:
        args = [self.value(a) for a in e.args]
        if has_value(e):
            return value_of(e, args)
        function = FUNCTIONS.get(type(e).__name__)
        if function is None:
            raise InternalError(f"no value for {type(e).__name__}")
        return _real(function(*args))

    def gap(self, x: Expr, domain: Domain) -> Value:
        """How far a matrix is inside its cone: what must be positive definite."""
        distance = self.value(x)
        if domain.lower is not None:
            distance = distance - self.like(domain.lower, x)
        return table(distance).times(mpmath.mpf(-1)) if domain.kind == "-spd" else distance

    def bounds(self, domain: Domain) -> tuple[Value, Value]:
        """The ends of an interval, which may depend on sizes and other parameters."""

        def end(edge: Expr, none: Value) -> Value:
            return none if edge is None or edge in (sp.oo, -sp.oo) else self.value(edge)

        return end(domain.lower, -mpmath.inf), end(domain.upper, mpmath.inf)

    def inside(self, x: Expr, domain: Domain) -> bool:
        """Whether the value of x is inside a domain."""
        try:
            if domain.kind in ("spd", "-spd"):
                return bool(table(self.gap(x, domain)).pivots)
            elif domain.kind == "interval":
                low, high = self.bounds(domain)
                value = self.value(x)
                return bool(
                    (low < value or (value == low and not domain.lower_open))
                    and (value < high or (value == high and not domain.upper_open))
                )
        except (Undefined, NotDefinite):
            return False
        return True


def precise_of(here: Any) -> Precise:
    """A point of doubles (`Instance`) with digits to spare."""

    def exact(value: Any) -> Value:
        value = np.asarray(value)
        if not value.ndim:
            return mpmath.mpf(float(value))
        made = filled(value.shape, None)
        for place in np.ndindex(value.shape):
            made[place] = mpmath.mpf(float(value[place]))
        return made

    return Precise(here.sizes, {x: exact(value) for x, value in here.values.items()})


def _real(value: Any) -> Any:
    if isinstance(value, mpmath.mpc):
        if value.imag != 0:
            raise Undefined("it is not a real number")
        return value.real
    return value


def _finite(value: Value) -> bool:
    entries: Iterable[Any] = value.flat if isinstance(value, np.ndarray) else (value,)
    return all(mpmath.isfinite(v) for v in entries)
