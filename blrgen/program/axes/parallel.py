"""Which loops may be done in parts at the same time: outermost ones that read nothing earlier."""

from __future__ import annotations

from blrgen.program.axes import nodes as a
from blrgen.program.axes.schedule import Loop, Schedule
from blrgen.program.axes.scratch import paths


def parallel(loop: Loop, plan: Schedule) -> bool:
    """Whether no value of the loop depends on one of another index, but for sums."""
    if isinstance(plan.program.letter(loop.letter).size, int) or loop.bound:
        return False
    if loop.seq is None:
        return True
    if loop.first is not None or loop.seq.stop:
        return False
    expressions = [e for i, _, _ in paths([loop]) for e in i.let.expressions]
    lags = [x for e in expressions for r in a.refs(e) for x in r.index if isinstance(x, a.Lag)]
    return all(x.letter != loop.letter for x in lags)


def sums(loop: Loop, plan: Schedule) -> tuple[str, ...]:
    """The names of what the loop adds up over its letter."""
    found = [i.let for i, _, _ in paths([loop]) if isinstance(i.let.expr, a.Red)]
    return tuple(dict.fromkeys(s.name for s in found if loop.letter in s.expr.letters))  # type: ignore[union-attr]
