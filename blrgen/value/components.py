"""Expressions over components at a concrete size: a vector is a list, a number a number.

Entries are mpmath numbers, at the precision in force, or NumPy arrays of many points at
once; both go through the same recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import sympy as sp

from blrgen.algebra.binomial import binomial_mean
from blrgen.algebra.components import Component, total
from blrgen.errors import InternalError
from blrgen.value.evaluate import FUNCTIONS, has_value, value_of

Expr = Any
Number = Any  # mpf, or an array of doubles
Value = Any  # Number, or a list of them


class Instance:
    """Values by name, and the sizes; `value` evaluates expressions there."""

    def __init__(self, names: Mapping[str, Value], sizes: Mapping[Expr, int]) -> None:
        self.names, self.sizes = dict(names), {str(k): v for k, v in sizes.items()}
        self.memo: dict[Expr, Value] = {}

    def size(self, e: Expr) -> int:
        """K − 1 as a number."""
        found = e.xreplace({s: sp.Integer(self.sizes[s.name]) for s in e.free_symbols})
        return int(found)

    def vector(self, e: Expr, size: Expr) -> list[Number]:
        """The components of e, a number repeated."""
        value = self.value(e)
        return value if isinstance(value, list) else [value] * self.size(size)

    def value(self, e: Expr) -> Value:
        """The value of an expression: a list where it varies over components."""
        found = self.memo.get(e)
        if found is None:
            found = self.memo[e] = self._value(e)
        return found

    def _value(self, e: Expr) -> Value:
        if isinstance(e, Component):
            return self.names[e.name][: self.size(e.size)]
        if isinstance(e, total):
            inside = self.value(e.args[0])
            if not isinstance(inside, list):
                return inside * self.size(e.args[1])
            return _added(inside)
        if e.is_Symbol:
            if e.name in self.names:
                return self.names[e.name]
            if e.name in self.sizes:
                return mpmath.mpf(self.sizes[e.name])
            raise InternalError(f"no value for {e}")
        if e.is_Rational:
            return mpmath.mpf(int(e.p)) / int(e.q)
        if not e.args:
            return mpmath.mpf(e.evalf(mpmath.mp.dps)._mpf_)
        if isinstance(e, binomial_mean):
            return _spread(lambda n, p: value_of(e, [None, n, p]),
                           [self.value(a) for a in e.args[1:]])  # fmt: skip
        args = [self.value(a) for a in e.args]
        if e.is_Add:
            return _spread(lambda *a: _added(list(a)), args)
        if e.is_Mul:
            return _spread(_multiplied, args)
        if e.is_Pow and e.exp.is_Integer:
            return _spread(lambda a: a ** int(e.exp), args[:1])
        return _spread(lambda *a: _called(e, a), args)


def _spread(function: Callable[..., Number], args: list[Value]) -> Value:
    """Component by component where an argument is a vector."""
    sizes = {len(a) for a in args if isinstance(a, list)}
    if not sizes:
        return function(*args)
    if len(sizes) > 1:
        raise InternalError(f"vectors of sizes {sorted(sizes)} meet")
    return [
        function(*[a[k] if isinstance(a, list) else a for a in args]) for k in range(sizes.pop())
    ]


def _plain(a: Number) -> bool:
    return isinstance(a, (mpmath.mpf, mpmath.mpc, int, float))


def _added(parts: list[Number]) -> Number:
    if all(map(_plain, parts)):
        return mpmath.fsum(parts)
    return sum((_double(a) for a in parts), start=0.0)


def _multiplied(*parts: Number) -> Number:
    if all(map(_plain, parts)):
        return mpmath.fprod(parts)
    made: Number = 1.0
    for a in parts:
        made = made * _double(a)
    return made


def _double(a: Number) -> Number:
    return float(a) if _plain(a) else a


def _called(e: Expr, args: tuple[Number, ...]) -> Number:
    if all(map(_plain, args)):
        return _function(e)(*args)
    import numpy as np

    name = "pow" if e.is_Pow else type(e).__name__
    plain = _arrays().get(name)
    if plain is not None:
        return plain(*[_double(a) for a in args])
    one = _function(e)
    return np.vectorize(lambda *a: float(one(*map(mpmath.mpf, a))), otypes=[float])(*args)


def _function(e: Expr) -> Callable[..., Number]:
    """The function at the head of e, for mpmath numbers."""
    if has_value(e):
        return lambda *a: value_of(e, list(a))
    if e.is_Pow:
        power: Callable[..., Number] = mpmath.power
        return power
    found: Callable[..., Number] | None = FUNCTIONS.get(type(e).__name__)
    if found is None:
        raise InternalError(f"no value for {type(e).__name__}")
    return found


def _arrays() -> dict[str, Callable[..., Number]]:
    """The functions that NumPy has."""
    import math

    import numpy as np

    lgamma = np.vectorize(math.lgamma, otypes=[float])
    return {
        "exp": np.exp, "log": np.log, "Abs": np.abs, "sin": np.sin, "cos": np.cos,
        "tan": np.tan, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "pow": np.power,
        "loggamma": lgamma, "factorial": lambda x: np.exp(lgamma(x + 1)),
    }  # fmt: skip
