"""No division by a number inside a divisor.

    a·x/(y/q + c)  =  (a q)·x/(y + c q)

with numbers a, c and q: the products of numbers are computed once a step, in double
precision, and an element is left with one multiplication or division less, and with one
rounding less.  Adam's √s/√(1 − βᵗ) + c is such a divisor.
"""

from __future__ import annotations

from collections.abc import Collection

from blrgen.program import nodes as n
from blrgen.program.part import Part


def cleared(part: Part) -> Part:
    """The body without numbers that divide inside a divisor."""
    numbers = {name for name, sizes in part.sizes.items() if not sizes}
    return part.mapped(lambda e: n.transform(e, lambda x: _cleared(x, numbers)))


def _cleared(node: n.Node, numbers: Collection[str]) -> n.Node:
    """One quotient of elements; whatever it is not stays."""
    if not isinstance(node, n.Div) or _is_number(node, numbers):
        return node
    factors = list(node.bottom.args) if isinstance(node.bottom, n.Mul) else [node.bottom]
    above = list(node.top.args) if isinstance(node.top, n.Mul) else [node.top]
    if not any(_is_number(x, numbers) for x in (*above, *factors)):
        return node  # the number that goes above would be one more factor
    for k, factor in enumerate(factors):
        found = _one_divided(factor, numbers)
        if found is not None:
            q, factors[k] = found
            return n.div(n.mul(q, node.top), n.mul(*factors))
    return node


def _one_divided(node: n.Node, numbers: Collection[str]) -> tuple[n.Node, n.Node] | None:
    """(q, y + c q) of y/q + c, where one term has elements."""
    if not isinstance(node, n.Add):
        return None
    own = [t for t in node.args if not _is_number(t, numbers)]
    term = own[0] if len(own) == 1 else None
    if not isinstance(term, n.Div) or not _is_number(term.bottom, numbers):
        return None
    q = term.bottom
    rest = [term.top if t is term else n.mul(t, q) for t in node.args]
    return q, n.add(*rest)


def _is_number(node: n.Node, numbers: Collection[str]) -> bool:
    """Whether it is the same for every element; a constant alone is no gain."""
    names = n.names(node)
    return all(x in numbers for x in names)
