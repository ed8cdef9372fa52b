"""Sums over rows of polynomials of their data, on small programs."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.moments import moments
from blrgen.program.axes.text import program, shown

LETTERS = "n,m:N, h,i,k:q, j:d, l:K"
GIVEN = "x[N,d], y[N], P[q,q] spd, W[q,d], b[q], r[N,K]"
R = np.random.default_rng(4)
ROOT = R.normal(size=(2, 2))
DATA = {"x": R.normal(size=(6, 3)), "y": R.normal(size=6), "P": ROOT @ ROOT.T + np.eye(2),
        "W": R.normal(size=(2, 3)), "b": R.normal(size=2), "r": R.random((6, 4))}  # fmt: skip


def of(body: str, outs: str) -> a.Program:
    return program(LETTERS, GIVEN, body, outs)


def summed(before: a.Program, known: tuple[str, ...] = ("x", "y")) -> a.Program:
    """After the pass, with the same meaning."""
    after = moments(before, {"N"}, set(known))
    check(after)
    meant, means = interpret(before, DATA), interpret(after, DATA)
    for name, value in meant.items():
        np.testing.assert_allclose(means[name], value, rtol=1e-11, atol=1e-11)
    return after


def over_rows(p: a.Program) -> list[str]:
    """The equations that a row is in."""
    return [shown(s) for s in p.lets if {"n", "m"} & {*s.letters, *_reduced(s)}]


def _reduced(s: a.Let) -> set[str]:
    return set(s.expr.letters) if isinstance(s.expr, a.Red) else set()


def test_an_affine_row_is_put_in() -> None:
    before = of("h[n,i] = b[i] + sum(j, W[i,j] * x[n,j])\ns[i] = sum(n, h[n,i] * y[n])", "s")
    rows = over_rows(summed(before))
    assert len(rows) == 2 and all(" * h" not in x and "W" not in x for x in rows)


SOLVED = """
    c[n,i] = b[i] + sum(j, W[i,j] * x[n,j])
    P2[n,i,h]: spd = P[i,h]
    g[n,i] = solve(P2[n,i,h], c[n,i])
    s[i,j] = sum(n, g[n,i] * x[n,j])
    t[i,h]: sym = sum(n, g[n,i] * g[n,h])
    u = sum(n, sum(i, c[n,i] * g[n,i]))
"""


def test_a_solution_is_an_inverse_that_all_rows_share() -> None:
    after = summed(of(SOLVED, "s, t, u"))
    rows = over_rows(after)
    assert len(rows) == 2
    assert {x.split(" = ")[1] for x in rows} == {
        "sum(n, x[n,j])", "sum(n, x[n,j_2] * x[n,j])",
    }  # fmt: skip
    assert sum(isinstance(s.expr, a.Lin) for s in after.lets) == 1


def test_a_row_that_is_squared_or_subtracted_is_multiplied_out() -> None:
    before = of(
        "f[n] = sum(j, W[0,j] * x[n,j])\ne[n] = y[n] - f[n]\ns = sum(n, e[n]**2)\n"
        "t = sum(n, e[n] / b[0])\nc = sum(n, 1 + e[n])", "s, t, c",
    )  # fmt: skip
    assert all("e[" not in x and "f[" not in x for x in over_rows(summed(before)))


@pytest.mark.parametrize(
    ("body", "outs"),
    [("s[l] = sum(n, r[n,l] * x[n,0])", "s"),  # what is not data
     ("e[n] = exp(y[n])\ns = sum(n, e[n])", "s"),  # no polynomial
     ("s = sum(n, y[n])\ne[n] = y[n] * 2", "s, e"),  # a row is handed out
     ("s = max(n, y[n])", "s"),
     ("s = sum(n, (y[n] > 0) * y[n])", "s"),
     ("e[n] = 1 / y[n]\ns = sum(n, e[n])", "s"),
     ("s = sum(n, sum(j, x[n,j] * W[0,j])**3)", "s"),  # more than a matrix of sums
     ("P2[n,i,h]: spd = P[i,h] * y[n]**2\nc[n,i] = b[i]\ng[n,i] = solve(P2[n,i,h], c[n,i])\n"
      "s[i] = sum(n, g[n,i])", "s"),  # a matrix of each row's own
     ("s = sum((n,m), y[n] * y[m])", "s")],
)  # fmt: skip
def test_a_program_that_needs_its_rows_stays_as_it_is(body: str, outs: str) -> None:
    before = of(body, outs)
    assert moments(before, {"N"}, {"x", "y"}) is before


def test_recurrences_beside_the_rows_stay() -> None:
    before = of(
        "h[n,i] = b[i] * y[n]\ns[i] = sum(n, h[n,i])\nfor k:\n    v[k] = init(0), v[k-1] + s[k]\n",
        "v",
    )
    assert over_rows(summed(before)) == ["row_sum = sum(n, y[n])"]
