"""Products of vectors and matrices as equations over axes.

A sum of words is evaluated word by word from the right: A⁻¹v is a solve, vᵀw a number, vwᵀ an
outer product.  Each inner result is an equation of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import SymMat, T, Vec, logdet, trace
from blrgen.algebra.words import split
from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.mixture.entries import Equations
from blrgen.program.types import Type

Expr = Any


@dataclass(frozen=True)
class Part:
    """A value under its name: which of its two axes it has, and the letters of its batch."""

    name: str
    batch: tuple[str, ...]
    row: bool
    column: bool
    turned: bool = False  # a vector that lies

    def at(self, row: str, column: str) -> a.Ref:
        """Its entry."""
        own = [x for x, there in ((row, self.row), (column, self.column)) if there]
        return a.ref(self.name, *self.batch, *own)


@dataclass
class Words:
    """Writes the equations of sums of words."""

    made: Equations

    def number(self, e: Expr) -> n.Node:
        """A commuting expression with traces and log determinants in it."""
        inner = sorted(e.atoms(trace, logdet), key=sp.default_sort_key)
        given = {}
        for x in inner:
            letter = sp.Symbol(self.made.name("part"), real=True)
            given[letter.name] = self._trace(x) if isinstance(x, trace) else self._logdet(x)
            e = e.xreplace({x: letter})
        return self.made.entry(e, given)

    def value(self, e: Expr, row: str, column: str) -> n.Node:
        """The entry of a vector or matrix; a bare number is that multiple of the identity."""
        terms: list[n.Node] = []
        for term in sp.Add.make_args(e):
            coefficient, word = split(term)
            if not word:
                entry = n.mul(self.made.entry(coefficient), a.Is(a.Ix(row), a.Ix(column)))
            else:
                part = self.product(word)
                entry = n.mul(self.made.entry(coefficient), part.at(row, column))
            terms.append(entry)
        return n.add(*terms)

    def product(self, word: tuple[Expr, ...]) -> Part:
        """A word from the right; what has been written is taken."""
        if word not in self.made.written:
            first, *rest = word
            if not rest:
                return self._factor(first)
            right = self.product(tuple(rest))
            make = self._inverse if _is_inverse(first) else self._times
            self.made.written[word] = make(first, right)
        found: Part = self.made.written[word]
        return found

    def _factor(self, x: Expr) -> Part:
        """One factor under its name."""
        if isinstance(x, T):
            inner = self._factor(x.args[0])
            if inner.row and not inner.column:
                return Part(inner.name, inner.batch, False, True, True)
            raise InternalError(f"the transpose of {x.args[0]} has no equation")
        if x.is_Symbol:
            batch = self.made.batch.get(x.name, ())
            return Part(x.name, batch, True, isinstance(x, SymMat))
        if x.is_Add:
            return self._sum(x)
        if _is_inverse(x):
            raise UserError("no target computes an inverse matrix here", why=f"in {x}")
        raise InternalError(f"{x} has no equation")

    def _sum(self, x: Expr) -> Part:
        """A sum of words as an equation."""
        if x not in self.made.written:
            self.made.written[x] = self._written_sum(x)
        found: Part = self.made.written[x]
        return found

    def _written_sum(self, x: Expr) -> Part:
        vector = any(isinstance(s, Vec) for s in x.args) or not _square(x)
        i, j, _ = self.made.axes.places
        own = (i,) if vector else (i, j)
        batch = self._batch(x)
        name = self.made.name("whole")
        entry = self.value(x, i, j)
        structure = "dense" if vector else "sym"
        self.made.put(name, (*batch, *own), entry, structure)
        kind = Type(("d",) * len(own), structure)
        self.made.types[name], self.made.batch[name] = kind, batch
        return Part(name, batch, True, not vector)

    def _batch(self, x: Expr) -> tuple[str, ...]:
        """The letters of the batch of all that stands in an expression, in one order."""
        used = {letter for s in x.free_symbols for letter in self.made.batch.get(s.name, ())}
        return tuple(k for k in (self.made.axes.component, self.made.axes.other) if k in used)

    def _joined(self, *parts: Part) -> tuple[str, ...]:
        used = {letter for p in parts for letter in p.batch}
        return tuple(k for k in (self.made.axes.component, self.made.axes.other) if k in used)

    def _inverse(self, x: Expr, right: Part) -> Part:
        """A⁻¹ times what stands to the right of it."""
        matrix = self._factor(x.base)
        i, j, c = self.made.axes.places
        if not right.row:
            raise InternalError(f"{x} times a number")
        name, batch = self.made.name("solved"), self._joined(matrix, right)
        own = (i, c) if right.column else (i,)
        solved = a.Lin("solve", (matrix.at(i, j), right.at(j, c)))
        rows = [j if k == i else k for k in own]
        self.made.put(name, (*batch, *rows), solved)
        return Part(name, batch, True, right.column)

    def _times(self, x: Expr, right: Part) -> Part:
        """A factor times what stands to the right of it: a sum, or an outer product."""
        left = self._factor(x)
        i, j, c = self.made.axes.places
        batch = self._joined(left, right)
        inner = left.column
        if inner != right.row:
            raise InternalError(f"{x} does not fit what it multiplies")
        entry: n.Node = n.mul(left.at(i, j), right.at(j, c))
        if inner:
            entry = a.Red("sum", (j,), entry)
        own = [k for k, there in ((i, left.row), (c, right.column)) if there]
        name = self.made.name("product")
        self.made.put(name, (*batch, *own), entry)
        return Part(name, batch, left.row, right.column)

    def _trace(self, x: Expr) -> n.Node:
        """tr of a word; cyclic, so that a number stays one."""
        coefficient, word = split(x.args[0])
        for k in range(len(word)):
            turned = (*word[k:], *word[:k])
            if isinstance(turned[0], T):
                part = self.product(turned)
                break
        else:
            raise InternalError(f"{x} has no equation")
        if part.row or part.column:
            raise InternalError(f"{x} is no number by its word")
        return n.mul(self.made.entry(coefficient), part.at("", ""))

    def _logdet(self, x: Expr) -> n.Node:
        """log |A|."""
        matrix = self._factor(x.args[0])
        i, j, _ = self.made.axes.places
        name = self.made.name("logdet")
        self.made.put(name, matrix.batch, a.Lin("logdet", (matrix.at(i, j),)))
        return a.ref(name, *matrix.batch)


def _is_inverse(x: Expr) -> bool:
    return bool(x.is_Pow and x.exp == -1 and not x.is_commutative)


def _square(x: Expr) -> bool:
    return any(isinstance(s, SymMat) for s in x.free_symbols)
