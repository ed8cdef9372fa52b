"""Values of functions that go across an array: first side by side, then where they belong.

    for k: for j: a[j,k] = exp(b[k,j])
    →   column = empty(J);  for k: (for j: column[j] = exp(b[k,j]);  for j: a[j,k] = column[j])

A store with a stride keeps the function from being computed for many places at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n
from blrgen.program.axes.share import CHEAP

Body = tuple[t.Statement, ...]


def apart(body: Body, own: Callable[[str], str]) -> Body:
    """The body with such loops in two; `own` makes a name that nothing else has."""
    made, out = _apart(body, own, frozenset())
    return (*made, *out)


def _apart(
    body: Body, own: Callable[[str], str], around: frozenset[str]
) -> tuple[list[t.Make], list[t.Statement]]:
    """Memory that may be made before the body, and the body; `around` are the loops' letters."""
    made: list[t.Make] = []
    out: list[t.Statement] = []
    for s in body:
        if isinstance(s, t.If):
            out.append(t.If(s.condition, apart(s.body, own), apart(s.other, own)))
        elif isinstance(s, t.For):
            inner, inside = _apart(s.body, own, around | {s.letter})
            columns, loops = _in_two(replace(s, body=tuple(inside)), own, around)
            made += [*inner, *columns]
            out += loops
        else:
            out.append(s)
    return _before(made, out, _assigned(body) | around)


def _before(
    made: list[t.Make], body: list[t.Statement], found: frozenset[str]
) -> tuple[list[t.Make], list[t.Statement]]:
    """What can be made further out, and the body with the rest before it is used."""
    far = [x for x in made if not found.intersection(x.shape[0].names)]
    for x in (x for x in made if x not in far):
        at = next(k for k, s in enumerate(body) if x.name in _arrays((s,)))
        body = [*body[:at], x, *body[at:]]
    return far, body


def _assigned(body: Body) -> frozenset[str]:
    targets = (s.target for s in t.statements(body) if isinstance(s, t.Assign | t.Increase))
    return frozenset(x.name for x in targets if isinstance(x, n.Ref))


def _arrays(body: Body) -> set[str]:
    nodes = (x for s in t.statements(body) for e in t.expressions(s) for x in n.walk(e))
    return {x.array for x in nodes if isinstance(x, t.Entry)}


def _in_two(
    loop: t.For, own: Callable[[str], str], around: frozenset[str]
) -> tuple[list[t.Make], list[t.Statement]]:
    """A loop of plain values, those that go across an array in a loop after it."""
    plain = all(isinstance(s, t.Assign | t.Increase) for s in loop.body)
    whole = loop.start == t.Whole(0) and loop.step is None and not loop.side and not loop.down
    if not plain or not whole or not any(map(_calls, loop.body)):
        return [], [loop]
    made: list[t.Make] = []
    first: list[t.Statement] = []
    then: list[t.Statement] = []
    for s in loop.body:
        if isinstance(s, t.Assign) and isinstance(s.target, t.Entry) and _across(s, loop, around):
            column = t.Entry(own(f"{s.target.array}_column"), (t.name(loop.letter),))
            made.append(t.Make(column.array, (loop.stop,)))
            first.append(t.Assign(column, s.value))
            then.append(t.Assign(s.target, column))
        else:
            first.append(s)
    if not then:
        return [], [loop]
    return made, [replace(loop, body=tuple(first)), replace(loop, body=tuple(then))]


def _across(s: t.Assign, loop: t.For, around: frozenset[str]) -> bool:
    """Whether the loop passes over an axis that is not the last, and nothing else meets it."""
    target = s.target
    assert isinstance(target, t.Entry)
    *outer, last = target.index
    others = [x for y in loop.body for e in t.expressions(y) for x in n.walk(e)]
    met = [x for x in others if isinstance(x, t.Entry) and x.array == target.array]
    return (
        t.name(loop.letter) in outer
        and sum(loop.letter in i.names for i in target.index) == 1
        and isinstance(last, n.Ref)
        and last.name in around
        and len(met) == 1
    )


def _calls(s: t.Statement) -> bool:
    nodes = [x for e in t.expressions(s) for x in n.walk(e)]
    return any(isinstance(x, n.Call) and x.name not in CHEAP for x in nodes)
