"""What a recurrence reads of itself one step back, apart from what is kept for later.

    for t: a[t] = … a[t-1] …;  b[n] = … a[n] …
    →   for t: a_now[t] = … a_now[t-1] …; a[t] = a_now[t]

The running value needs room for one index; the copy is there only if somebody reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh


def lagged(body: tuple[a.Statement, ...]) -> Iterator[tuple[str, a.Seq]]:
    """What is read one step back in the recurrence that makes it, and that recurrence."""
    for s in body:
        if not isinstance(s, a.Seq):
            continue
        made = {x.name: x.letters for x in a.lets(s.body)}
        for r in (r for x in a.lets(s.body) for e in x.expressions for r in a.refs(e)):
            places = zip(made.get(r.name, ()), r.index, strict=False)
            if any(x == s.letter and isinstance(i, a.Lag) for x, i in places):
                yield r.name, s
        yield from lagged(s.body)


def kept(program: a.Program) -> a.Program:
    """The program with running values under names of their own."""
    names = taken(program)
    body = program.body
    outs = {*program.outs, *(y for _, y in program.writes)}
    for name, seq in dict.fromkeys(lagged(body)):
        if name in outs or _is_read_outside(program, name, seq):
            now = fresh(f"{name}_now", names)
            names.add(now)
            body = _renamed(body, seq.letter, name, now)
    return replace(program, body=body)


def _is_read_outside(program: a.Program, name: str, seq: a.Seq) -> bool:
    """Whether anything but the recurrence itself needs more than its last value."""
    inside = set(a.lets(seq.body))
    others = [e for x in program.lets if x not in inside for e in x.expressions]
    own = [r for e in others for r in a.refs(e) if r.name == name]
    return any(a.Last(seq.letter) not in r.index for r in own)


def _renamed(
    body: tuple[a.Statement, ...], letter: str, name: str, now: str
) -> tuple[a.Statement, ...]:
    out: list[a.Statement] = []
    for s in body:
        if not isinstance(s, a.Seq) or name not in {x.name for x in a.lets(s.body)}:
            out.append(s)
        elif s.letter != letter:
            out.append(replace(s, body=_renamed(s.body, letter, name, now)))
        else:
            out.append(replace(s, body=_running(s.body, name, now)))
    return tuple(out)


def _running(body: tuple[a.Statement, ...], name: str, now: str) -> tuple[a.Statement, ...]:
    def on(e: n.Node | None) -> n.Node | None:
        return None if e is None else a.renamed(e, {name: now})

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        expr = a.renamed(s.expr, {name: now})
        new = replace(s, expr=expr, first=on(s.first), init=on(s.init))
        if s.name != name:
            return (new,)
        copy = a.Let(name, s.letters, a.Ref(now, tuple(map(a.Ix, s.letters))), s.structure)
        return replace(new, name=now), copy

    return a.mapped(body, let)
