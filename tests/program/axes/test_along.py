"""Matrices of recurrences lie along the sums that multiply them, and mean the same."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.along import along
from blrgen.program.axes.anf import anf
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import program, shown
from tests.emit.tree.running import near, plain

pytestmark = pytest.mark.core
R = np.random.default_rng(11)
DATA = {
    "F": R.normal(size=(3, 3)) / 2, "G": R.normal(size=(3, 3)) / 2, "C": R.normal(size=(4, 3, 3)),
    "H": R.normal(size=(3, 2)), "x": R.normal(size=(4, 3)), "Q": np.eye(3),
}  # fmt: skip
GIVEN = "F[D,D], G[D,D], C[T,D,D], H[D,E], x[T,D], Q[D,D] spd"
LETTERS = "t,s:T, u:T down, i,j,k,l:D, e,f:E"


def of(body: str, outs: str = "q", letters: str = LETTERS) -> a.Program:
    made = anf(program(letters, GIVEN, body, outs))
    check(made)
    return made


def turned(body: str, outs: str = "q", letters: str = LETTERS) -> list[str]:
    """The equations; interpreted and as loops in plain Python they mean what they meant."""
    whole = of(body, outs, letters)
    made = along(whole)
    check(made)
    given = {q.name: DATA[q.name] for q in made.given}
    wanted = interpret(whole, given)
    for name, value in interpret(made, given).items():
        np.testing.assert_allclose(value, wanted[name], rtol=1e-12, atol=1e-13)
    near(plain(scheduled(whole), given), wanted)
    return [shown(s) for s in made.lets]


SMOOTHER = """
    for u:
        W[u,i,j] = first(0), solve(Q[i,l], C[u+1,l,j])
        m[u,i] = first(x[u,i]), x[u,i] + sum(l, W[u,l,i] * (m[u+1,l] - x[u+1,l]))
        Y[u,l,j] = first(0), sum(i, (P[u+1,l,i] - C[u+1,l,i]) * W[u,i,j])
        P[u,i,j] = first(Q[i,j]), C[u,i,j] + sum(l, W[u,l,i] * Y[u,l,j])
    q[s,i,j] = P[s,i,j] + m[s,i]
