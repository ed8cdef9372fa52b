"""Rows of arrays, and single entries, taken before the loops that pass over them.

    for b: y[b] += w[i] * dx[j, b]    →    dx_row = dx[j];  w_one = w[i];  for b: …

A compiler then sees pointers, a count and numbers, without arithmetic on indices in the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n

Own = Callable[[str], str]


def rows_taken(
    body: tuple[t.Statement, ...], own: Own, roots: dict[str, str] | None = None
) -> tuple[t.Statement, ...]:
    """The body with such rows and entries before every innermost loop that asks for them.

    `roots` says of which array each row is a part.
    """
    roots = {} if roots is None else roots
    out: list[t.Statement] = []
    for s in body:
        if isinstance(s, t.View):
            roots[s.name] = roots.get(s.part.array, s.part.array)
        if isinstance(s, t.If):
            parts = rows_taken(s.body, own, roots), rows_taken(s.other, own, roots)
            out.append(t.If(s.condition, *parts))
        elif isinstance(s, t.For):
            inside = rows_taken(s.body, own, roots)
            innermost = not any(isinstance(x, t.For) for x in t.statements(inside))
            before: list[t.Statement] = []
            if s.rows and innermost:
                inside = _entries(inside, s, before, own, roots)
                inside = _rows(inside, s, before, own, roots)
            out += [*before, replace(s, body=inside)]
        else:
            out.append(s)
    return tuple(out)


def _entries(
    body: tuple[t.Statement, ...],
    loop: t.For,
    before: list[t.Statement],
    own: Own,
    roots: dict[str, str],
) -> tuple[t.Statement, ...]:
    """Entries at places that the loop does not change, of arrays that it does not write."""
    targets = [s.target for s in t.statements(body) if isinstance(s, t.Assign | t.Increase)]
    written = {roots.get(x.array, x.array) for x in targets if isinstance(x, t.Entry)}
    changing = {loop.letter} | {x.name for x in targets if isinstance(x, n.Sym)}
    taken: dict[t.Entry, str] = {}

    def on(e: n.Node) -> n.Node:
        if isinstance(e, t.Entry) and not any(isinstance(i, t.Span) for i in e.index):
            fixed = not changing.intersection(*[{x for i in e.index for x in i.names}])
            if fixed and roots.get(e.array, e.array) not in written:
                if e not in taken:
                    taken[e] = own(f"{e.array}_one")
                return n.Sym(taken[e])
        return e.rebuilt(on)

    body = t.rewritten(body, on)
    before += [t.Assign(n.Sym(name), e) for e, name in taken.items()]
    return body


def _rows(
    body: tuple[t.Statement, ...],
    loop: t.For,
    before: list[t.Statement],
    own: Own,
    roots: dict[str, str],
) -> tuple[t.Statement, ...]:
    """Rows of arrays of which the loop's letter is the last index."""
    taken: dict[t.Entry, str] = {}
    body = t.rewritten(body, lambda e: _taken(e, loop, taken, own))
    before += [t.View(name, part) for part, name in taken.items()]
    roots.update({name: roots.get(e.array, e.array) for e, name in taken.items()})
    return body


def _taken(e: n.Node, loop: t.For, taken: dict[t.Entry, str], own: Own) -> n.Node:
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
