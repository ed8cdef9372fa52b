"""The passes in their order, from parts as they are read to parts that are ready to be emitted."""

from __future__ import annotations

from blrgen.program.absorbed import absorbed
from blrgen.program.cleared import cleared
from blrgen.program.cse import cse
from blrgen.program.dead import dead
from blrgen.program.expand import expanded
from blrgen.program.hoist import hoist
from blrgen.program.order import ordered
from blrgen.program.part import Part
from blrgen.program.stable import stable
from blrgen.program.strength import strength
from blrgen.timing import timed


def expand(part: Part) -> Part:
    """Calls that no target has, written with those that all have."""
    return part.mapped(expanded)


PASSES = (ordered, stable, dead, expand, cleared, absorbed, hoist, strength, cse, ordered)


def optimised(part: Part, what: str) -> Part:
    """All passes on a part; `what` it is called where it is timed."""
    return timed(f"passes of {what}", _optimised, part)


def _optimised(part: Part) -> Part:
    for one in PASSES:
        part = timed(one.__name__, one, part)
    return part
