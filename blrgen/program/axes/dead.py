"""Equations that nothing needs are left out."""

from __future__ import annotations

from dataclasses import replace

from blrgen.program.axes import nodes as a


def dead(program: a.Program) -> a.Program:
    """The program without equations from which no out is made."""
    wanted = set(program.outs) | {y for _, y in program.writes}
    wanted |= {x for put in program.assembled for _, e in put.entries for x in e.names}
    more = wanted
    while more:
        more = needed_by(program.body, wanted) - wanted
        wanted |= more
    return replace(program, body=_kept(program.body, wanted))


def needed_by(body: tuple[a.Statement, ...], wanted: set[str]) -> set[str]:
    """What the equations of these names read, and what ends a recurrence with one of them."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, a.Seq):
            inside = needed_by(s.body, wanted)
            made = {x.name for x in a.lets(s.body)} & wanted
            found |= inside | ({s.stop} if s.stop and made else set())
        elif s.name in wanted:
            where = () if s.where is None else (s.where[1],)
            found |= {x for e in (*s.expressions, *s.at, *where) for x in e.names}
    return found


def _kept(body: tuple[a.Statement, ...], needed: set[str]) -> tuple[a.Statement, ...]:
    out: list[a.Statement] = []
    for s in body:
        if isinstance(s, a.Seq):
            inside = _kept(s.body, needed)
            out += [replace(s, body=inside)] if inside else []
        elif s.name in needed:
            out.append(s)
    return tuple(out)
