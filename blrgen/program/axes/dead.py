"""Equations that nothing needs are left out."""

from __future__ import annotations

from dataclasses import replace

from blrgen.program.axes import nodes as a


def dead(program: a.Program) -> a.Program:
    """The program without equations from which no out is made."""
    wanted = set(program.outs) | {y for _, y in program.writes}
    wanted |= {x for put in program.assembled for _, e in put.entries for x in e.names}
    body = program.body
    while True:
        needed = wanted | read(body)
        kept = _kept(body, needed)
        if kept == body:
            return replace(program, body=body)
        body = kept


def read(body: tuple[a.Statement, ...]) -> set[str]:
    """The names that a body reads; an equation's own earlier values do not count."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, a.Seq):
            found |= read(s.body) | ({s.stop} if s.stop else set())
        else:
            found |= {x for e in (*s.expressions, *s.at) for x in e.names} - {s.name}
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
