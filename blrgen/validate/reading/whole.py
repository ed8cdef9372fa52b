"""Whole numbers of NumPy have 64 bits: what may need more is refused, as it would wrap around.

Numbers of Python have any length, and those that code writes are bounded apart.
"""

from __future__ import annotations

from typing import Any

from blrgen.validate.reading.graph import Node, reachable
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.values import Array, Num, Whole

MOST = 2**62
MOST_STEPS = 2**31  # of the counter


def magnitude(n: Node) -> int | None:
    """A bound of |n|, of a node that is made of whole numbers; None where none is seen."""
    found: dict[int, int | None] = {}
    for x in reachable([n]):
        found[x.index] = _bound(x, [found[a.index] for a in x.args])
    return found[n.index]


def _bound(n: Node, args: list[int | None]) -> int | None:
    if n.number is not None:
        return abs(int(n.number)) + 1 if n.number.denominator > 1 else abs(int(n.number))
    if n.op == "symbol":
        return MOST_STEPS
    if n.is_truth or n.op == "sign":
        return 1
    rest = args[1:] if n.op == "case" else args
    known = [a for a in rest if a is not None and a <= MOST]
    if len(known) < len(rest) or not known:
        return None
    if n.op in ("add", "sub"):
        return sum(known)
    if n.op == "mul":
        return known[0] * known[1]
    if n.op in ("neg", "abs", "case", "max", "min"):
        return max(known)
    if n.op == "pow":
        y = n.args[1].number
        return known[0] ** int(y) if y is not None and 0 <= y <= 64 else None
    return None


def fits(mc: Machine, *values: Any) -> None:
    """Refuse whole numbers of NumPy that may not fit."""
    for x in values:
        nodes = x.data.reshape(-1) if isinstance(x, Array) else (
            [mc.node(x)] if isinstance(x, Num | Whole) else []
        )  # fmt: skip
        for n in nodes:
            bound = magnitude(n)
            if bound is None or bound > MOST:
                raise mc.refuse("a whole number of NumPy that may not fit into 64 bits")
