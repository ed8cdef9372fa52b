"""Forms in inverses by half solutions: where that is done, and that it means the same."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import anf
from blrgen.program.axes.check import check
from blrgen.program.axes.forms import forms
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import program, shown
from tests.emit.tree.running import near, plain

pytestmark = pytest.mark.core
R = np.random.default_rng(7)


def definite(*batch: int) -> np.ndarray:
    root = R.normal(size=(*batch, 3, 3))
    return root @ root.swapaxes(-1, -2) + np.eye(3)


SYMMETRIC = R.normal(size=(3, 3))
DATA = {
    "A": definite(), "B": definite(2), "W": definite(5),
    "X": R.normal(size=(3, 4)), "Y": R.normal(size=(3, 3)), "H": SYMMETRIC + SYMMETRIC.T,
    "x": R.normal(size=3), "r": R.normal(size=(5, 3)), "b": R.normal(size=(2, 3)), "c": 0.7,
    "G": R.normal(size=(2, 3, 4)), "z": R.integers(0, 5, 5),
}  # fmt: skip
GIVEN = """A[D,D] spd, B[C,D,D] spd, W[N,D,D] spd, X[D,E], Y[D,D], H[D,D] sym, x[D], r[N,D],
    b[C,D], c, G[C,D,E], z[N] in N"""
LETTERS = "n,m,t:N, k,l:C, f,g,i,j:D, u,v:E"


def of(body: str, outs: str = "q") -> a.Program:
    made = anf(program(LETTERS, GIVEN, body, outs))
    check(made)
    return made


def halved(body: str, outs: str = "q", tight: float = 1e-12) -> list[str]:
    """The equations; interpreted and as loops in plain Python they mean what they meant."""
    whole = of(body, outs)
    made = forms(whole)
    check(made)
    given = {q.name: DATA[q.name] for q in made.given}
    wanted = interpret(whole, given)
    for name, value in interpret(made, given).items():
        np.testing.assert_allclose(value, wanted[name], rtol=tight, atol=tight)
    near(plain(scheduled(whole), given), wanted)
    return [shown(s) for s in made.lets]


def count(lines: list[str], word: str) -> int:
    return sum(word in x for x in lines)


SOLVED = "e[i] = solve(A[i,j], x[i])\nK[i,u] = solve(A[i,j], X[i,u])\n"


def test_a_square_a_product_and_a_matrix_on_both_sides() -> None:
    assert halved(
        SOLVED + "q = sum(i, x[i] * e[i])\ns[u] = sum(i, X[i,u] * e[i])\n"
        "P[u,v] = sum(i, X[i,u] * K[i,v])",
        "q, s, P",
    ) == [
        "x_half[i] = half(A[i,j], x[i])",
        "x_weighed[i] = weighed(A[i,j], x_half[i])",
        "X_half[i,u] = half(A[i,j], X[i,u])",
        "X_weighed[i,u] = weighed(A[i,j], X_half[i,u])",
        "q = sum(i, x_half[i] * x_weighed[i])",
        "s[u] = sum(i, X_half[i,u] * x_weighed[i])",
        "P[u,v] = sum(i, X_half[i,u] * X_weighed[i,v])",
    ]


def test_of_a_pair_the_one_with_fewer_letters_is_weighed() -> None:
    lines = halved(SOLVED + "q[u] = sum(i, K[i,u] * x[i])\ns[u] = sum(i, X[i,u] * e[i])", "q, s")
    assert count(lines, "weighed(") == 1 and count(lines, "x_weighed[i] =") == 1


@pytest.mark.parametrize("line", [
    "q = c * sum(i, x[i] * e[i])",
    "q = sum(g, x[g] * e[g])",  # under another letter
    "q = sum((i,u), X[i,u] * K[i,u])",  # a trace
    "q[v] = sum((i,u), X[i,u] * K[i,v] * G[1,0,u])",  # a third factor, without the letter
    "q[u] = sum(i, X[i,u] * K[i,u])",
    "q = sum((f,g), x[f] * e[f] * x[g] * e[g])",  # two forms
])  # fmt: skip
def test_other_sums_that_are_forms(line: str) -> None:
    assert count(halved(SOLVED + line), "= half(") == 1


@pytest.mark.parametrize("line", [
    "q = sum(i, x[i] * e[i] * Y[i,0])",  # weights
    "q = sum(i, e[i] * e[i])",
    "q[u] = sum(i, x[i] * e[i]) + X[0,u] * e[1]",  # read itself
    "q = sum(i, Y[i,0] * e[i])",  # what is not solved with
    "q[i] = e[i]",
    "q = sum(i, x[i] * e[0])",
    "q = max(i, x[i] * e[i])",
])  # fmt: skip
def test_any_other_stays(line: str) -> None:
    body = "e[i] = solve(A[i,j], x[i])\n" + line
    assert forms(of(body)) == of(body)
    halved(body)


READS = [",".join(x) for x in product("fgi", repeat=2)]


@pytest.mark.parametrize("side", ["Y", "H"])
@pytest.mark.parametrize("turned", [False, True])
def test_every_way_to_read_both(side: str, turned: bool) -> None:
    """One-letter diagonals, letters of one axis, rows and columns: the same numbers always."""
    solved = f"K[j,i] = solve(A[i,g], {side}[j,i])" if turned else \
             f"K[i,j] = solve(A[i,g], {side}[i,j])"  # fmt: skip
    done = 0
    for one, two in product(READS, READS):
        free = sorted({*one, *two} - {",", "f"})
        if "f" not in one + two:
            continue
        left = f"q[{','.join(free)}]" if free else "q"
        done += count(halved(f"{solved}\n{left} = sum(f, {side}[{one}] * K[{two}])"), "half(")
    # the summed letter along the system in both, each letter once; symmetric ones both ways
    assert done == (4 if side == "Y" else 8)


@pytest.mark.parametrize("line, done", [
    ("q[n] = sum(i, r[n,i] * e[n,i])", True),
    ("q[n,m] = sum(i, r[n,i] * e[m,i])", True),  # one matrix for all rows
    ("q = sum((n,i), r[n,i] * e[n,i])", True),
    ("q[n] = sum(i, r[z[n],i] * e[n,i])", False),
    ("q[n] = sum(i, r[n,i] * e[z[n],i])", False),
    ("q[n] = sum(i, r[n,i] * e[2,i])", False),
])  # fmt: skip
def test_rows(line: str, done: bool) -> None:
    assert bool(count(halved("e[n,i] = solve(A[i,j], r[n,i])\n" + line), "half(")) == done


@pytest.mark.parametrize("line, done", [
    ("q[n] = sum(i, r[n,i] * e[n,i])", True),
    ("q[n,m] = sum(i, r[n,i] * e[m,i])", False),  # a matrix for each row
    ("q[m] = sum((n,i), r[m,i] * e[n,i])", False),
])  # fmt: skip
def test_rows_with_matrices_of_their_own(line: str, done: bool) -> None:
    assert bool(count(halved("e[n,i] = solve(W[n,i,j], r[n,i])\n" + line), "half(")) == done


@pytest.mark.parametrize("line, done", [
    ("q[k] = sum(i, b[k,i] * e[k,i])", True),
    ("q[l] = sum(i, b[l,i] * e[l,i])", True),
    ("q[k,l] = sum(i, b[k,i] * e[l,i])", False),
    ("q[k] = sum((l,i), b[k,i] * e[l,i])", False),
    ("q[k,u] = sum(i, G[k,i,u] * e[k,i])", True),
    ("q[k,u] = sum((l,i), G[l,i,u] * e[k,i])", False),
    ("q[k,u,v] = sum(i, G[k,i,u] * K[k,i,v])", True),
])  # fmt: skip
def test_batches_of_matrices(line: str, done: bool) -> None:
    solved = "e[k,i] = solve(B[k,i,j], b[k,i])\nK[k,i,u] = solve(B[k,i,j], G[k,i,u])\n"
    assert bool(count(halved(solved + line), "half(")) == done


@pytest.mark.parametrize("line, done", [
    ("q[n,k] = sum(i, r[n,i] * e[k,n,i])", True),
    ("q[n,m,k] = sum(i, r[m,i] * e[k,n,i])", True),
    ("q[n,k,l] = sum(i, r[n,i] * e[k,n,i]) + b[l,0]", True),
    ("q[n,k] = sum((l,i), r[n,i] * e[l,n,i] * b[k,0] * b[l,1])", True),
])  # fmt: skip
def test_one_right_side_for_many_matrices(line: str, done: bool) -> None:
    """The matrix's letter is not the right side's: it is that of what is read of the solution."""
    solved = "e[k,n,i] = solve(B[k,i,j], r[n,i])\n"
    assert bool(count(halved(solved + line), "half(")) == done


def test_two_matrices_are_not_one() -> None:
    solved = "e[i] = solve(A[i,j], x[i])\nK[k,i,u] = solve(B[k,i,j], X[i,u])\n"
    assert not count(halved(solved + "q[k,u] = sum(i, X[i,u] * e[i]) + K[k,0,u]"), "half(")
    assert not count(halved(solved + "q[k,u] = sum(i, x[i] * K[k,i,u])"), "half(")


def test_a_solution_that_is_needed_whole_takes_those_with_it_that_need_its_half() -> None:
    lines = halved(SOLVED + "q[u] = sum(i, X[i,u] * e[i])\ns[i,u] = K[i,u]", "q, s")
    assert count(lines, "solve(") == 2
    lines = halved(SOLVED + "q = sum(i, x[i] * e[i])\ns[i,u] = K[i,u]", "q, s")
    assert count(lines, "solve(") == 1 and count(lines, "half(") == 1


def test_what_is_solved_of_a_solution() -> None:
    body = "e[i] = solve(A[i,j], x[i])\nh[i] = solve(A[i,j], e[i])\nq = sum(i, e[i] * h[i])"
    lines = halved(body)
    assert count(lines, "solve(") == 1 and count(lines, "e_half[i] = half(") == 1


def test_a_half_that_comes_too_late() -> None:
    body = """
        e[i] = solve(A[i,j], x[i])
        q[u] = sum(i, X[i,u] * e[i])
        K[i,u] = solve(A[i,j], X[i,u])
        P[u,v] = sum(i, X[i,u] * K[i,v])
    """
    lines = halved(body, "q, P")
    assert count(lines, "= solve(") == 1 and count(lines, "X_half[i,u] = half(") == 1


RECURRENCE = """
    for t:
        s[t,i] = first(x[i]), sum(j, Y[i,j] * p[t-1,j]) + r[t,i]
        S[t,i,j]: spd = W[t,i,j] + s[t,i] * s[t,j]
        e[t,i] = solve(S[t,i,j], s[t,i])
        K[t,i,u] = solve(S[t,i,j], X[i,u])
        h[t,i] = solve(A[i,j], s[t,i])
        p[t,i] = s[t,i] / (2 + sum(j, s[t,j] * e[t,j]))
        {line}
