"""Exponentials of sums as products, and what is done where these vanish."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.emit.tree.functions import functions
from blrgen.emit.tree.numba import function
from blrgen.program.axes import nodes as a
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.order import order
from blrgen.program.axes.prepared import prepared, scheduled
from blrgen.program.axes.separated import separated
from blrgen.program.axes.text import program, shown
from tests.emit.tree.running import plain

R = np.random.default_rng(6)
PTR = np.array([0, 3, 4, 8])
WORD = np.array([0, 4, 2, 1, 3, 3, 0, 4])
DATA = {"ptr": PTR, "w": WORD, "a": R.normal(size=(3, 4)), "b": R.normal(size=(5, 4)),
        "c": R.random(8)}  # fmt: skip
BODY = """
    z[d,i,k] = a[d,k] + b[w[d,i],k]
    l[d,i] = lse(k, z[d,i,k])
    r[d,i,k] = exp(z[d,i,k] - l[d,i])
    s[d,k] = sum(i, c[d,i] * r[d,i,k])
    t[k] = sum((d,i), r[d,i,k])
    L = sum((d,i), l[d,i])
"""


def of(body: str = BODY, outs: str = "s, t, L") -> a.Program:
    given = "ptr[D_ends], w[D,W] in V, a[D,K], b[V,K], c[D,W]"
    return program("d:D, i:W under d by ptr, k:K, j:V", given, body, outs)


def apart(p: a.Program) -> a.Program:
    ready = prepared(p)
    return separated(ready, order(ready))


def exponentials(p: a.Program) -> list[str]:
    """Those that are always made."""
    return [s.name for s in p.lets if "exp(" in shown(s) and s.where is None]


def test_exponentials_have_the_places_of_the_terms() -> None:
    after = apart(of())
    assert [s.letters for s in after.lets if s.name in exponentials(after)] == [
        ("j", "k"), ("d", "k"),
    ]  # fmt: skip
    guarded = {s.name for s in after.lets if s.where is not None}
    assert guarded >= {"z", "l_exp_apart", "l_highest", "l_total_apart"}


@pytest.mark.parametrize("shift", [0.0, 30.0, 300.0, 2000.0])
@pytest.mark.parametrize("body", [BODY])
def test_the_same_however_far_apart_the_largest_are(shift: float, body: str) -> None:
    """The largest of a and of b are in different places: their product is e^−shift at the most."""
    far = dict(DATA)
    far["a"] = DATA["a"] + np.where(np.arange(4) == 0, shift, 0.0)
    far["b"] = DATA["b"] + np.where(np.arange(4) == 1, shift, 0.0)
    far["b"][3] += np.where(np.arange(4) == 0, 2 * shift, 0.0)
    meant = interpret(of(body), far)
    means = interpret(apart(of(body)), far)
    found = plain(scheduled(of(body)), far)
    for name, value in meant.items():
        np.testing.assert_allclose(means[name], value, rtol=1e-12)
        np.testing.assert_allclose(found[name], value, rtol=1e-12)


def test_a_sum_over_words_has_the_documents_factor_outside() -> None:
    text = "\n".join(map(function, functions(scheduled(of()), "f")))
    assert "s_near[k] += s_near_part * b_exp_row" in text
    assert "if z_far else 0" in text


@pytest.mark.parametrize(
    "body",
    ["z[d,i,k] = a[d,k] + c[d,i] * b[w[d,i],k]",  # a factor of each row
     "z[d,i,k] = b[w[d,i],k] + c[d,i]",
     "z[d,i,k] = a[d,k] * b[w[d,i],k]"],
)  # fmt: skip
def test_other_sums_stay(body: str) -> None:
    lines = f"{body}\nl[d,i] = lse(k, z[d,i,k])\nL = sum((d,i), l[d,i])\n"
    before = prepared(of(lines, "L"))
    assert separated(before, order(before)) == before


def test_rows_in_blocks_stay() -> None:
    lines = "z[n,k] = a[k] + b[n]\nl[n] = lse(k, z[n,k])\nL = sum(n, l[n])\n"
    before = prepared(program("n:N, k:K", "a[K], b[N]", lines, "L"))
    assert separated(before, order(before)) == before
