"""How long a loop's body is, and whether two loops are better than one."""

from __future__ import annotations

import pytest

import blrgen
from blrgen.emit import emit
from blrgen.program import nodes as n
from blrgen.program.effort import HELPER, LOOK_AHEAD, better_apart, operations
from blrgen.program.lower import Reader
from blrgen.program.part import Part
from blrgen.program.plan import plan
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES
from tests.program.small import of_trees

pytestmark = pytest.mark.core

x, y = n.Ref("x"), n.Ref("y")
D = ENTRIES


def body(*expressions: n.Node) -> Part:
    variables = tuple(Variable(name, "state", D) for name in "xy")
    return of_trees(Program(variables), [(f"made_{k}", e) for k, e in enumerate(expressions)])


def long_sum(terms: int) -> n.Node:
    """x² + y, so many times, each of three operations and the sum of them one."""
    return n.Add(tuple(n.Add((n.Mul((x, x)), y)) for _ in range(terms)))


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (x, 0),
        (n.Mul((x, y)), 1),
        (n.Div(n.Add((x, y)), y), 2),
        (n.Call("sqrt", (n.Add((x, y)),)), 2),
        (n.Call("tanh", (x,)), HELPER),
        (n.Mul((n.Call("exp", (n.Mul((x, y)),)), y)), HELPER + 2),
    ],
)
def test_operations_of_an_element(expression: n.Node, count: int) -> None:
    assert operations(body(expression)) == count
    assert operations(body(expression, expression)) == 2 * count


def test_long_bodies_that_share_nothing_are_better_apart() -> None:
    tanh, cosh = n.Call("tanh", (x,)), n.Call("cosh", (y,))
    first, second = n.Mul((tanh, y)), n.Mul((cosh, x))
    assert 2 * HELPER + 2 > LOOK_AHEAD
    assert better_apart(body(first, second), body(first), body(second))
    assert not better_apart(body(x, y), body(x), body(y))  # short
    shared = n.Mul((tanh, cosh))  # both halves would compute it
    assert not better_apart(body(shared, x), body(shared), body(n.Mul((shared, x))))
    assert not better_apart(body(long_sum(2)), body(long_sum(1)), body(long_sum(1)))
    assert better_apart(body(long_sum(60)), body(long_sum(30)), body(long_sum(30)))


@pytest.mark.parametrize(
    ("what", "apart"), [("bayesbinn", True), ("ivon", False), ("vogn", False), ("vadam", False)]
)
def test_steps_that_draw_again(what: str, apart: bool) -> None:
    d = blrgen.derive(what)
    p = plan(Reader(d.rule))
    assert p.again is not None and p.draw is not None
    assert better_apart(p.again, p.single, p.draw) == apart
    text = emit(d)
    again = text[text.index("def _step_draw(") :].split("\n\n\n")[0]
    assert ("    _step(" in again and "    _draw(" in again) == apart
    assert ("for i in range(" in again) != apart
