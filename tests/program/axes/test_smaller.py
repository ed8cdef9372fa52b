"""Passes that leave less to compute, on the smallest programs that show them."""

from __future__ import annotations

import numpy as np

from blrgen.emit.tree.functions import functions
from blrgen.program.axes import nodes as a
from blrgen.program.axes.alike import alike
from blrgen.program.axes.anf import anf
from blrgen.program.axes.contracted import contracted
from blrgen.program.axes.halved import halved
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.joined import joined
from blrgen.program.axes.lettered import lettered
from blrgen.program.axes.narrowed import narrowed
from blrgen.program.axes.order import order
from blrgen.program.axes.prepared import prepared, scheduled, simpler
from blrgen.program.axes.strips import strips
from blrgen.program.axes.text import program, shown
from tests.emit.tree.running import plain
from tests.program.axes.test_passes import lines, made

FORM = "q[n,k] = sum((i,j), x[n,i] * P2[k,i,j] * x[n,j])\ns[k,i] = sum(n, q[n,k] * x[n,i])\n"
LETTERS = "n,m:N, k:K, i,j:d, u:N down"
GIVEN = "x[N,d], P2[K,d,d] spd, r[N,K], c[K]"
R = np.random.default_rng(2)
ROOT = R.normal(size=(2, 3, 3))
DATA = {"x": R.normal(size=(4, 3)), "P2": ROOT @ np.swapaxes(ROOT, 1, 2) + np.eye(3),
        "r": R.random((4, 2)), "c": np.array([0.5, 2.0])}  # fmt: skip


def of(body: str, outs: str) -> a.Program:
    return program(LETTERS, GIVEN, body, outs)


def same_meaning(before: a.Program, after: a.Program) -> None:
    meant, means = interpret(before, DATA), interpret(after, DATA)
    for name, value in meant.items():
        np.testing.assert_allclose(means[name], value, rtol=1e-12, atol=1e-12)


def test_equations_that_say_the_same_are_one() -> None:
    before = of(
        "s[k,i] = sum(n, r[n,k] * x[n,i])\nb[k,j] = sum(m, x[m,j] * r[m,k])\n"
        "o[k,i] = s[k,i] + b[k,i]", "o",
    )  # fmt: skip
    after = alike(before)
    assert [s.name for s in after.lets] == ["s", "o"]
    same_meaning(before, after)


def test_a_right_side_keeps_its_letters_in_their_order() -> None:
    """Of several right sides the letter of the matrix is where it stands in the equation."""
    before = of("b[k,j] = w[j,k]\nx[k,i] = solve(P[i,j], b[k,j])", "x")
    assert [s.name for s in alike(before).lets] == ["b", "x"]


def test_symmetric_matrices_are_alike_either_way_round() -> None:
    before = of(
        "M[k,i,j]: spd = P2[k,j,i]\nv[k] = logdet(M[k,i,j])\nw[k] = logdet(P2[k,i,j])\n"
        "o[k] = v[k] + w[k]", "o",
    )  # fmt: skip
    after = alike(before)
    assert [shown(s) for s in after.lets] == [
        "v[k] = logdet(P2[k,i,j])", "o[k] = v[k] + v[k]",
    ]  # fmt: skip
    same_meaning(before, after)


def test_what_differs_in_a_letter_is_not_alike() -> None:
    body = "s[i] = sum(n, x[n,i])\nb[n] = sum(i, x[n,i])\no[n,i] = s[i] + b[n]"
    assert len(tuple(alike(of(body, "o")).lets)) == 3


def test_an_out_is_never_left_out() -> None:
    after = alike(of("s[k] = sum(n, r[n,k])\nb[k] = sum(m, r[m,k])", "s, b"))
    assert [s.name for s in after.lets] == ["s", "b"]


def test_recurrences_that_say_the_same_are_one() -> None:
    text = "for n:\n    a[n] = first(0), 1\nfor m:\n    b[m] = first(0), 1\n"
    after = alike(of(text + "o[n] = a[n] + b[n]", "o"))
    assert lines(after)[2:] == ["o[n] = a[n] + a[n]"]


