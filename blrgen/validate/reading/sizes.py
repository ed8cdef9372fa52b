"""At which sizes matrix code is read: beyond what can be right at all of those before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

from blrgen.core import Rule
from blrgen.limits import LENGTH as LARGEST
from blrgen.validate.reading.entries import ROWS, Entries
from blrgen.validate.reading.graph import Node, reachable
from blrgen.validate.reading.machine import Bounds
from blrgen.validate.reading.values import Mark

Expr = Any
LEAST, BEYOND = 6, (8, 11)  # sizes that are always read


def rows(rule: Rule, d: int, bounds: Bounds) -> Iterator[int]:
    """How many rows data have at one size: fewer, as many, more; all of them at d = 1."""
    if not rule.of("data"):
        yield d
        return
    if d > 1:
        yield from sorted({1, d - 1, d, d + 1, 3 * d + 1} if d <= 3 else {d - 1, d + 2})
        return
    n = 1
    while n <= min(bounds.largest(LEAST), LARGEST):
        yield n
        n += 1


def hidden(rule: Rule, roots: Sequence[Node], bounds: Bounds, *, single: bool) -> None:
    """A trace of S S⁻¹ is a length, too: sizes go beyond what can vanish at those before.

    That takes a number for each of them, or an addition, which at d = 1 are those of the code.
    """
    of_entries: set[int] = set()
    scalars = {q.name for q in rule.quantities if q.rank not in ROWS}
    additions = 0
    for n in reachable(roots):
        if n.op == "entry" or (n.op == "symbol" and n.data not in scalars):
            of_entries.add(n.index)
        elif any(a.index in of_entries for a in n.args):
            of_entries.add(n.index)
            additions += n.op in ("add", "sub")
    for c in (n.number for n in reachable(roots) if n.number is not None):
        bounds.meets(Mark(), max(abs(c.numerator), c.denominator))
    if single:
        bounds.meets(Mark(), additions)


def data(rule: Rule, made: Entries, random: Random) -> dict[Expr, Any]:
    """Numbers for data, which have rows of their own."""
    out = {}
    for q in rule.of("data"):
        height, *width = made.shape(q.name)
        out[q.symbol] = tuple(
            tuple(Fraction(random.randint(-9, 9), 4) for _ in range((width or [1])[0]))
            for _ in range(height)
        )
    return out
