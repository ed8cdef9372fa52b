"""Which loops may be done in parts at the same time: outermost ones that read nothing earlier.

Of a program's letters only one is worth it: the outermost of those over which that is so.
Axes of matrices are not: rows are an axis that no quantity has twice.
"""

from __future__ import annotations

from blrgen.program.axes import nodes as a
from blrgen.program.axes.schedule import Loop, Schedule
from blrgen.program.axes.scratch import paths


def parallel(loop: Loop, plan: Schedule) -> bool:
    """Whether no value depends on one of another index, but for sums; copies are not worth it."""
    size = plan.program.letter(loop.letter).size
    twice = any(x.count(size) > 1 for x in plan.program.sizes.values())
    if isinstance(size, int) or twice or loop.bound:
        return False
    if all(i.store for i, _, _ in paths([loop])):
        return False
    if loop.seq is None:
        return True
    if loop.first is not None or loop.seq.stop:
        return False
    made = {i.let.name for i, _, _ in paths([loop])}
    every = (r for s in plan.program.lets for e in s.expressions for r in a.refs(e))
    if any(r.name in made and a.Last(loop.letter) in r.index for r in every):
        return False  # whoever does the rows then has to say which was the last
    reductions = [i.let.expr for i, _, _ in paths([loop]) if isinstance(i.let.expr, a.Red)]
    if any(e.op == "last" and loop.letter in e.letters for e in reductions):
        return False
    expressions = [e for i, _, _ in paths([loop]) for e in i.let.expressions]
    lags = [x for e in expressions for r in a.refs(e) for x in r.index if isinstance(x, a.Lag)]
    return all(x.letter != loop.letter for x in lags)


def shared(plan: Schedule) -> list[Loop]:
    """The loops of the program that are done in parts."""
    found = [x for x in plan.body if isinstance(x, Loop) and parallel(x, plan)]
    outermost = min((plan.order.index(x.letter) for x in found), default=-1)
    return [x for x in found if plan.order.index(x.letter) == outermost]


def sums(loop: Loop, plan: Schedule) -> tuple[str, ...]:
    """The names of what the loop adds up over its letter."""
    found: dict[str, None] = {}
    for i, _, _ in paths([loop]):
        if isinstance(i.let.expr, a.Red) and loop.letter in i.let.expr.letters:
            found[i.let.name] = None
    return tuple(found)
