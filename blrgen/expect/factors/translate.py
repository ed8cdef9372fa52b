"""A family's SymPy expressions in the index algebra, whatever ring they are of.

Scalars are expressions without letters; x of a component family is x[k] at the letter k;
a word of matrices is a sum over the letters between its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component, Head, Last, total
from blrgen.algebra.indexed.build import (
    add,
    delta,
    headed,
    moved,
    multiplied,
    number,
    power,
    scaled,
    size,
    summed,
)
from blrgen.algebra.indexed.functions import applied, exp, lgamma, log, pi, raised
from blrgen.algebra.indexed.matrices import inverse, logdet
from blrgen.algebra.indexed.values import LAST, ONE, Expression, Index
from blrgen.algebra.ranks import T, rank_of, shape_of, trace
from blrgen.algebra.ranks import logdet as ranked_logdet
from blrgen.errors import InternalError

Expr = Any
Places = tuple[Index, ...]
Value = Callable[[Places], Expression]  # an array: what it is at its letters


@dataclass
class Translator:
    """The arrays that stand for a family's symbols, and the axes of its sizes."""

    arrays: Mapping[str, Value]
    axes: Mapping[str, str]  # the family's size → the axis it is here
    counter: Iterator[int] = field(default_factory=lambda: count(1))
    vectors: Mapping[str, Expr] = field(default_factory=dict)  # sizes, where `last` stands alone

    def letter(self, axis: str) -> Index:
        """A letter that nothing else has."""
        return Index(axis, f"^{next(self.counter)}")

    def axis(self, extent: Expr) -> str:
        """The axis of a size such as d or 3; of K − 1 it is that of K, the last left out."""
        if extent.is_Integer:
            return str(extent)
        named = extent.free_symbols
        name = str(next(iter(named)))
        return self.axes.get(name, name)

    def scalar(self, e: Expr, k: Index | None = None) -> Expression:
        """A commuting expression, components of vectors taken at the letter k."""
        if e.is_Rational:
            return number(Fraction(int(e.p), int(e.q)))
        if e is sp.pi:
            return pi()
        if e is sp.E:
            return exp(ONE)
        if e.is_Symbol:
            return self.symbol(e, k)
        if e.is_Add:
            return add(*[self.scalar(a, k) for a in e.args])
        if e.is_Mul:
            return multiplied(*[self.scalar(a, k) for a in e.args])
        if e.is_Pow:
            return raised(self.scalar(e.base, k), self.scalar(e.exp, k))
        if isinstance(e, total):
            return self.total(e)
        if isinstance(e, trace):
            return self.trace(e)
        if isinstance(e, ranked_logdet):
            axis = self.rows(e)
            i, j = self.letter(axis), self.letter(axis)
            return logdet(self.matrix(e.args[0], i, j), i, j)
        return self.function(e, k)

    def symbol(self, e: Expr, k: Index | None) -> Expression:
        """A parameter, a variable, or a size."""
        array = self.arrays.get(e.name)
        if array is None:
            return size(self.axis(e))
        if isinstance(e, Last):
            return array((Index(self.axis(self.vectors[e.name]), LAST),))
        if isinstance(e, Component):
            if k is None:
                raise InternalError(f"{e} has no component here")
            return array((k,))
        return array(())

    def total(self, e: Expr) -> Expression:
        """Σ_k, or over all k but the last."""
        body, extent = e.args
        k = self.letter(self.axis(extent))
        inner = self.scalar(body, k)
        if is_head(body, extent):
            return headed(inner, k, Index(k.axis, LAST))
        return summed(inner, k)

    def function(self, e: Expr, k: Index | None) -> Expression:
        """A scalar function; factorials and binomials by log Γ, hyperbolic ones by exp."""
        args = [self.scalar(a, k) for a in e.args]
        name = type(e).__name__.lower()
        special = _SPECIAL.get(name)
        return special(*args) if special else applied(_NAMES.get(name, name), *args)

    def trace(self, e: Expr) -> Expression:
        """tr X = Σ_i X_ii; a number (one row) is itself."""
        body = e.args[0]
        rows = e.args[1] if len(e.args) > 1 else _rows(body)
        if rows == 1:
            return self.matrix(body, None, None)
        i = self.letter(self.axis(rows))
        return summed(self.matrix(body, i, i), i)

    def rows(self, e: Expr) -> str:
        return self.axis(e.args[1] if len(e.args) > 1 else _rows(e.args[0]))

    def matrix(self, e: Expr, i: Index | None, j: Index | None) -> Expression:
        """An element of a word or a sum of words; None where there is one row or column."""
        if e.is_commutative:
            own = self.scalar(e)
            return own if i is None or j is None else multiplied(own, delta(i, j))
        if e.is_Symbol:
            return self.arrays[e.name](tuple(x for x in (i, j) if x is not None))
        if e.is_Add:
            return add(*[self.matrix(a, i, j) for a in e.args])
        if isinstance(e, T):
            return self.matrix(e.args[0], j, i)
        if e.is_Pow:
            return self.matrix_power(e, i, j)
        scalars, word = e.args_cnc()
        return multiplied(*[self.scalar(a) for a in scalars], self.word(word, i, j))

    def word(self, word: list[Expr], i: Index | None, j: Index | None) -> Expression:
        """A product of matrices: a sum over the letters between them."""
        first, *rest = word
        if not rest:
            return self.matrix(first, i, j)
        columns = (shape_of(first) or (1, 1))[1]
        if columns == 1:
            return multiplied(self.matrix(first, i, None), self.word(rest, None, j))
        k = self.letter(self.axis(columns))
        return summed(multiplied(self.matrix(first, i, k), self.word(rest, k, j)), k)

    def matrix_power(self, e: Expr, i: Index | None, j: Index | None) -> Expression:
        """X^n, or inv(X)^n for a negative n."""
        assert i is not None and j is not None
        times = int(e.exp)
        if times > 0:
            return self.word([e.base] * times, i, j)
        r, c = self.letter(i.axis), self.letter(i.axis)
        once = inverse(self.matrix(e.base, r, c), r, c)
        found = moved(once, {r: i, c: j})
        for _ in range(-times - 1):
            k = self.letter(i.axis)
            found = summed(multiplied(moved(found, {j: k}), moved(once, {r: k, c: j})), k)
        return found

    def pairing(self, eta: Value, t: Expr) -> Expression:
        """⟨η, T⟩: a product of numbers, Σ_k of vectors by components, Σ_ij of matrices."""
        if not t.is_commutative:
            return self.ranked_pairing(eta, t)
        if not _varies(t):
            return multiplied(eta(()), self.scalar(t))
        extent = _size_of(t)
        k = self.letter(self.axis(extent))
        inner = multiplied(eta((k,)), self.scalar(t, k))
        return headed(inner, k, Index(k.axis, LAST)) if is_head(t, extent) else summed(inner, k)

    def ranked_pairing(self, eta: Value, t: Expr) -> Expression:
        rows, columns = shape_of(t) or (1, 1)
        i = self.letter(self.axis(rows))
        if rank_of(t) == "vector":
            return summed(multiplied(eta((i,)), self.matrix(t, i, None)), i)
        j = self.letter(self.axis(columns))
        return summed(summed(multiplied(eta((i, j)), self.matrix(t, i, j)), i), j)


