"""Numbers that are made of given numbers alone: computed once, in double precision."""

from __future__ import annotations

from collections.abc import Set

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def is_once(s: a.Let, numbers: Set[str]) -> bool:
    """Whether the equation is of numbers in that set alone, sizes left aside."""
    whole = any(isinstance(x, a.Extent | a.Red | a.Lin | a.Is) for x in n.walk(s.expr))
    used = set(s.expr.names)
    plain = not used and not any(isinstance(x, n.Call) for x in n.walk(s.expr))  # 3 has no type
    return not s.letters and not whole and not plain and numbers >= used
