"""Each pass on the smallest programs that show it; what they mean stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import anf
from blrgen.program.axes.check import check
from blrgen.program.axes.dead import dead
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.kept import kept
from blrgen.program.axes.labels import labels
from blrgen.program.axes.order import order
from blrgen.program.axes.quotients import quotients
from blrgen.program.axes.ragged import opened
from blrgen.program.axes.rows import minibatch
from blrgen.program.axes.share import share
from blrgen.program.axes.split import split
from blrgen.program.axes.stable import stable
from blrgen.program.axes.structure import structure
from blrgen.program.axes.text import program, shown
from blrgen.program.axes.written_out import written_out

LETTERS = "n:N, k:K, i,j:d, t:T, u:T down, a,b:2, w:W under n by ptr"
GIVEN = (
    "x[N,d], y[N], z[N] in K, c[K], q[K,d], S[d,d] spd, P[d,d] lower, A[2,2] spd, v[2], h[N,W],"
    "ptr[O], s"
)
R = np.random.default_rng(1)
VALUES: dict[str, Any] = {
    "x": R.normal(size=(4, 3)), "y": R.normal(size=4), "z": np.array([1, 0, 1, 1]),
    "c": R.normal(size=2), "q": R.normal(size=(2, 3)), "S": 3 * np.eye(3) + 0.1,
    "P": np.tril(R.normal(size=(3, 3))), "A": np.array([[2.0, 0.5], [0.5, 1.0]]),
    "v": R.normal(size=2), "h": R.normal(size=6), "ptr": np.array([0, 2, 2, 3, 6]), "s": 0.3,
}  # fmt: skip


def made(body: str, outs: str) -> a.Program:
    p = program(LETTERS, GIVEN, body, outs)
    check(p)
    return p


def lines(p: a.Program) -> list[str]:
    return [line for s in p.body for line in shown(s).split("\n")]


def becomes(change: Callable[[a.Program], a.Program], body: str, outs: str, *wanted: str) -> None:
    """The lines after the pass, and that they mean what they meant."""
    before = made(body, outs)
    after = change(before)
    assert lines(after) == list(wanted)
    sizes = {"T": 4}
    meant, means = interpret(before, VALUES, sizes), interpret(after, VALUES, sizes)
    assert set(meant) == set(means)
    for name, value in meant.items():
        np.testing.assert_allclose(means[name], value, rtol=1e-13, atol=1e-13)


def test_reductions_and_algebra_stand_alone() -> None:
    becomes(
        anf, "g[i] = sum(n, x[n,i]) + solve(S[i,j], q[0,i]) * s", "g",
        "g_sum[i] = sum(n, x[n,i])",
        "g_solve[i] = solve(S[i,j], q[0,i])",
        "g[i] = g_sum[i] + g_solve[i] * s",
    )  # fmt: skip


def test_what_is_for_later_indices_is_not_computed_at_the_first() -> None:
    becomes(
        anf, "for t:\n    m[t,i] = first(q[0,i]), sum(j, S[i,j] * m[t-1,j])", "m",
        "for t:",
        "    m_sum[t,i] = first(0), sum(j, S[i,j] * m[t-1,j])",
        "    m[t,i] = first(q[0,i]), m_sum[t,i]",
    )  # fmt: skip


def test_what_a_finished_sum_makes_stands_after_its_recurrence() -> None:
    becomes(
        anf, "for n:\n    C[i,j]: sym = sum(n, x[n,i] * x[n,j])", "C",
        "for n:",
        "    C_sum[i,j] = sum(n, x[n,i] * x[n,j])",
        "C[i,j]: sym = C_sum[i,j]",
    )  # fmt: skip


def test_a_gather() -> None:
    becomes(
        labels, "e[n] = y[n] - sum(k, [z[n] == k] * c[k])", "e",
        "e[n] = y[n] - c[z[n]]",
    )  # fmt: skip


def test_an_identity_in_a_sum() -> None:
    becomes(labels, "e[i] = sum(j, [i == j] * q[0,j])", "e", "e[i] = q[0,i]")


def test_sums_by_label() -> None:
    becomes(
        labels, "g[k,i] = sum(n, [z[n] == k] * x[n,i] * c[k])", "g",
        "g[z[n],i] = sum(n, x[n,i] * c[z[n]])",
    )  # fmt: skip


def test_a_log_sum_does_not_overflow_and_its_exponentials_are_there_once() -> None:
    becomes(
        lambda p: stable(anf(p)),
        "l[n] = lse(i, x[n,i])\nr[n,i] = exp(x[n,i] - l[n])", "l, r",
        "l_highest[n] = max(i, x[n,i])",
        "l_top[n] = select(l_highest[n] == -inf, 0, l_highest[n])",
        "l_exp[n,i] = exp(x[n,i] - l_top[n])",
        "l_total[n] = sum(i, l_exp[n,i])",
        "l_over[n] = 1 / l_total[n]",
        "l[n] = l_top[n] + log(l_total[n])",
        "r[n,i] = l_exp[n,i] * l_over[n]",
    )  # fmt: skip


def test_a_product_is_split_by_its_letters() -> None:
    becomes(
        lambda p: split(p, order(p)),
        "C[i,j] = sum(n, y[n] * x[n,i] * x[n,j])", "C",
        "C_part[n,i] = y[n] * x[n,i]",
        "C[i,j] = sum(n, C_part[n,i] * x[n,j])",
    )  # fmt: skip


def test_a_function_of_fewer_letters_is_called_outside() -> None:
    becomes(
        lambda p: split(p, order(p)), "e[n,i] = x[n,i] * exp(y[n]) + sqrt(s)", "e",
        "e_part[n] = exp(y[n])",
        "e_part_2 = sqrt(s)",
        "e[n,i] = x[n,i] * e_part[n] + e_part_2",
    )  # fmt: skip


def test_equations_share_what_is_split_from_them() -> None:
    becomes(
        lambda p: split(p, order(p)),
        "e[n,i] = x[n,i] * exp(y[n])\nf[n,i] = x[n,i] + exp(y[n])", "e, f",
        "e_part[n] = exp(y[n])",
        "e[n,i] = x[n,i] * e_part[n]",
        "f[n,i] = x[n,i] + e_part[n]",
    )  # fmt: skip


def test_one_division_for_many() -> None:
    becomes(
        quotients, "m[n] = exp(y[n])\ne[n,i] = x[n,i] / m[n]\nf[n] = y[n] / m[n]", "e, f",
        "m[n] = exp(y[n])",
        "m_over[n] = 1 / m[n]",
        "e[n,i] = x[n,i] * m_over[n]",
        "f[n] = y[n] / m[n]",
    )  # fmt: skip


def test_a_function_is_called_once() -> None:
    becomes(
        share, "p[n] = logistic(y[n])\nf[n] = softplus(y[n])", "p, f",
        "p_exp[n] = exp(-abs(y[n]))",
        "p[n] = select(y[n] >= 0, 1, p_exp[n]) / (1 + p_exp[n])",
        "f[n] = max(y[n], 0) + log1p(p_exp[n])",
    )  # fmt: skip


def test_half_of_what_is_symmetric() -> None:
    p = structure(anf(made("C[i,j]: sym = sum(n, x[n,i] * x[n,j])", "C")))
    part, whole = p.lets
    assert (part.bounds, part.mirror) == ((("j", "i"),), False)
    assert (whole.bounds, whole.mirror) == ((("j", "i"),), True)


def test_no_zeros_of_what_is_triangular() -> None:
    (e,) = structure(made("e[n,i] = sum(j, P[i,j] * x[n,j])", "e")).lets
    assert e.bounds == (("j", "i"),)


def test_nothing_is_halved_that_is_read_as_a_whole() -> None:
    body = "m[i,j] = q[0,i] * q[1,j]\nC[i,j]: sym = m[i,j] + m[j,i]"
    first, _ = structure(made(body, "C")).lets
    assert first.bounds == ()


def test_running_values_apart_from_kept_ones() -> None:
    becomes(
        kept, "for t:\n    m[t] = first(s), m[t-1] * s", "m",
        "for t:",
        "    m_now[t] = first(s), m_now[t-1] * s",
        "    m[t] = m_now[t]",
    )  # fmt: skip


def test_of_a_running_value_whose_last_is_read_nothing_is_kept() -> None:
    body = "for t:\n    m[t] = first(s), m[t-1] * s\ne = m[last(t)]"
    becomes(kept, body, "e", "for t:", "    m[t] = first(s), m[t-1] * s", "e = m[last(t)]")


def test_what_nothing_needs_is_left_out() -> None:
    becomes(dead, "e = s\nf = e\ng = 2 * s", "g", "g = 2 * s")


def test_rows_of_different_lengths_by_what_they_are_under() -> None:
    becomes(opened, "e[n] = sum(w, h[n,w])", "e", "for n:", "    e[n] = sum(w, h[n,w])")


def test_rows_of_a_minibatch() -> None:
    whole = made("p[n] = exp(y[n])\ne[i] = sum(n, p[n] * x[n,i])", "e")
    few = minibatch(whole, "n", "m", "M", "rows")
    check(few)
    assert lines(few) == ["p[m] = exp(y[rows[m]])", "e[i] = sum(m, p[m] * x[rows[m],i])"]
    rows = np.array([2, 0, 2])
    found = interpret(few, {**VALUES, "rows": rows})["e"]
    np.testing.assert_allclose(found, np.exp(VALUES["y"][rows]) @ VALUES["x"][rows], rtol=1e-13)


def test_known_sizes_are_written_out() -> None:
    p = written_out(made("e[a] = sum(b, A[a,b] * v[b])\nf = e[0] * e[1]", "f"), {2})
    assert [x for x in lines(p) if not x.startswith(("A_", "v_"))] == [
        "e_0 = A_0_0 * v_0 + A_1_0 * v_1",
        "e_1 = A_1_0 * v_0 + A_1_1 * v_1",
        "f = e_0 * e_1",
    ]


def test_zeros_and_ones_are_folded() -> None:
    body = "I[a,b] = [a == b]\ne[a] = sum(b, I[a,b] * v[b])\nf = e[0] + e[1]"
    p = dead(written_out(made(body, "f"), {2}))
    assert lines(p)[-3:] == ["e_0 = v_0", "e_1 = v_1", "f = e_0 + e_1"]


@pytest.mark.parametrize("size", [2, 3])
def test_entries_of_linear_algebra(size: int) -> None:
    root = R.normal(size=(size, size))
    values = {"A": root @ root.T + size * np.eye(size), "v": R.normal(size=size)}
    p = program(
        f"a,b,c:{size}", f"A[{size},{size}] spd, v[{size}]",
        """
        L[a,b] = chol(A[a,b])
        Q[a,b] = linv(L[a,b])
        x[a] = solve(A[a,b], v[a])
        y[a] = lsolve(L[a,b], v[a])
        z[a] = ltsolve(L[a,b], v[a])
        I[a,c] = [a == c]
        V[a,c] = solve(A[a,b], I[a,c])
        d = logdet(A[a,b])
        """,
        "L, Q, x, y, z, V, d",
    )  # fmt: skip
    check(p)
    meant, means = interpret(p, values), interpret(written_out(anf(p), {size}), values)
    for name, value in meant.items():
        np.testing.assert_allclose(means[name], value, rtol=1e-12, atol=1e-12, err_msg=name)
