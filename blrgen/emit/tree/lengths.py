"""Loops that call functions run as far as an array is long, not to a number.

    for k in range(8): t[k] = exp(digamma(g[k]))   →   for k in range(e.shape[1]): …

Turns whose number is known are written one after the other, before anything is done for several
of them side by side.  For sums that is quicker; a function is too long for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n

FEWEST = 8  # turns that are worth being done side by side

Body = tuple[t.Statement, ...]


def measured(body: Sequence[t.Statement], lengths: Mapping[int, t.Shape]) -> Body:
    """The body with such loops as long as arrays that show their lengths."""
    out: list[t.Statement] = []
    for s in body:
        if isinstance(s, t.If):
            s = t.If(s.condition, measured(s.body, lengths), measured(s.other, lengths))
        elif isinstance(s, t.For):
            s = replace(s, body=measured(s.body, lengths))
            known = s.stop.value if isinstance(s.stop, t.Whole) and _calls(s) else 0
            s = replace(s, stop=lengths[known]) if known in lengths else s
        out.append(s)
    return tuple(out)


def _calls(loop: t.For) -> bool:
    """Whether it takes many turns from 0 on, each of them values of functions of our own."""
    if loop.start != t.Whole(0) or loop.step is not None or loop.down:
        return False
    if not isinstance(loop.stop, t.Whole) or loop.stop.value < FEWEST:
        return False
    if not all(isinstance(s, t.Assign | t.Increase) for s in loop.body):
        return False
    parts = (x for s in loop.body for e in t.expressions(s) for x in n.walk(e))
    return any(isinstance(x, n.Call) and x.name.startswith("_") for x in parts)
