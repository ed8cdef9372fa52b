"""Rules whose sizes are numbers."""

from __future__ import annotations

import pytest

from blrgen.algebra.ranks import DIM, symmat
from blrgen.program import nodes as n
from blrgen.program.axes.lowered import Statement
from blrgen.program.axes.parts import part_of
from blrgen.program.axes.text import shown
from blrgen.program.lowering import Lowering
from blrgen.program.program import Program, Variable
from blrgen.program.sized import of_sizes
from blrgen.program.sizes import Count
from blrgen.program.types import SCALAR, symmetric, vector
from tests.program.small import of_symbols

pytestmark = pytest.mark.core


def test_sizes_are_numbers_everywhere() -> None:
    variables = (
        Variable("S", "state", symmetric("d"), init=n.Ref("d")),
        Variable("d", "size", SCALAR),
    )
    rule = Program(variables, made=(("S_next", symmetric("d")),))
    part = of_symbols(rule, ("S_next", DIM * symmat("S")), writes=(("S", "S_next"),))
    part = of_sizes(part, {"d": 3})
    p = part.rule
    assert p["S"].type == symmetric("3") == p.scope["S_next"] and "d" not in p
    assert p["S"].init == n.Const.of(3)
    assert part.sizes["S_next"] == (3, 3)
    assert [shown(s) for s in part.body] == ["S_next[i,j]: sym = 3 * S[i,j]"]


def test_how_many_there_are_is_a_number() -> None:
    held = Program((Variable("v", "state", vector("d")),))
    reading = Lowering(held.scope, {DIM: Count("v", 1)})
    body = (Statement("t", DIM**2, SCALAR),)
    part = of_sizes(part_of(held, reading, body), {"d": 3})
    assert "size" not in " ".join(map(shown, part.body))
    assert any(x == n.Const.of(3) for s in part.body for x in n.walk(s.expr))
