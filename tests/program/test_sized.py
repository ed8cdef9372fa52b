"""Rules whose sizes are numbers."""

from __future__ import annotations

import pytest

from blrgen.program import nodes as n
from blrgen.program import wholes as w
from blrgen.program.axes.lowered import Statement
from blrgen.program.axes.parts import part_of
from blrgen.program.axes.text import shown
from blrgen.program.program import Program, Variable
from blrgen.program.sized import of_sizes
from blrgen.program.types import SCALAR, symmetric

pytestmark = pytest.mark.core


def test_sizes_are_numbers_everywhere() -> None:
    variables = (
        Variable("S", "state", symmetric("d"), init=n.Mul((n.Ref("d"), w.Identity("d")))),
        Variable("d", "size", SCALAR),
    )
    rule = Program(variables, made=(("S_next", symmetric("d")),))
    body = (Statement("S_next", n.Mul((n.Ref("d"), n.Ref("S"))), symmetric("d")),)
    part = of_sizes(part_of(rule, body, (("S", "S_next"),)), {"d": 3})
    p = part.rule
    assert p["S"].type == symmetric("3") == p.scope["S_next"] and "d" not in p
    assert p["S"].init == n.Mul((n.Const.of(3), w.Identity("3")))
    assert part.sizes["S_next"] == (3, 3)
    assert [shown(s) for s in part.body] == ["S_next[i,j]: sym = 3 * S[i,j]"]


def test_how_many_there_are_is_a_number() -> None:
    rule = Program((Variable("x", "state", symmetric("d")),))
    body = (Statement("t", w.Trace(n.Mul((n.Ref("x"), w.Count(n.Ref("v"), 1)))), SCALAR),)
    held = Program((*rule.variables, Variable("v", "state", type(symmetric("d"))(("d",)))))
    part = of_sizes(part_of(held, body), {"d": 3})
    assert "size" not in " ".join(map(shown, part.body))
    assert any(x == n.Const.of(3) for s in part.body for x in n.walk(s.expr))
