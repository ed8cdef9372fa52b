"""Arithmetic on nodes that knows 0, 1 and other numbers, so that they go where they can."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from blrgen.program import nodes as n


def times(*args: n.Node) -> n.Node:
    """A product: 0 where a factor is, and one number at most."""
    if n.ZERO in args:
        return n.ZERO
    number = Fraction(1)
    rest: list[n.Node] = []
    for a in args:
        if isinstance(a, n.Neg):
            number, a = -number, a.arg
        if isinstance(a, n.Const):
            number *= a.value
        else:
            rest.append(a)
    if not rest:
        return n.Const(number)
    product = n.mul(*([] if abs(number) == 1 else [n.Const(abs(number))]), *rest)
    return n.neg(product) if number < 0 else product


def plus(*args: n.Node) -> n.Node:
    """A sum without zeros, its negative terms subtracted."""
    number = sum((a.value for a in args if isinstance(a, n.Const)), start=Fraction(0))
    terms = [a for a in args if not isinstance(a, n.Const)]
    terms += [n.Const(number)] if number else []
    found = n.add(*(a for a in terms if not isinstance(a, n.Neg)))
    for a in terms:
        if isinstance(a, n.Neg):
            found = minus(found, a.arg)
    return found


def minus(left: n.Node, right: n.Node) -> n.Node:
    """left − right."""
    if right == n.ZERO:
        return left
    if isinstance(left, n.Const) and isinstance(right, n.Const):
        return n.Const(left.value - right.value)
    if isinstance(right, n.Neg):
        return plus(left, right.arg)
    return n.neg(right) if left == n.ZERO else n.ZERO if left == right else n.Sub(left, right)


def over(top: n.Node, bottom: n.Node) -> n.Node:
    """top / bottom."""
    if top == n.ZERO:
        return n.ZERO
    if isinstance(bottom, n.Const):
        return times(n.Const(1 / bottom.value), top)
    return n.Neg(n.div(top.arg, bottom)) if isinstance(top, n.Neg) else n.div(top, bottom)


def inner(left: Sequence[n.Node], right: Sequence[n.Node]) -> n.Node:
    """Σ left right."""
    return plus(*(times(x, y) for x, y in zip(left, right, strict=True)))


def less(whole: n.Node, left: Sequence[n.Node], right: Sequence[n.Node]) -> n.Node:
    """whole − Σ left right, one product after the other."""
    for x, y in zip(left, right, strict=True):
        whole = minus(whole, times(x, y))
    return whole
