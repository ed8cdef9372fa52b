"""What a recurrence does not change, rows by labels too, stands before it."""

from __future__ import annotations

import numpy as np

from blrgen.program.axes import nodes as a
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.outside import outside
from blrgen.program.axes.prepared import prepared, scheduled
from blrgen.program.axes.text import program
from tests.emit.tree.running import plain

R = np.random.default_rng(2)
ROUNDS = """
    for r:
        q[r,n] = sum(k, t[r-1,k] * b[w[n],k])
        t[r,k] = init(1), sum(n, b[w[n],k] / q[r,n]) * c[k]
    f[k] = t[last(r),k]
"""


def of(body: str, given: str = "b[V,K], w[N] in V, c[K]"):
    return program("r:4, n:N, k:K", given, body, "f")


def inside(made: a.Program) -> set[str]:
    (seq,) = (s for s in made.body if isinstance(s, a.Seq))
    return {x for s in a.lets(seq.body) for e in s.expressions for x in e.names}


def test_rows_by_labels_are_fetched_once() -> None:
    made = of(ROUNDS)
    after = outside(prepared(made))
    assert not {"b", "w"} & inside(after)
    given = {"b": R.random((6, 3)), "w": R.integers(0, 6, 9), "c": R.random(3)}
    wanted, found = interpret(made, given)["f"], plain(scheduled(made), given)["f"]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_not_those_that_change_with_it() -> None:
    made = of(ROUNDS.replace("w[n]", "w[r]"), "b[V,K], w[4] in V, c[K]")
    assert {"b", "w"} <= inside(outside(prepared(made)))
