"""Xᵀ A⁻¹ X as Zᵀ Z: where it applies, where it must not, and that it means the same."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.program.axes.check import check
from blrgen.program.axes.congruent import congruent
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.text import program, shown

pytestmark = pytest.mark.core
GIVEN = "A[d,d] spd, H[d,d] sym, X[d,n], Y[d,d], g[d], c"
ROOT = "L[i,j]: lower = chol(A[i,j])"


def rewritten(line: str, *more: str) -> list[str]:
    """The equations after the factor's; they mean what they meant."""
    whole = program(
        letters="i,j,k,l:d, u,v:n", given=GIVEN, body="\n".join((ROOT, *more, line)), outs="out"
    )
    check(whole)
    made = congruent(whole)
    check(made)
    r = np.random.default_rng(3)
    root, H = r.standard_normal((4, 4)), r.standard_normal((4, 4))
    given = {
        "A": root @ root.T + np.eye(4), "H": H + H.T, "X": r.standard_normal((4, 3)),
        "Y": r.standard_normal((4, 4)), "g": r.standard_normal(4), "c": 0.7,
    }  # fmt: skip
    given = {q.name: given[q.name] for q in made.given}
    wanted = interpret(whole, given)["out"]
    np.testing.assert_allclose(interpret(made, given)["out"], wanted, rtol=1e-12, atol=1e-13)
    return [shown(s) for s in made.body[1:]]


def test_a_matrix_on_both_sides_is_a_square() -> None:
    assert rewritten("out[u,v] = sum(k, X[k,u] * solve(A[k,l], X[k,v]))") == [
        "half[k,v] = lsolve(L[k,l], X[k,v])",
        "out[u,v] = sum(k, half[k,u] * half[k,v])",
    ]


def test_a_symmetric_one_is_its_own_transpose() -> None:
    assert rewritten("out[i,j] = c * sum(k, H[i,k] * solve(A[k,l], H[k,j]))") == [
        "part[k,j] = H[j,k]",
        "half[k,j] = lsolve(L[k,l], part[k,j])",
        "out[i,j] = c * sum(k, half[k,i] * half[k,j])",
    ]


def test_what_occurs_twice_is_made_once() -> None:
    product = "sum(k, X[k,u] * solve(A[k,l], X[k,v]))"
    lines = rewritten(f"out[u,v] = {product} - c", f"first[u,v] = {product}")
    assert sum("lsolve" in x for x in lines) == 1 and len(lines) == 3


@pytest.mark.parametrize("line", [
    "out[i,j] = sum(k, H[i,k] * solve(A[k,l], Y[k,j]))",  # two matrices
    "out[i,j] = sum(k, Y[i,k] * solve(A[k,l], Y[k,j]))",  # not the transpose
    "out[u] = sum(k, X[k,u] * solve(A[k,l], g[k]))",  # a vector
    "out = sum(k, g[k] * solve(A[k,l], g[k]))",
    "out[i,j] = sum(k, H[i,k] * lsolve(L[k,l], H[k,j]))",  # the factor itself
    "out[i,j] = sum(k, c * H[i,k] * solve(A[k,l], H[k,j]))",  # a third factor inside
])  # fmt: skip
def test_anything_else_stays(line: str) -> None:
    assert rewritten(line) == [line]


def test_without_a_factor_the_matrix_may_be_indefinite() -> None:
    line = "out[u,v] = sum(k, X[k,u] * solve(A[k,l], X[k,v]))"
    whole = program(letters="i,j,k,l:d, u,v:n", given=GIVEN, body=line, outs="out")
    assert congruent(whole) == whole
