"""The arguments of a matrix rule: arrays of symbols of one size, or words for every size."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.algebra.ranks import SymMat
from blrgen.core import Rule
from blrgen.decide.matrices import size_at
from blrgen.validate.reading.graph import Graph
from blrgen.validate.reading.signals import Refused
from blrgen.validate.reading.values import Array, Num, Tensor

ROWS = ("vector", "symmetric", "matrix")


class Entries:
    """The arguments of a matrix rule, as arrays of symbols of one size.

    Data have rows of their own: a rule states sums over them as products XᵀX, for any number.
    """

    def __init__(self, rule: Rule, graph: Graph, d: int, rows: int = 0) -> None:
        self.rule, self.graph, self.d, self.rows = rule, graph, d, rows or d

    def shape(self, name: str) -> tuple[int, ...]:
        """The lengths of a quantity's axes."""
        q = self.rule[name]
        sizes = tuple(size_at(n, self.d) for n in q.symbol.shape)
        if q.kind == "data":
            sizes = (self.rows, *sizes[1:])
        return sizes[:1] if q.rank == "vector" else sizes

    def value(self, name: str) -> Any:
        """Symbols; those of a symmetric matrix stand on both sides."""
        if name not in self.rule:
            raise Refused(f"the argument {name}, which the rule computes")
        q = self.rule[name]
        if q.rank not in ROWS:
            return Num(self.graph.symbol(name), integral=q.kind == "counter")
        data = np.empty(self.shape(name), dtype=object)
        for index in np.ndindex(*data.shape):
            at = tuple(sorted(index)) if isinstance(q.symbol, SymMat) else index
            data[index] = self.graph.symbol(f"{name}{list(at)}")
        return Array(data)


class Words:
    """The same of any size."""

    def __init__(self, rule: Rule, graph: Graph) -> None:
        self.rule, self.graph = rule, graph

    def value(self, name: str) -> Any:
        q = self.rule[name]
        if q.rank not in ROWS:
            return Num(self.graph.symbol(name))
        return Tensor(q.symbol, 1 if q.rank == "vector" else 2)
