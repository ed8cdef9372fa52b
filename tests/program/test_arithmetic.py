"""Arithmetic on nodes in which numbers are known."""

from __future__ import annotations

import pytest

from blrgen.program import nodes as n
from blrgen.program.arithmetic import inner, less, minus, over, plus, times

pytestmark = pytest.mark.core

a, b = n.Ref("a"), n.Ref("b")


def test_arithmetic_knows_numbers() -> None:
    two, three = n.Const.of(2), n.Const.of(3)
    assert times(a, n.ZERO) == n.ZERO and times(n.ONE, a) == a
    assert times(two, three) == n.Const.of(6)
    assert times(n.Neg(a), n.Const.of(-1)) == a
    assert plus(a, n.ZERO) == a and plus(two, three) == n.Const.of(5) and plus() == n.ZERO
    assert plus(n.Neg(a), b) == n.Sub(b, a)
    assert minus(a, n.ZERO) == a and minus(n.ZERO, a) == n.Neg(a) and minus(a, a) == n.ZERO
    assert over(n.ZERO, a) == n.ZERO and over(a, n.ONE) == a
    assert over(a, two) == n.Mul((n.HALF, a))
    assert inner([a, n.ZERO], [b, a]) == n.Mul((a, b)) and inner([], []) == n.ZERO
    assert less(a, [b, n.ONE], [n.ZERO, b]) == n.Sub(a, b)