"""


def test_a_smoother_turns_its_gain_and_makes_the_product_turned() -> None:
    lines = turned(SMOOTHER.replace("solve(Q[i,l], C[u+1,l,j])", "C[u+1,i,j] + W[u+1,j,i]"))
    assert "W_turned[u,j,i] = first(0), W[u,i,j]" in lines
    assert "Y[u,j,l] = first(0), sum(i, Y_part[u,l,i] * W_turned[u,j,i])" in lines
    assert "Y_part[u,l,i] = first(0), P[u+1,l,i] - C[u+1,l,i]" in lines
    assert "P_sum[u,i,j] = first(0), sum(l, W_turned[u,i,l] * Y[u,j,l])" in lines
    assert "m_sum[u,i] = first(0), sum(l, W_turned[u,i,l] * m_sum_part[u,l])" in lines


def test_a_solution_is_turned_after_it() -> None:
    body = """
        for t:
            W[t,i,j] = solve(Q[i,l], C[t,i,j])
            q[t,i,j] = sum(k, F[i,k] * W[t,k,j])
    """
    lines = turned(body)
    assert lines[1:] == [
        "W_turned[t,j,i] = W[t,i,j]",
        "q[t,i,j] = sum(k, F[i,k] * W_turned[t,j,k])",
    ]


def body_of(line: str, more: str = "") -> str:
    return f"""
        for t:
            A[t,i,j] = sum(k, F[i,k] * C[t,j,k]) + x[t,i]
            B[t,i,j] = 2 * A[t,i,j] + F[i,j]
            {more}
            {line}
    """


@pytest.mark.parametrize("line", [
    "q[t,i,j] = sum(k, F[i,k] * G[k,j])",  # given
    "q[t,i] = sum(k, x[t,k] * A[t,k,i])",  # a vector
    "q[t,i,j] = sum(k, A[t,i,k] * B[t,j,k])",  # along already
    "q[t,i,j] = sum(k, F[k,i] * A[t,k,j])",  # one may not be turned
    "q[t,e] = sum((i,j), A[t,i,j] * B[t,j,i] * H[i,e])",
    "q[t,i] = sum(k, A[t,k,k] * B[t,k,i])",  # a diagonal
    "q[t,i] = sum(k, A[t,k,i])",
    "q[t,i,j] = max(k, A[t,k,i] * B[t,k,j])",
    "q[t,i] = sum(k, A[t,k,0] * B[t,k,i])",
])  # fmt: skip
def test_any_other_stays(line: str) -> None:
    assert along(of(body_of(line))) == of(body_of(line))
    turned(body_of(line))


def test_sizes_that_are_numbers_stay() -> None:
    letters = LETTERS.replace(":D", ":3")
    body = body_of("q[t,i,j] = sum(k, A[t,k,i] * B[t,k,j])")
    made = anf(program(letters, GIVEN.replace("D", "3"), body, "q"))
    assert along(made) == made
    assert along(of(body)) != of(body)


def test_long_and_thin_ones_stay() -> None:
    more = "Z[t,i,e] = sum(k, A[t,i,k] * H[k,e])"
    body = body_of("q[t,e,f] = sum(k, Z[t,k,e] * Z[t,k,f])", more)
    assert along(of(body)) == of(body)


def test_outside_of_recurrences_loops_over_rows_have_columns() -> None:
    body = "A[s,i,j] = C[s,j,i] + F[i,j]\nq[s,i,j] = sum(k, A[s,k,i] * A[s,k,j])"
    assert along(of(body)) == of(body)


READS = list(product(("t,i,k", "t,k,i", "t,j,k", "t,k,j"), repeat=2))


@pytest.mark.parametrize("one, two", READS)
def test_every_way_to_read_two(one: str, two: str) -> None:
    """Both read by rows and by columns, once and twice, with letters of one axis."""
    turned(body_of(f"q[t,i,j] = sum(k, A[{one}] * B[{two}]) + x[t,j] * x[t,i]"))
    turned(body_of(f"q[t,i,j] = sum(k, A[{one}] * A[{two}]) + A[t,j,i] - B[t,i,j]"))


@pytest.mark.parametrize("line", [
    "q[t,i,j] = first(0), sum(k, A[t-1,k,i] * B[t,k,j])",  # a place before
    "q[t,i,j] = first(0), sum(k, A[t,k,i] * B[t-1,j,k])",
    "q[t,i,j] = first(F[i,j]), sum(k, A[t,k,i] * B[t,k,j])",
    "q[i,j] = sum((t,k), A[t,k,i] * B[t,k,j])",
    "q[i,j] = sum(t, A[t,i,j])",
    "q[t,i,j] = first(0), sum(k, A[t,k,i] * (B[t-1,k,j] + B[t,k,j]))",
    "q[t,i,j] = sum(k, A[t,k,i] * exp(x[t,k]) * B[t,k,j])",
    "q[t,i,j] = sum(k, A[t,k,i] * (2 * F[0,1]) * B[t,k,j])",
])  # fmt: skip
def test_others_mean_the_same(line: str) -> None:
    turned(body_of(line))


def test_what_the_recurrence_before_has_made() -> None:
    body = """
        for t:
            A[t,i,j] = first(F[i,j]), sum(k, F[i,k] * A[t-1,k,j])
            B[t,i,j] = A[t,j,i] + C[t,i,j]
        for u:
            q[u,i,j] = first(B[u,i,j]), sum(k, B[u,k,i] * A[u,k,j]) + q[u+1,j,i]
    """
    turned(body)


def test_of_a_recurrence_in_another() -> None:
    body = """
        for t:
            A[t,i,j] = C[t,i,j] * 2
            for s:
                B[t,s,i,j] = init(F[i,j]), A[t,i,j] / 4 + sum(k, B[t,s-1,i,k] * G[j,k]) / 8
                Z[t,s,i,j] = sum(k, A[t,k,i] * B[t,s,k,j])
            q[t,i,j] = Z[t,last(s),i,j]
    """
    turned(body)
