"""Expressions of symbolic size as numbers, at sizes such as d = 2, in batches.

A scalar is an array of any shape, a vector or matrix has two more axes at the end; all
axes before are a batch of points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from blrgen.algebra.ranks import T, logdet, trace
from blrgen.errors import InternalError

Expr = Any
Array = Any  # numpy.ndarray
_DIRECT: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "sinh": np.sinh, "cosh": np.cosh, "Abs": np.abs, "sign": np.sign,
}  # fmt: skip


def _log_gamma(x: Array) -> Array:
    """log Γ(x), NaN where it is not real."""

    def one(v: float) -> float:
        try:
            return math.lgamma(v) if v > 0 else math.nan
        except OverflowError:
            return math.inf

    return np.vectorize(one, otypes=[float])(x)


_DIRECT["loggamma"] = _log_gamma


class Instance:
    """Values of expressions where every size and every symbol has one."""

    def __init__(self, sizes: Mapping[Expr, int], values: Mapping[Expr, Array]) -> None:
        self.sizes = dict(sizes)
        self.values = {k: np.asarray(v, dtype=float) for k, v in values.items()}
        self._kept: dict[Expr, Array] = {}  # functions of one point: a derived form repeats them

    def with_(self, values: Mapping[Expr, Array]) -> Instance:
        """The same with more symbols."""
        return Instance(self.sizes, {**self.values, **values})

    def without(self, symbols: Iterable[Expr]) -> Instance:
        """The same with fewer symbols."""
        gone = set(symbols)
        return Instance(self.sizes, {k: v for k, v in self.values.items() if k not in gone})

    def whole(self, size: Expr) -> int:
        """A size as a number."""
        return int(self._size(size))

    def value(self, e: Expr, square: Expr = None) -> Array:
        """The value of an expression; `square` says that it is a matrix of that size."""
        with np.errstate(all="ignore"):
            found = self._value(sp.sympify(e))
        if square is not None and sp.sympify(e).is_commutative:
            return self._unit(found, int(self._size(square)))
        return found

    def _size(self, e: Expr) -> Any:
        return sp.sympify(e).subs(self.sizes)

    @staticmethod
    def _unit(scalar: Array, n: int) -> Array:
        return np.asarray(scalar)[..., None, None] * np.eye(n)

    def _value(self, e: Expr) -> Array:
        if e in self.values:
            return self.values[e]
        if e in self.sizes:
            return np.float64(self.sizes[e])
        if e.is_number and e.is_commutative:
            return np.float64(float(sp.N(e, 20)))
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(e)
        if isinstance(e, T):
            return np.swapaxes(self._value(e.args[0]), -1, -2)
        if isinstance(e, trace):
            return np.trace(self._value(e.args[0]), axis1=-2, axis2=-1)
        if isinstance(e, logdet):
            sign, found = np.linalg.slogdet(self._value(e.args[0]))
            return np.where(sign > 0, found, np.nan)
        if e.is_Function:
            if e in self._kept:
                return self._kept[e]
            found = self._function(e)
            if np.size(found) == 1:
                self._kept[e] = found
            return found
        raise InternalError(f"no value for {e}")

    def _sum(self, e: Expr) -> Array:
        matrices = [self._value(a) for a in e.args if not a.is_commutative]
        scalars = [self._value(a) for a in e.args if a.is_commutative]
        total = sum(scalars[1:], start=scalars[0]) if scalars else 0.0
        if not matrices:
            return total
        across = sum(matrices[1:], start=matrices[0])
        return across + self._unit(total, across.shape[-1]) if scalars else across

    def _product(self, e: Expr) -> Array:
        result: Array = np.float64(1.0)
        word: Array | None = None
        for a in e.args:
            value = self._value(a)
            if a.is_commutative:
                result = result * value
            else:
                # einsum: many small products are slow through BLAS
                word = value if word is None else np.einsum("...ik,...kj->...ij", word, value)
        return result if word is None else np.asarray(result)[..., None, None] * word

    def _power(self, e: Expr) -> Array:
        base = self._value(e.base)
        if e.is_commutative:
            return np.exp(self._value(e.exp)) if e.base is sp.E else base ** self._value(e.exp)
        inverse = _inverse(base) if e.exp < 0 else base
        result = inverse
        for _ in range(abs(int(e.exp)) - 1):
            result = result @ inverse
        return result

    def _function(self, e: Expr) -> Array:
        name = type(e).__name__
        inner = e.args[0]
        if name == "log" and isinstance(inner, (sp.factorial, sp.gamma)):  # no overflow
            return self._value(sp.loggamma(inner.args[0] + int(isinstance(inner, sp.factorial))))
        args = [self._value(a) for a in e.args]
        if name in _DIRECT:
            return _DIRECT[name](*args)
        from blrgen.value.evaluate import Undefined, evaluate

        names = [sp.Dummy(f"x{i}") for i in range(len(args))]

        def one(*numbers: float) -> float:
            kept = [sp.Integer(int(v)) if v == int(v) else x
                    for v, x in zip(numbers, names, strict=True)]  # fmt: skip
            at = {x: mpmath.mpf(float(v)) for x, v in zip(names, numbers, strict=True)}
            try:
                with mpmath.workdps(20):
                    return float(evaluate(sp.sympify(e.func(*kept)), at))
            except (Undefined, TypeError):
                return float("nan")

        if len(args) == 1 and np.size(args[0]) > 1:  # each value once
            places, where = np.unique(args[0], return_inverse=True)
            return np.array([one(v) for v in places])[where].reshape(np.shape(args[0]))
        return np.vectorize(one, otypes=[float])(*args)


def _inverse(a: Array) -> Array:
    """The inverse, NaN where there is none."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        pass
    determinant = np.linalg.det(a)
    good = np.isfinite(determinant) & (determinant != 0)
    safe = np.where(good[..., None, None], a, np.eye(a.shape[-1]))
    return np.where(good[..., None, None], np.linalg.inv(safe), np.nan)
