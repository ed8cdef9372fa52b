"""Comparisons of values: whole numbers, numbers of axes, texts, entries of arrays."""

from __future__ import annotations

from typing import Any

from blrgen.validate.reading.arithmetic import apply
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.values import (
    Array,
    Cond,
    Index,
    Lengths,
    Num,
    Rank,
    Several,
    Size,
    Text,
    Whole,
)

SIGNS = {"Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge", "Eq": "eq", "NotEq": "ne"}


def compare(mc: Machine, op: str, a: Any, b: Any) -> Any:
    """a < b and its like; entry by entry on arrays."""
    if op in ("gt", "ge"):
        return compare(mc, {"gt": "lt", "ge": "le"}[op], b, a)
    if isinstance(a, Whole) and isinstance(b, Whole):
        mc.compared(a, b)
        x, y = a.value, b.value
        known = {"lt": x < y, "le": x <= y, "eq": x == y, "ne": x != y}[op]
        return Cond(mc.graph.truth(known))
    if not mc.generic and (isinstance(a, Several) or isinstance(b, Several)):
        raise mc.refuse("a comparison of what may be as long as an array")
    if isinstance(a, tuple) and isinstance(b, tuple) and op in ("eq", "ne"):
        if isinstance(a, Lengths) != isinstance(b, Lengths):
            mc.bounds.axes = max(mc.bounds.axes, len(a if isinstance(b, Lengths) else b))
        same = len(a) == len(b) and all(
            mc.truth(compare(mc, "eq", x, y)) for x, y in zip(a, b, strict=True)
        )
        return Cond(mc.graph.truth(same == (op == "eq")))
    if isinstance(a, Rank) or isinstance(b, Rank):
        return _compare_ranks(mc, op, a, b)
    if isinstance(a, Text) and isinstance(b, Text) and op in ("eq", "ne"):
        return Cond(mc.graph.truth((a.text == b.text) == (op == "eq")))
    if isinstance(a, Size | Index) or isinstance(b, Size | Index):
        if isinstance(a, Size) and a == b and op in ("eq", "ne", "le", "lt"):
            return Cond(mc.graph.truth(op in ("eq", "le")))
        raise mc.sizes("a condition on a length")
    for x in (a, b):
        if not isinstance(x, Whole | Num | Array):
            raise mc.refuse(f"a comparison with {mc.called(x)}")
        if isinstance(x, Array) and x.kind == "b":
            raise mc.refuse("a comparison of truth values")
    return apply(mc, lambda x, y: ordered(mc, op, x, y), a, b, kind="b")


def ordered(mc: Machine, op: str, x: Node, y: Node) -> Node:
    """x < y or x ≤ y where one is the smallest or the largest of several: of each of them."""
    g = mc.graph
    if op in ("lt", "le"):
        for n, every in ((y, "min"), (x, "max")):
            if n.op in ("min", "max"):
                pairs = [(x, a) if n is y else (a, y) for a in n.args]
                left, right = (ordered(mc, op, *p) for p in pairs)
                return g.both(left, right) if n.op == every else g.either(left, right)
    return g.compare(op, x, y)


def _compare_ranks(mc: Machine, op: str, a: Any, b: Any) -> Cond:
    """Numbers of axes; what they are compared with says up to which the code is read."""
    numbers = []
    for x in (a, b):
        if isinstance(x, Whole) and x.mark is None:
            mc.bounds.axes = max(mc.bounds.axes, abs(x.value) + 1)
        elif not isinstance(x, Rank):
            raise mc.refuse(f"a number of axes compared with {mc.called(x)}")
        numbers.append(x.value)
    x, y = numbers
    return Cond(mc.graph.truth({"lt": x < y, "le": x <= y, "eq": x == y, "ne": x != y}[op]))
