"""Xᵀ A⁻¹ X as Zᵀ Z: where it applies, and where it must not."""

import pytest

from blrgen.program import nodes as n
from blrgen.program.congruent import congruent
from blrgen.program.inspect import text
from blrgen.program.program import Phase, Program, Statement, Variable
from blrgen.program.types import Type, infer, matrix, symmetric, vector

pytestmark = pytest.mark.core

S, X, H, L, g = (n.Sym(name) for name in ("S", "X", "H", "L", "g"))
VARIABLES = (
    Variable("S", "state", symmetric("d")), Variable("H", "input", symmetric("d")),
    Variable("X", "input", matrix("d", "n")), Variable("g", "input", vector("d")),
)  # fmt: skip


def rewritten(expr: n.Node) -> list[str]:
    factor = Statement("L", n.Factor(S), Type(("d", "d"), "lower"))
    scope = {v.name: v.type for v in VARIABLES} | {"L": factor.type}
    body = (factor, Statement("out", expr, infer(expr, scope)))
    program = congruent(Program(VARIABLES, (Phase("update", (), body),)))
    return [f"{s.name} = {text(s.expr)}" for s in program.phases[0].body[1:]]


def test_a_matrix_on_both_sides_is_a_square() -> None:
    product = n.MatMul(n.Transpose(X), n.Solve(L, X))
    assert rewritten(product) == ["half = lower_solve(L, X)", "out = half.T @ half"]


def test_a_symmetric_one_is_its_own_transpose() -> None:
    product = n.MatMul(H, n.Solve(L, H))
    assert rewritten(product) == ["half = lower_solve(L, H.T)", "out = half.T @ half"]


def test_what_occurs_twice_is_made_once() -> None:
    product = n.MatMul(H, n.Solve(L, H))
    assert len(rewritten(n.Add((product, n.Mul((n.TWO, product)))))) == 2


@pytest.mark.parametrize("expr", [
    n.MatMul(S, n.Solve(L, H)),  # two matrices
    n.MatMul(H, n.Solve(S, H)),  # no factor: it may be indefinite
    n.MatMul(n.Transpose(X), n.Solve(L, g)),  # a vector
    n.MatMul(n.Transpose(X), n.MatMul(L, X)),  # no solution
])  # fmt: skip
def test_anything_else_stays(expr: n.Node) -> None:
    assert rewritten(expr) == [f"out = {text(expr)}"]