def is_head(e: Expr, extent: Expr) -> bool:
    """Whether a sum over components leaves out the last: its size is one less than a name."""
    return bool(e.atoms(Head)) or (extent.is_Add and extent.as_coeff_Add()[0] == -1)


def _varies(e: Expr) -> bool:
    from blrgen.algebra.components import varies

    return varies(e)


def _size_of(e: Expr) -> Expr:
    from blrgen.algebra.components import size_of

    return size_of(e)


def _rows(e: Expr) -> Expr:
    from blrgen.algebra.ranks import rows_of

    return rows_of(e)


def _factorial(x: Expression) -> Expression:
    return exp(lgamma(add(x, ONE)))


def _binomial(n: Expression, k: Expression) -> Expression:
    rest = add(n, scaled(k, -1), ONE)
    parts = lgamma(add(n, ONE)), scaled(lgamma(add(k, ONE)), -1), scaled(lgamma(rest), -1)
    return exp(add(*parts))


def _cosh(x: Expression) -> Expression:
    return scaled(add(exp(x), exp(scaled(x, -1))), Fraction(1, 2))


def _sinh(x: Expression) -> Expression:
    return scaled(add(exp(x), scaled(exp(scaled(x, -1)), -1)), Fraction(1, 2))


def _multigammaln(a: Expression, d: Expression) -> Expression:
    """Written out where the size is a number: d(d−1)/4 log π + Σ_j log Γ(a + (1−j)/2)."""
    n = d.number
    if n is None:
        return applied("multigammaln", a, d)
    shifted = [lgamma(add(a, number(Fraction(1 - j, 2)))) for j in range(1, int(n) + 1)]
    return add(scaled(log(pi()), n * (n - 1) / 4), *shifted)


_SPECIAL: dict[str, Callable[..., Expression]] = {
    "factorial": _factorial, "binomial": _binomial, "cosh": _cosh, "sinh": _sinh,
    "gamma": lambda x: exp(lgamma(x)), "multigammaln": _multigammaln,
    "sqrt": lambda x: power(x, Fraction(1, 2)),
    "log1p": lambda x: log(add(ONE, x)), "expm1": lambda x: add(exp(x), number(-1)),
    "beta": lambda a, b: exp(add(lgamma(a), lgamma(b), scaled(lgamma(add(a, b)), -1))),
}  # fmt: skip
_NAMES = {"loggamma": "lgamma", "abs": "abs"}


def opened(name: str, *arguments: Expression) -> Expression:
    """A scalar function of the language by its name."""
    special = _SPECIAL.get(name)
    return special(*arguments) if special else applied(_NAMES.get(name, name), *arguments)
