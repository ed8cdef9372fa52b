"""Statements in an order in which everything is computed before it is read.

A stable topological sort: what is in order already stays where it is.  Next
values are separate names, written to their states only at the end of the phase,
so every statement reads old values of the states.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.program import Phase, Program, Statement


def order(program: Program) -> Program:
    """Every section sorted; a name that is never computed, or a cycle, is an error."""
    known = {v.name for v in program.variables if v.kind != "intermediate"}
    phases: list[Phase] = []
    for phase in program.phases:
        scalars = _sorted(phase.scalars, known)
        body = _sorted(phase.body, known)
        missing = [local for _, local in phase.writes if local not in known]
        if missing:
            raise InternalError(f"{missing[0]} is written to a state but never computed")
        phases.append(replace(phase, scalars=scalars, body=body))
    return replace(program, phases=tuple(phases))


def _sorted(statements: tuple[Statement, ...], known: set[str]) -> tuple[Statement, ...]:
    """Sorted, with their names added to `known`."""
    waiting = list(statements)
    done: list[Statement] = []
    while waiting:
        ready = next((s for s in waiting if known.issuperset(n.names(s.expr))), None)
        if ready is None:
            s = waiting[0]
            lacking = [x for x in n.names(s.expr) if x not in known]
            raise InternalError(f"{s.name} needs {', '.join(lacking)}, computed nowhere before it")
        waiting.remove(ready)
        if ready.name in known:
            raise InternalError(f"{ready.name} is assigned twice")
        known.add(ready.name)
        done.append(ready)
    return tuple(done)
