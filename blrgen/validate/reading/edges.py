"""Comparisons that rounding decides: of two values that algebra makes equal and doubles do not.

x/49·49 = x holds for all numbers and not for all doubles; with `if` or `where` on it code has two
values, one of which algebra never sees.  The same is true of the sign and of a root of zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import mpmath
from mpmath import mp

from blrgen.validate.reading.graph import Node, reachable
from blrgen.validate.reading.interpret import in_digits, missing
from blrgen.validate.reading.signals import Refused

DIGITS, TINY = 60, mpmath.mpf(10) ** -45
POINTS = 3
CLOSE = mpmath.mpf(10) ** -12  # numbers that are written out


def on_edge(element: Any, roots: Sequence[Node]) -> None:
    """Refuse comparisons, signs and roots of what is zero by algebra and not as it is written."""
    suspects = [n for n in reachable(roots) if _parts(n)]
    if not suspects:
        return
    gaps = _gaps(element, suspects)
    for n in suspects:
        if n.index in gaps:
            raise Refused("a comparison, a sign or a root that rounding decides", n.line)


def _parts(n: Node) -> tuple[Node, ...]:
    """What is held against each other, or against zero."""
    if n.op in ("lt", "le", "eq", "ne"):
        return n.args if n.args[0] is not n.args[1] or _inexact(n.args[0]) else ()
    if n.op in ("sign", "sqrt", "log"):
        return n.args if n.args[0].number is None else ()
    return ()


def _inexact(n: Node) -> bool:
    """A number that is no double: its decimal, or what was computed, has been rounded."""
    x = n.number
    return x is not None and x.denominator & (x.denominator - 1) != 0


def _gaps(element: Any, suspects: Sequence[Node]) -> set[int]:
    """The suspects whose two sides are equal at every point that was tried."""
    from blrgen.validate.reading.algebra import names_in
    from blrgen.validate.reading.points import Points

    symbols = [element.known(x) for x in sorted(names_in(suspects))]
    points = Points(symbols, element.domains, [])
    random = Random(41)
    found = {n.index for n in suspects}
    with mp.workdps(DIGITS):
        for _ in range(POINTS):
            point = points.draw(random, 0.0)
            real = {k: mpmath.mpf(x.numerator) / x.denominator for k, x in point.items()}
            values = in_digits(suspects, real)
            found &= {n.index for n in suspects if _tied([values[a.index] for a in n.args], n)}
    return found


def _tied(values: list[Any], n: Node) -> bool:
    if any(map(missing, values)):
        return False
    x, y = (values[0], values[1]) if len(values) == 2 else (values[0], mpmath.mpf(0))
    if all(a.number is not None for a in n.args):
        return bool(abs(x - y) <= CLOSE * max(abs(x), abs(y)))
    scale = max(1, abs(x), abs(y))
    return bool(abs(x - y) <= TINY * scale)
