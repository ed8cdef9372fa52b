"""Symmetric matrices read along their rows: F[i,j] * P[j,l] summed over j is F[i,j] * P[l,j]."""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def turned(program: a.Program) -> a.Program:
    """The program after `anf` with the letter of a sum last, where a matrix is symmetric."""
    symmetric = {x for x, s in program.structures.items() if s in ("sym", "spd")}

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        return (replace(s, expr=_turned(s.expr, symmetric)),)

    return replace(program, body=a.mapped(program.body, let))


def _turned(e: n.Node, symmetric: set[str]) -> n.Node:
    if not isinstance(e, a.Red) or len(e.letters) > 1:
        return e
    summed = a.Ix(e.letters[0])

    def on(x: n.Node) -> n.Node:
        if isinstance(x, a.Ref) and x.name in symmetric and x.index[-2] == summed:
            *batch, i, j = x.index
            return x if i == j else a.Ref(x.name, (*batch, j, i))
        return x.rebuilt(on)

    return replace(e, arg=on(e.arg))
