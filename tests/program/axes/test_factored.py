"""A matrix that is the same for many systems has one factor."""

from __future__ import annotations

import numpy as np

from blrgen.emit.tree.functions import functions
from blrgen.emit.tree.numba import function
from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import check
from blrgen.program.axes.factored import factored
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import program

R = np.random.default_rng(5)
ROOT = R.normal(size=(3, 3))
DATA = {"P": ROOT @ ROOT.T + np.eye(3), "b": R.normal(size=(4, 3)),
        "Q": np.stack([ROOT @ ROOT.T + np.eye(3)] * 4)}  # fmt: skip


def of(body: str, outs: str) -> a.Program:
    given = "P[d,d] spd, Q[N,d,d] spd, b[N,d]"
    return program("n:N, i,j:d, t:N", given, body, outs)


def test_one_factor_before_the_loop() -> None:
    before = of("h[n,i] = solve(P[i,j], b[n,i])\nv = logdet(P[i,j])", "h, v")
    after = factored(before)
    check(after)
    assert [s.name for s in after.lets] == ["P_factor", "h", "v"]
    for name, value in interpret(before, DATA).items():
        np.testing.assert_allclose(interpret(after, DATA)[name], value, rtol=1e-12)


def test_its_loop_does_not_factor() -> None:
    plan = scheduled(of("h[n,i] = solve(P[i,j], b[n,i])", "h"))
    rows, whole = map(function, functions(plan, "f"))
    assert "_factor(" not in rows and "_solve_vector(P_factor, " in rows
    assert whole.count("_factor(P, ") == 1


def test_a_matrix_of_each_row_stays_there() -> None:
    before = of("h[n,i] = solve(Q[n,i,j], b[n,i])\nv[n] = logdet(Q[n,i,j])", "h, v")
    assert factored(before) == before


def test_outside_of_a_recurrence() -> None:
    before = of("for t:\n    h[t,i] = solve(P[i,j], b[t,i])\n", "h")
    plan = scheduled(before)
    rows, whole = map(function, functions(plan, "f"))
    assert "_factor(" not in rows
    assert whole.count("_factor(P, ") == 1
