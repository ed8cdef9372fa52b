"""How large an expression would be, multiplied out."""

from __future__ import annotations

from math import prod
from typing import Any

Expr = Any
WIDE = 400  # terms beyond which nothing is multiplied out


def width(e: Expr) -> int:
    """How many terms an expression has when multiplied out, at most."""
    if e.is_Add:
        return sum(map(width, e.args))
    if e.is_Mul:
        return prod(map(width, e.args))
    if e.is_Pow and e.exp.is_Integer:
        return int(min(width(e.base), 10**4) ** min(abs(int(e.exp)), 10))
    return max((width(a) for a in e.args), default=1)
