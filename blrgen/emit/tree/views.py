"""Rows of arrays taken before the loops that pass over them.

    for b: y[b] += w * dx[j, b]    →    dx_row = dx[j];  for b: y[b] += w * dx_row[b]

A compiler then sees a pointer and a count, without arithmetic on indices in the loop.  For it
to know that no index counts from the end, loops begin at 0:

    x_row = x[i];  for j from i: … x_row[j] …    →    x_row = x[i, i:];  for j: … x_row[j] …
"""

from __future__ import annotations

from collections.abc import Callable, Collection
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
    if not isinstance(e, t.Entry) or len(e.index) < 2 or e.index[-1] != n.Ref(loop.letter):
        return e
    made = {x.letter for x in t.statements(loop.body) if isinstance(x, t.For)} | {loop.letter}
    if made.intersection(*[set(x for i in e.index[:-1] for x in i.names)]):
        return e
    row = t.Entry(e.array, e.index[:-1])
    if row not in taken:
        taken[row] = own(f"{e.array}_row")
    return t.Entry(taken[row], (e.index[-1],))


def from_zero(body: tuple[t.Statement, ...]) -> tuple[t.Statement, ...]:
    """The body with innermost loops over rows alone, where they begin elsewhere, from 0 on."""
    out: list[t.Statement] = []
    for s in body:
        if isinstance(s, t.For):
            s = replace(s, body=from_zero(s.body))
            rows = {v.name: k for k, v in enumerate(out) if isinstance(v, t.View)}
            if s.start != t.Whole(0) and _is_over_rows(s, rows):
                for name in _arrays(s):
                    view = out[rows[name]]
                    assert isinstance(view, t.View)
                    part = t.Entry(view.part.array, (*view.part.index, t.Span(s.start)))
                    out[rows[name]] = replace(view, part=part)
                s = replace(s, start=t.Whole(0), stop=t.Difference(s.stop, s.start))
        out.append(s)
    return tuple(out)


def _arrays(loop: t.For) -> set[str]:
    """The arrays that a loop reads and writes."""
    nodes = (x for s in loop.body for e in t.expressions(s) for x in n.walk(e))
    return {x.array for x in nodes if isinstance(x, t.Entry)}


def _is_over_rows(loop: t.For, rows: Collection[str]) -> bool:
    """Whether its letter stands alone in entries of rows that are taken before it."""
    if any(not isinstance(s, t.Assign) for s in loop.body) or not _arrays(loop) <= set(rows):
        return False
    at = (n.Ref(loop.letter),)
    nodes = [x for s in loop.body for e in t.expressions(s) for x in n.walk(e)]
    entries = [x for x in nodes if isinstance(x, t.Entry)]
    return all(x.index == at for x in entries) and nodes.count(at[0]) == len(entries)
