"""Rows of arrays taken before the loops that pass over them.

    for b: y[b] += w * dx[j, b]    →    dx_row = dx[j];  for b: y[b] += w * dx_row[b]

A compiler then sees a pointer and a count, without arithmetic on indices in the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n


def rows_taken(body: tuple[t.Statement, ...], own: Callable[[str], str]) -> tuple[t.Statement, ...]:
    """The body with such rows before every loop that asks for them."""
    out: list[t.Statement] = []
    for s in body:
        if isinstance(s, t.If):
            out.append(t.If(s.condition, rows_taken(s.body, own), rows_taken(s.other, own)))
        elif isinstance(s, t.For):
            inside = rows_taken(s.body, own)
            innermost = not any(isinstance(x, t.For) for x in t.statements(inside))
            taken: dict[t.Entry, str] = {}
            if s.rows and innermost:
                inside = t.rewritten(inside, partial(_taken, loop=s, taken=taken, own=own))
            out += [t.View(name, part) for part, name in taken.items()]
            out.append(replace(s, body=inside))
        else:
            out.append(s)
    return tuple(out)


def _taken(e: n.Node, loop: t.For, taken: dict[t.Entry, str], own: Callable[[str], str]) -> n.Node:
    """An entry whose last index alone is the loop's, as an entry of a row."""
    e = e.rebuilt(lambda c: _taken(c, loop, taken, own))
    if not isinstance(e, t.Entry) or len(e.index) < 2 or e.index[-1] != n.Sym(loop.letter):
        return e
    made = {x.letter for x in t.statements(loop.body) if isinstance(x, t.For)} | {loop.letter}
    if made.intersection(*[set(x for i in e.index[:-1] for x in i.names)]):
        return e
    row = t.Entry(e.array, e.index[:-1])
    if row not in taken:
        taken[row] = own(f"{e.array}_row")
    return t.Entry(taken[row], (e.index[-1],))
