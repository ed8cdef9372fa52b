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
    for d:
        for r:
            q[r,d,i] = sum(k, t[d,r-1,k] * b[w[d,i],k])
            t[d,r,k] = init(g[d,k]), sum(i, b[w[d,i],k] / q[r,d,i]) * c[k]
        f[d,k] = t[d,last(r),k]
"""
FLAT = """
    for r:
        q[r,n] = sum(k, t[r-1,k] * b[z[n],k])
        t[r,k] = init(1), sum(n, b[z[n],k] / q[r,n]) * c[k]
    f[k] = t[last(r),k]
"""
RAGGED = "ptr[O], b[V,K], w[D,W] in V, c[K], g[D,K]"


def of(body: str, given: str):
    return program("r:4, d:D, i:W under d by ptr, n:N, k:K", given, body, "f")


def read(made: a.Program) -> set[str]:
    """What is read where most is repeated."""

    def innermost(body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
        inner = [s for s in body if isinstance(s, a.Seq)]
        return innermost(inner[0].body) if inner else body

    return {x for s in a.lets(innermost(made.body)) for e in s.expressions for x in e.names}


def test_rows_by_labels_are_fetched_once() -> None:
    made = of(ROUNDS, RAGGED)
    assert {"b", "w"} <= read(prepared(made)) and not {"b", "w"} & read(outside(prepared(made)))
    given = {"ptr": np.array([0, 4, 4, 9]), "b": R.random((6, 3)), "w": R.integers(0, 6, 9),
             "c": R.random(3), "g": R.random((3, 3))}  # fmt: skip
    wanted, found = interpret(made, given)["f"], plain(scheduled(made), given)["f"]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_not_those_that_change_with_it_nor_all_there_are() -> None:
    changing = of(ROUNDS.replace("b[w[d,i],k] / q", "b[w[d,i],k] * s[r] / q"), f"{RAGGED}, s[4]")
    assert "s" in read(outside(prepared(changing)))
    flat = of(FLAT, "b[V,K], z[N] in V, c[K]")
    assert {"b", "z"} <= read(outside(prepared(flat)))
