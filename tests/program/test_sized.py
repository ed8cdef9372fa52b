"""Programs whose sizes are numbers."""

from __future__ import annotations

import pytest

from blrgen.program import nodes as n
from blrgen.program.program import Phase, Program, Statement, Variable
from blrgen.program.sized import sized
from blrgen.program.types import SCALAR, Type, symmetric

pytestmark = pytest.mark.core


def test_sizes_are_numbers_everywhere() -> None:
    variables = (
        Variable("S", "state", symmetric("d"), init=n.Mul((n.Ref("d"), n.Identity("d")))),
        Variable("d", "size", SCALAR),
    )
    body = (Statement("S_next", n.Mul((n.Ref("d"), n.Ref("S"))), symmetric("d")),)
    writes = (("S", "S_next"),)
    p = sized(Program(variables, (Phase("update", body, writes),)), {"d": 3})
    assert p["S"].type == symmetric("3") and "d" not in p
    assert p["S"].init == n.Mul((n.Const.of(3), n.Identity("3")))
    assert p.phases[0].body[0].type == Type(("3", "3"), "sym")
    assert p.phases[0].body[0].expr == n.Mul((n.Const.of(3), n.Ref("S")))
