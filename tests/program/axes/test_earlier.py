"""What a recurrence keeps is read a place before."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.earlier import earlier
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import prepared, scheduled
from blrgen.program.axes.text import program
from tests.emit.tree.running import plain

R = np.random.default_rng(8)
FORWARD = """
    for t:
        al[t,k] = first(x[t,k]), x[t,k] + sum(j, al[t-1,j] * A[j,k])
        before[t,k] = first(0), al[t-1,k]
"""
BOTH = """
    pairs[j,k] = sum(p, before[p,j] * al[p,k])
    one[k] = sum(p, al[p,k])
"""


def of(body: str, outs: str) -> a.Program:
    return program("t,p:T, u:T down, j,k:K", "x[T,K], A[K,K]", body, outs)


def data(T: int) -> dict:
    return {"x": R.normal(size=(T, 3)), "A": R.normal(size=(3, 3))}


@pytest.mark.parametrize("T", [1, 2, 5])
def test_it_is_kept_once(T: int) -> None:
    made = of(FORWARD + BOTH, "pairs, one")
    after = earlier(prepared(made))
    assert "before" not in {s.name for s in after.lets}
    given = data(T)
    wanted, found = interpret(made, given), plain(scheduled(made), given)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("T", [1, 2, 5])
def test_it_is_read_by_a_recurrence_the_other_way(T: int) -> None:
    made = of(
        f"{FORWARD}    for u:\n        b[u,k] = first(1), b[u+1,k] * A[k,k]\n"
        "        c[u,j,k] = before[u,j] * b[u,k] * al[u,k]\n    s[j,k] = sum(p, c[p,j,k])\n",
        "s",
    )
    assert "before" not in {s.name for s in earlier(prepared(made)).lets}
    given = data(T)
    np.testing.assert_allclose(
        plain(scheduled(made), given)["s"], interpret(made, given)["s"], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    ("body", "outs"),
    [(FORWARD + BOTH, "pairs, before"),  # it is handed out
     (FORWARD + "    s[k] = sum(p, before[p,k])", "s"),  # the rest is not kept
     (FORWARD.replace("first(0), al", "first(1), al") + BOTH, "pairs, one")],
)  # fmt: skip
def test_otherwise_it_stays(body: str, outs: str) -> None:
    assert "before" in {s.name for s in earlier(prepared(of(body, outs))).lets}
