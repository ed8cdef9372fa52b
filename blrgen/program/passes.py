"""The passes in their order, from a lowered program to one that is ready to be emitted."""

from __future__ import annotations

from collections.abc import Collection

from blrgen.program.absorbed import absorbed
from blrgen.program.cleared import cleared
from blrgen.program.cse import cse
from blrgen.program.dead import dead
from blrgen.program.expand import expand
from blrgen.program.factor import factor
from blrgen.program.hoist import hoist
from blrgen.program.order import order
from blrgen.program.program import Program
from blrgen.program.stable import stable
from blrgen.program.strength import strength
from blrgen.program.totals import totals
from blrgen.timing import timed

BEFORE = (order, stable, dead)
AFTER = (totals, cleared, absorbed, hoist, strength, factor, cse, order)


def optimised(program: Program, native: Collection[str] = (), what: str = "") -> Program:
    """All passes, one after the other; `native` are the calls the target has of its own.

    `what` is the program's name where it is timed: its phases' names if nothing is said.
    """
    name = what or ", ".join(p.name for p in program.phases)
    return timed(f"passes of {name}", lambda p: _optimised(p, native), program)


def _optimised(program: Program, native: Collection[str]) -> Program:
    for one in BEFORE:
        program = timed(one.__name__, one, program)
    program = timed("expand", lambda p: expand(p, native), program)
    for one in AFTER:
        program = timed(one.__name__, one, program)
    return program