def test_letters_that_nothing_varies_on_go() -> None:
    before = anf(of("b[n,k] = c[k] * 2\no[n,k] = b[n,k] * r[n,k]\nt[k] = sum(n, b[n,k])", "o, t"))
    after = narrowed(before)
    assert [shown(s) for s in after.lets] == [
        "b[k] = c[k] * 2", "o[n,k] = b[k] * r[n,k]", "t[k] = size(N) * b[k]",
    ]  # fmt: skip
    same_meaning(before, after)


def test_ragged_letters_stay() -> None:
    p = made("o[n,w] = 1\ng[n] = sum(w, o[n,w] * h[n,w])", "g")
    assert narrowed(p) == p


def test_one_letter_for_one_axis() -> None:
    before = anf(of("s[k] = sum(n, r[n,k])\nb[k] = sum(m, r[m,k] * c[k])", "s, b"))
    after = lettered(before)
    assert {x for s in after.lets for x in s.expr.letters} == {"n"}  # type: ignore[attr-defined]
    same_meaning(before, after)


def test_sums_over_a_recurrence_take_its_letter_and_its_end() -> None:
    before = anf(of(
        "for u:\n    b[u] = first(1), b[u+1] * c[0]\n"
        "s[k] = sum(n, b[n] * r[n,k])\nt = b[0] * 2", "s, t",
    ))  # fmt: skip
    after = lettered(before)
    text = "\n".join(lines(after))
    assert "s[k] = sum(u, b[u] * r[u,k])" in text
    assert "b[last(u)]" in text
    same_meaning(before, after)
    kept = functions(scheduled(before), "run")
    near = plain(scheduled(before), DATA)
    assert kept and np.allclose(near["s"], interpret(before, DATA)["s"])


def test_sums_of_products_one_letter_at_a_time() -> None:
    before = anf(of("o[n,k] = sum((i,j), c[k] * P2[k,i,j] * x[n,i] * x[0,j])", "o"))
    after = anf(contracted(before))
    assert max(len({*s.letters, *getattr(s.expr, "letters", ())}) for s in after.lets) == 3
    same_meaning(before, after)


def test_whole_arrays_are_not_made_larger() -> None:
    before = anf(of(FORM, "s"))
    assert any(len(s.letters) == 3 for s in contracted(before).lets)
    assert all(len(s.letters) < 3 for s in contracted(before, whole=True).lets)


def test_quadratic_forms_by_half() -> None:
    before = of(FORM, "s")
    ready = simpler(anf(before))
    (inner,) = (s for s in halved(ready).lets if s.bounds)
    ((low, high),) = inner.bounds
    assert {low, high} == {"i", "j"}
    found = plain(scheduled(before), DATA)
    np.testing.assert_allclose(found["s"], interpret(before, DATA)["s"], rtol=1e-12)


def test_no_half_of_what_is_read_elsewhere() -> None:
    body = "y[n,i] = sum(j, P2[0,i,j] * x[n,j])\nq[n] = sum(i, x[n,i] * y[n,i])"
    assert any(s.bounds for s in halved(of(body, "q")).lets)
    assert not any(s.bounds for s in halved(of(body, "q, y")).lets)


def test_sums_with_the_same_data_are_one() -> None:
    before = of(
        "a[k,i] = c[k] * P2[k,i,i]\n"
        "o[n,k] = sum(i, a[k,i] * x[n,i]) - sum(j, P2[k,j,0] * x[n,j]) + c[k]", "o",
    )  # fmt: skip
    after = joined(before)
    assert sum(isinstance(x, a.Red) for s in anf(after).lets for x in [s.expr]) == 1
    same_meaning(before, after)


def test_rows_of_data_are_outermost() -> None:
    """Though labels stand outside of more letters than rows do."""
    ready = prepared(of(FORM, "s"))
    assert order(ready)[0] == "n"


def test_strips_hold_all_that_has_rows() -> None:
    ready = simpler(anf(of(FORM + "t[k] = s[k,0] / c[k]", "t")))
    parts = strips(ready)
    assert parts is not None and parts.letter == "n"
    assert all("n" in s.letters or parts.sums(s) for s in parts.rows)
    assert {s.name for s in parts.rows if parts.sums(s)} >= {"s"}


def test_no_strips_where_rows_need_a_finished_sum_or_are_handed_out() -> None:
    twice = FORM + "w[n,k] = q[n,k] / s[k,0]\nt[k] = sum(n, w[n,k])"
    assert strips(simpler(anf(of(twice, "t")))) is None
    assert strips(simpler(anf(of(FORM, "s, q")))) is None
