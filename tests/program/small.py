"""Parts of rules for tests: of trees of entries, and of assignments in symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blrgen.core import Assignment
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.lowered import over_axes
from blrgen.program.axes.parts import Writes, part_of
from blrgen.program.lower import statement
from blrgen.program.lowering import Lowering
from blrgen.program.part import Part
from blrgen.program.program import Program
from blrgen.program.types import ENTRIES, Type

Body = Sequence[tuple[str, n.Node]]
AXIS = a.Letter("i", "d")


def of_trees(rule: Program, body: Body, writes: Writes = ()) -> Part:
    """Each result has entries along one axis, and names of arrays in a tree stand for theirs."""
    arrays = {x for x, kind in rule.scope.items() if kind == ENTRIES} | {x for x, _ in body}

    def entry(e: n.Node) -> n.Node:
        return a.ref(e.name, "i") if isinstance(e, n.Ref) and e.name in arrays else e

    lets = tuple(a.Let(x, ("i",), n.transform(e, entry)) for x, e in body)
    return Part(rule, (AXIS,), lets, tuple(writes), (), "d")


def of_symbols(rule: Program, *body: tuple[str, Any], writes: Writes = (), **types: Type) -> Part:
    """Assignments, in SymPy; `types` are those of results that are told."""
    known = {**rule.scope, **types}
    reading = Lowering(known)
    made = [statement(Assignment(x, e), reading, known) for x, e in body]
    return part_of(rule, reading, made, writes)


def equations(known: Mapping[str, Type], *body: tuple[str, Any], **types: Type) -> a.Program:
    """Assignments over axes, by themselves."""
    scope = {**known, **types}
    reading = Lowering(scope)
    return over_axes(reading, [statement(Assignment(x, e), reading, scope) for x, e in body])
