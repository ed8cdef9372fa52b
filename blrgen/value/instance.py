"""Expressions at a point where every size and every symbol has a value.

A number is a number of the arithmetic, a vector by its components a list of them, a vector
or matrix of the non-commuting algebra a table.  There is one recursion for all of them, in
doubles or in mpmath's digits (`arithmetic`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.components import Component, total
from blrgen.algebra.ranks import T, logdet, shape_of, trace
from blrgen.errors import InternalError
from blrgen.value.arithmetic import DOUBLES, Arithmetic
from blrgen.value.evaluate import Undefined

Expr = Any
Value = Any  # a number, a list of them, or a table


class Instance:
    """Values of expressions at one point, or at a batch of points in doubles.

    Values belong to symbols (or to other expressions that are known), or to the name of every
    symbol so called.  What a point shares with the one it was made from is computed once.
    """

    def __init__(
        self,
        sizes: Mapping[Expr, int],
        values: Mapping[Any, Value],
        arithmetic: Arithmetic = DOUBLES,
        inner: Instance | None = None,
    ) -> None:
        self.sizes, self.arithmetic, self.inner = dict(sizes), arithmetic, inner
        self.own = {k: arithmetic.kept(v) for k, v in values.items()}
        self.memo: dict[Expr, Value] = {}

    @property
    def values(self) -> dict[Any, Value]:
        """All that is given here."""
        return {**(self.inner.values if self.inner else {}), **self.own}

    def with_(self, values: Mapping[Any, Value]) -> Instance:
        """The same point with more symbols, or other values of those that it has."""
        if set(values) & set(self.values):
            return Instance(self.sizes, {**self.values, **values}, self.arithmetic)
        return Instance(self.sizes, values, self.arithmetic, self)

    def without(self, symbols: Iterable[Expr]) -> Instance:
        """The same with fewer symbols."""
        gone = set(symbols)
        kept = {k: v for k, v in self.values.items() if k not in gone}
        return Instance(self.sizes, kept, self.arithmetic)

    def whole(self, size: Expr) -> int:
        """A size as a number."""
        return int(sp.sympify(size).subs(self.sizes))

    def shape(self, x: Expr) -> tuple[int, int] | None:
        """(rows, columns) of a symbol as numbers; None for a scalar."""
        shape = shape_of(x)
        return None if shape is None else (self.whole(shape[0]), self.whole(shape[1]))

    def value(self, e: Expr) -> Value:
        """The value of an expression."""
        with self.arithmetic.scope():
            return self._at(sp.sympify(e))

    def vector(self, e: Expr, size: Expr) -> list[Any]:
        """The components of e, a number repeated."""
        value = self.value(e)
        return value if isinstance(value, list) else [value] * self.whole(size)

    def like(self, e: Expr, x: Expr) -> Value:
        """The value in the shape of x, a number as that multiple of the identity."""
        if isinstance(x, Component):
            return self.vector(e, x.size)
        value, shape = self.value(e), self.shape(x)
        if shape is None:
            return self.arithmetic.single(value)
        if not sp.sympify(e).is_commutative:
            return value
        if shape[0] == shape[1]:
            return self.arithmetic.unit(value, shape[0])
        return self.arithmetic.filled(shape, value)

    def _at(self, e: Expr) -> Value:
        if self.inner is not None and not self._changed(e):
            return self.inner._at(e)
        found = self.memo.get(e)
        if found is None:
            found = self.arithmetic.checked(e, self._value(e))
            if self.arithmetic.remembered(found):
                self.memo[e] = found
        return found

    def _changed(self, e: Expr) -> bool:
        """Whether something in e has a value of its own here."""
        return any(s in self.own or s.name in self.own for s in e.free_symbols)

    def _value(self, e: Expr) -> Value:
        if e in self.own:
            return self.own[e]
        if e.is_Symbol:
            return self._symbol(e)
        number = self.arithmetic.constant(e)
        if number is not None:
            return number
        if isinstance(e, trace):
            return self.arithmetic.trace(self._at(e.args[0]))
        if isinstance(e, logdet):
            return self.arithmetic.logdet(self._at(e.args[0]))
        if isinstance(e, total):
            inside = self._at(e.args[0])
            summed = isinstance(inside, list)
            return self.arithmetic.add(inside) if summed else inside * self.whole(e.args[1])
        return self._number(self.arithmetic.spelled(e)) if e.is_commutative else self._word(e)

    def _symbol(self, e: Expr) -> Value:
        if e.name in self.own:
            value = self.own[e.name]
            return value[: self.whole(e.size)] if isinstance(e, Component) else value
        if e in self.sizes:
            return self.arithmetic.number(self.sizes[e])
        raise Undefined(f"no value for {e}")

    def _number(self, e: Expr) -> Value:
        """A commuting expression, component by component where it varies over them."""
        args = [self._at(a) for a in e.args[getattr(e, "bound", 0) :]]
        if e.is_Add:
            return _spread(lambda *a: self.arithmetic.add(a), args)
        if e.is_Mul:
            return _spread(lambda *a: self.arithmetic.multiply(a), args)
        if e.is_Pow:
            return _spread(lambda a, b: self.arithmetic.power(e, a, b), args)
        if e.is_Function:
            return _spread(lambda *a: self.arithmetic.call(e, a), args)
        raise InternalError(f"no value for {e}")

    def _word(self, e: Expr) -> Value:
        """An expression in vectors and matrices."""
        if isinstance(e, T):
            return np.swapaxes(self._at(e.args[0]), -1, -2)
        if e.is_Pow:
            once = self._at(e.base)
            once = self.arithmetic.inverse(once) if e.exp < 0 else once
            return self._dotted([once] * abs(int(e.exp)))
        numbers = [self._at(a) for a in e.args if a.is_commutative]
        parts = [self._at(a) for a in e.args if not a.is_commutative]
        if e.is_Mul:
            return self.arithmetic.scaled(self.arithmetic.multiply(numbers), self._dotted(parts))
        if e.is_Add:
            whole = sum(parts[1:], start=parts[0])
            if not numbers:
                return whole
            return whole + self.arithmetic.unit(self.arithmetic.add(numbers), whole.shape[-1])
        raise InternalError(f"no value for {e}")

    def _dotted(self, parts: list[Value]) -> Value:
        made = parts[0]
        for p in parts[1:]:
            made = self.arithmetic.dot(made, p)
        return made


def _spread(function: Callable[..., Any], args: list[Value]) -> Value:
    """Component by component where an argument is a vector."""
    sizes = {len(a) for a in args if isinstance(a, list)}
    if not sizes:
        return function(*args)
    if len(sizes) > 1:
        raise InternalError(f"vectors of sizes {sorted(sizes)} meet")
    return [
        function(*[a[k] if isinstance(a, list) else a for a in args]) for k in range(sizes.pop())
    ]
