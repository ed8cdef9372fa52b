"""Long and thin matrices along their long side: where that is, and that it means the same."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import anf
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import program, shown
from blrgen.program.axes.thin import thin
from tests.emit.tree.running import near, plain

pytestmark = pytest.mark.core
R = np.random.default_rng(13)
ROOT = R.normal(size=(4, 4))
DATA = {
    "S": ROOT @ ROOT.T, "W": R.normal(size=(4, 2)), "X": R.normal(size=(5, 2)),
    "x": R.normal(size=2), "psi": R.random(4) + 0.5, "B": R.normal(size=(2, 4)),
}  # fmt: skip
GIVEN = "S[D,D] sym, W[D,Q], X[N,Q], x[Q], psi[D], B[Q,D]"
LETTERS = "n:N, i,j:D, a,b,e:Q"
ORDER = ("n", "a", "b", "e", "i", "j")


def of(body: str) -> a.Program:
    made = anf(program(LETTERS, GIVEN, body, "q"))
    check(made)
    return made


def turned(body: str, order: tuple[str, ...] = ORDER) -> list[str]:
    """The equations; interpreted and as loops in plain Python they mean what they meant."""
    whole = of(body)
    made = thin(whole, order)
    check(made)
    given = {q.name: DATA[q.name] for q in made.given}
    wanted = interpret(whole, given)
    np.testing.assert_allclose(interpret(made, given)["q"], wanted["q"], rtol=1e-12, atol=1e-13)
    for by in (None, order):
        near(plain(scheduled(whole, by), given), wanted)
    return [shown(s) for s in made.lets]


FACTOR = """
    U[a,i] = W[i,a] / psi[i]
    G[a,b]: spd = [a == b] + sum(i, U[a,i] * W[i,b])
    q[a] = solve(G[a,b], x[a])
"""


def test_what_stands_across_is_turned_first_and_read_turned() -> None:
    assert turned(FACTOR)[:3] == [
        "W_turned[b,i] = W[i,b]",
        "U[a,i] = W_turned[a,i] / psi[i]",
        "G_sum[a,b] = sum(i, U[a,i] * W_turned[b,i])",
    ]


def test_what_is_made_is_turned_after_it() -> None:
    made = "V[i,a] = sum(j, S[i,j] * W[j,a])"
    lines = turned(made + FACTOR.replace("    ", "").replace("W", "V"))
    assert lines[:2] == ["V[i,a] = sum(j, S[i,j] * W[j,a])", "V_turned[b,i] = V[i,b]"]


def test_both_across() -> None:
    body = "G[a,b]: spd = [a == b] + sum(i, W[i,a] * W[i,b])\nq[a] = solve(G[a,b], x[a])"
    assert turned(body)[1] == "G_sum[a,b] = sum(i, W_turned[a,i] * W_turned[b,i])"


@pytest.mark.parametrize("body", [
    FACTOR.replace("[a == b] + ", ""),  # no identity
    FACTOR.replace("solve(G[a,b], x[a])", "sum(b, G[a,b] * x[b])"),  # not solved with
    "G[a,b]: spd = [a == b] + sum(n, X[n,a] * X[n,b])\nq[a] = solve(G[a,b], x[a])",  # rows of data
    "G[a,b]: spd = [a == b] + sum(i, B[a,i] * B[b,i])\nq[a] = solve(G[a,b], x[a])",  # along
    "G[i,j]: spd = [i == j] + sum(a, W[i,a] * W[j,a])\nq[i] = solve(G[i,j], psi[i])",
    "G[a,b]: spd = [a == b] + x[a] * x[b]\nq[a] = solve(G[a,b], x[a])",
])  # fmt: skip
def test_any_other_stays(body: str) -> None:
    assert thin(of(body), ORDER) == of(body)
    turned(body)


def test_where_the_loop_over_the_long_side_is_outside_it_stays() -> None:
    assert thin(of(FACTOR), ("n", "i", "j", "a", "b", "e")) == of(FACTOR)


@pytest.mark.parametrize("order", list(permutations(("a", "b", "i"))))
def test_in_every_order(order: tuple[str, ...]) -> None:
    turned(FACTOR, (*order, "n", "e", "j"))


@pytest.mark.parametrize("line", [
    "sum(i, W[i,b] * W[i,a])", "sum(i, W[i,a] * B[b,i] + B[a,i] * W[i,b])",
    "sum(i, W[i,a] * W[i,b] * psi[i])", "sum((i,j), W[i,a] * S[i,j] * W[j,b])",
    "sum(i, W[i,a] * W[i,b] * S[i,i])", "sum(i, W[i,a] * W[i,b]) + sum(n, X[n,a] * X[n,b])",
])  # fmt: skip
def test_others_mean_the_same(line: str) -> None:
    turned(f"G[a,b]: spd = 9 * [a == b] + {line}\nq[a] = solve(G[a,b], x[a])")
