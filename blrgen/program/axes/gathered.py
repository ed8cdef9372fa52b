"""What is read by labels lies label by label, so that a label's entries are side by side.

    b[k,v] = exp(a[k,v]); q[n,k] = b[k,w[n]]   →   b[v,k] = exp(a[k,v]); q[n,k] = b[w[n],k]

So does what is added up by labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a

T = TypeVar("T")


def gathered(program: a.Program) -> a.Program:
    """The program after `anf` with such axes first, where nothing else says how they lie."""
    fixed = {*program.outs, *(y for _, y in program.writes)}
    fixed |= {x for put in program.assembled for _, e in put.entries for x in e.names}
    linear = (e for s in program.lets for x in s.expressions for e in n.walk(x)
              if isinstance(e, a.Lin))  # fmt: skip
    fixed |= {r.name for e in linear for r in e.args}
    outside = {s.name: s for s in program.body if isinstance(s, a.Let)}
    found = {x: p for x, p in _places(program) if x in outside and x not in fixed}
    found = {x: p for x, p in found.items() if outside[x].structure == "dense"
             and not isinstance(outside[x].expr, a.Lin)}  # fmt: skip
    if not found:
        return program

    def on(e: n.Node) -> n.Node:
        if isinstance(e, a.Ref) and e.name in found:
            return a.Ref(e.name, _first(e.index, found[e.name]))
        return e

    def changed(e: n.Node | None) -> n.Node | None:
        return None if e is None else n.transform(e, on)

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        at = tuple(n.transform(i, on) for i in s.at)
        s = replace(s, expr=n.transform(s.expr, on), first=changed(s.first), init=changed(s.init),
                    at=at)  # fmt: skip
        if s.name not in found:
            return (s,)
        p = found[s.name]
        return (replace(s, letters=_first(s.letters, p), at=_first(s.at, p) if s.at else ()),)

    return replace(program, body=a.mapped(program.body, let))


def _places(program: a.Program) -> Iterator[tuple[str, int]]:
    """Names with the axis, not the first, at which labels stand."""
    for s in program.lets:
        pairs = [(s.name, s.at), *((r.name, r.index) for e in s.expressions for r in a.refs(e))]
        for name, index in pairs:
            labels = [p for p, i in enumerate(index) if isinstance(i, a.At)]
            if len(labels) == 1 and labels[0] > 0:
                yield name, labels[0]


def _first(index: tuple[T, ...], place: int) -> tuple[T, ...]:
    return (index[place], *index[:place], *index[place + 1 :])
