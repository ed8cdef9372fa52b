"""The passes in their order, from a lowered program to parts that are ready to be emitted.

What keeps its digits is found on the rule as it is read, by its matrices and vectors; what is
computed once, or shared, on equations with indices.
"""

from __future__ import annotations

from collections.abc import Collection

from blrgen.program.absorbed import absorbed
from blrgen.program.axes.parts import part_of
from blrgen.program.cleared import cleared
from blrgen.program.cse import cse
from blrgen.program.dead import dead
from blrgen.program.expand import expand
from blrgen.program.hoist import hoist
from blrgen.program.order import order, ordered
from blrgen.program.part import Part
from blrgen.program.program import Program
from blrgen.program.stable import stable
from blrgen.program.strength import strength
from blrgen.timing import timed

BEFORE = (order, stable, dead)
AFTER = (cleared, absorbed, hoist, strength, cse, ordered)


def optimised(program: Program, native: Collection[str] = (), what: str = "") -> Part:
    """All passes on a program of one phase; `native` are the calls the target has of its own.

    `what` is the program's name where it is timed: its phases' names if nothing is said.
    """
    name = what or ", ".join(p.name for p in program.phases)
    return timed(f"passes of {name}", lambda p: _optimised(p, native), program)


def _optimised(program: Program, native: Collection[str]) -> Part:
    for one in BEFORE:
        program = timed(one.__name__, one, program)
    program = timed("expand", lambda p: expand(p, native), program)
    (phase,) = program.phases
    part = timed("equations", lambda p: part_of(p, phase), program)
    for other in AFTER:
        part = timed(other.__name__, other, part)
    return part