"""


@pytest.mark.parametrize("line, done", [
    ("q[t] = sum(i, s[t,i] * h[t,i])", 2),
    ("q[t,u] = sum(i, X[i,u] * e[t,i])", 2),
    ("q[t,u,v] = sum(i, X[i,u] * K[t,i,v])", 2),
    ("q[t] = first(0), sum(i, s[t-1,i] * h[t,i])", 1),  # another place
    ("q[t] = first(0), sum(i, s[t,i] * h[t-1,i])", 1),
    ("q[t] = first(0), sum(i, s[t-1,i] * h[t-1,i])", 1),
    ("q = sum((t,i), s[t,i] * h[t,i])", 2),  # adds up as it goes
])  # fmt: skip
def test_in_recurrences(line: str, done: int) -> None:
    lines = halved(RECURRENCE.format(line=line))
    assert count(lines, "= half(") == done


def test_a_right_side_at_places_to_which_the_recurrence_has_not_come() -> None:
    body = """
        for t:
            e[t,i] = solve(A[i,j], r[t,i])
            p[t] = first(1), c * p[t-1] + sum((n,i), r[n,i] * e[t,i])
        q = sum(t, p[t])
    """
    assert not count(halved(body), "half(")


def test_read_after_the_recurrence_and_before_the_other_one() -> None:
    body = """
        for t:
            e[t,i] = solve(A[i,j], r[t,i])
            p[t] = first(1), c * p[t-1] + sum(i, r[t,i] * e[t,i])
        for n:
            g[n,i] = solve(A[i,j], r[n,i])
            y[n] = first(1), c * y[n-1] + sum(i, r[n,i] * e[n,i]) + sum(i, r[n,i] * g[n,i])
        q = sum(t, p[t]) + sum(n, y[n])
    """
    halved(body.replace("y[n] = first(1), ", "y[n] = init(0), ").replace("g[n,i]", "h[n,i]"))


def test_indefinite_matrices_have_no_halves() -> None:
    with pytest.raises(Exception, match="not known to be spd"):
        of("e[i] = half(H[i,j], x[i])\nq = sum(i, e[i])")


@pytest.mark.parametrize("order", list(permutations("niu")))
def test_in_every_order_of_loops(order: tuple[str, ...]) -> None:
    body = "e[n,i] = solve(A[i,j], r[n,i])\nK[i,u] = solve(A[i,j], X[i,u])\n" \
           "q[n,u] = sum(i, K[i,u] * r[n,i]) + sum(i, r[n,i] * e[n,i])"  # fmt: skip
    whole = of(body)
    given = {q.name: DATA[q.name] for q in whole.given}
    rest = [x.name for x in whole.letters if x.name not in order]
    found: dict[str, Any] = plain(scheduled(whole, (*order, *rest)), given)
    near(found, interpret(whole, given))
