"""The passes in their order, from a lowered program to parts that are ready to be emitted."""

from __future__ import annotations

from blrgen.program.absorbed import absorbed
from blrgen.program.axes.parts import part_of
from blrgen.program.cleared import cleared
from blrgen.program.cse import cse
from blrgen.program.dead import dead
from blrgen.program.expand import expanded
from blrgen.program.hoist import hoist
from blrgen.program.order import ordered
from blrgen.program.part import Part
from blrgen.program.program import Program
from blrgen.program.stable import stable
from blrgen.program.strength import strength
from blrgen.timing import timed


def expand(part: Part) -> Part:
    """Calls that no target has, written with those that all have."""
    return part.mapped(expanded)


PASSES = (ordered, stable, dead, expand, cleared, absorbed, hoist, strength, cse, ordered)


def optimised(program: Program, what: str = "") -> Part:
    """All passes on a program of one phase.

    `what` is the program's name where it is timed: its phases' names if nothing is said.
    """
    name = what or ", ".join(p.name for p in program.phases)
    return timed(f"passes of {name}", _optimised, program)


def _optimised(program: Program) -> Part:
    (phase,) = program.phases
    part = timed("equations", lambda p: part_of(p, phase), program)
    for one in PASSES:
        part = timed(one.__name__, one, part)
    return part
