"""Assignments that nothing reads are dropped."""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.program import Phase, Program, Statement


def dead(program: Program) -> Program:
    """The program without statements that no written value and no later statement needs."""
    needed: set[str] = set()
    phases: list[Phase] = []
    for phase in reversed(program.phases):
        needed.update(local for _, local in phase.writes)
        phases.append(replace(phase, body=_kept(phase.body, needed)))
    return replace(program, phases=tuple(reversed(phases)))


def _kept(statements: tuple[Statement, ...], needed: set[str]) -> tuple[Statement, ...]:
    kept: list[Statement] = []
    for s in reversed(statements):
        if s.name in needed:
            kept.append(s)
            needed.update(n.names(s.expr))
    return tuple(reversed(kept))
