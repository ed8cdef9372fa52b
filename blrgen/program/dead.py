"""Equations that nothing reads are dropped."""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.part import Part


def dead(part: Part) -> Part:
    """The part without equations of its body that no written value and no later one needs.

    A factor stays, with what it is the factor of: it is the look whether that is definite.
    """
    needed = {local for _, local in part.writes}
    kept: list[a.Let] = []
    for s in reversed(part.body):
        if s.name in needed or (isinstance(s.expr, a.Lin) and s.expr.op == "chol"):
            kept.append(s)
            needed.update(n.names(s.expr))
    return replace(part, body=tuple(reversed(kept)))
