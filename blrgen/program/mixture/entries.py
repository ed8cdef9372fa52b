"""Expressions of numbers and vectors by their entries, as equations over axes.

A quantity has letters of its own: those of the batch (the component k, or the pair k, j) and
one for each axis of its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.lowering import Lowering
from blrgen.program.program import fresh
from blrgen.program.types import SCALAR, Type

Expr = Any


@dataclass(frozen=True)
class Axes:
    """The letters of a program: components, and places in a vector; "" of a plain number."""

    component: str
    other: str
    places: tuple[str, ...]  # three that run over the same axis; none where θ is a number
    count: str = "K"
    size: str = "d"


@dataclass
class Equations:
    """Equations under way, and the letters that each quantity carries before its own axes."""

    axes: Axes
    batch: dict[str, tuple[str, ...]]  # name → letters of the batch
    types: dict[str, Type]  # name → its axes, besides those of the batch
    taken: set[str]
    lets: list[a.Let] = field(default_factory=list)
    written: dict[Any, Any] = field(default_factory=dict)  # what has an equation already

    def put(self, name: str, letters: Iterable[str], expr: n.Node, structure: str = "dense") -> str:
        """An equation; its name."""
        self.lets.append(a.Let(name, tuple(letters), expr, structure))
        return name

    def name(self, wanted: str) -> str:
        """A name that nothing has."""
        found = fresh(wanted, self.taken)
        self.taken.add(found)
        return found

    def own(self, kind: Type) -> tuple[str, ...]:
        """The letters of a value of that type; where θ is a number there are none."""
        return self.axes.places[: len(kind.shape)]

    def ref(self, name: str, own: Iterable[str] | None = None) -> a.Ref:
        """An entry of a quantity, by default at the letters of its axes."""
        places = self.own(self.types.get(name, SCALAR)) if own is None else tuple(own)
        return a.ref(name, *self.batch.get(name, ()), *places)

    def entry(self, e: Expr, replaced: Mapping[str, n.Node] | None = None) -> n.Node:
        """A commuting expression at one place of the batch and of the vector."""
        types = {s.name: self.types.get(s.name, SCALAR) for s in e.free_symbols}
        found = Lowering(types).lower(e, where="in a mixture")
        given = dict(replaced or {})

        def put(x: n.Node) -> n.Node:
            if isinstance(x, n.Ref):
                if x.name in given:
                    return given[x.name]
                return a.Extent(self.axes.size) if x.name == self.axes.size else self.ref(x.name)
            if isinstance(x, a.Red):
                return a.Red(x.op, self.axes.places[:1], x.arg)
            return x

        return n.transform(found, put)
