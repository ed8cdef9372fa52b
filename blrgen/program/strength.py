"""Cheaper operations for the same numbers: x² → x·x, and x³ … x⁸ by multiplication.

Only in bodies: a power costs nothing in the scalar section.  Divisions stay
divisions, as multiplying by a reciprocal rounds twice.
"""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.part import Part

HIGHEST = 8


def strength(part: Part) -> Part:
    """Powers in the body as products."""
    return part.mapped(lambda e: n.transform(e, multiplied))


def multiplied(node: n.Node) -> n.Node:
    """A small integer power as a balanced product; a large one as a call of pow."""
    if not isinstance(node, n.Pow):
        return node
    if node.exponent > HIGHEST:
        return n.Call("pow", (node.base, n.Const.of(node.exponent)))
    return _power(node.base, node.exponent)


def _power(base: n.Node, exponent: int) -> n.Node:
    if exponent == 1:
        return base
    half = _power(base, exponent // 2)
    square = n.Mul((half, half))
    return square if exponent % 2 == 0 else n.Mul((square, base))
