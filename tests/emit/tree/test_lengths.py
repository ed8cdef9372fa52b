"""Loops that call functions run as far as an array is long; all others to their number."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.functions import functions
from blrgen.emit.tree.lengths import measured
from blrgen.emit.tree.numba import function
from blrgen.program import nodes as n
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import program
from tests.emit.tree.running import near, plain

LENGTHS = {8: t.Shape("e", 1), 4: t.Shape("f", 1)}
K, EXP = t.name("k"), n.Call("_exp", (t.name("x"),))


def loop(value: n.Node, stop: n.Node | None = None, **more) -> t.For:
    return t.For(
        "k", t.Whole(0), stop or t.Whole(8), (t.Assign(t.Entry("a", (K,)), value),), **more
    )


def test_functions_of_our_own() -> None:
    around = t.For("d", t.Whole(0), t.name("D"), (loop(EXP),))
    (found,) = measured((around,), LENGTHS)
    assert found == t.For("d", t.Whole(0), t.name("D"), (loop(EXP, t.Shape("e", 1)),))


@pytest.mark.parametrize("other", [
    loop(t.name("x")),  # a value
    loop(n.Call("sqrt", (t.name("x"),))),
    loop(EXP, t.Whole(4)),  # few
    loop(EXP, t.Whole(9)),  # that no array shows
    loop(EXP, t.name("K")),
    loop(EXP, down=True),
    t.For("k", t.Whole(1), t.Whole(8), loop(EXP).body),
    t.For("k", t.Whole(0), t.Whole(8), (t.Invoke("_factor", ()), *loop(EXP).body)),
])  # fmt: skip
def test_any_other_stays(other: t.For) -> None:
    assert measured((other,), LENGTHS) == (other,)


def test_rows_of_a_program_are_not_asked() -> None:
    """The first axis of an array may be a part of it."""
    made = program("n:N, k:8", "x[N], c[8], C[N,8]",
                   "a[n,k] = exp(c[k] * C[n,k])\ns[n] = sum(k, a[n,k]) + x[n]", "s")  # fmt: skip
    plan = scheduled(made)
    source = "\n".join(map(function, functions(plan, "f")))
    assert "range(C.shape[1])" in source and "c.shape[0]" not in source
    r = np.random.default_rng(0)
    given = {"x": r.normal(size=5), "c": r.normal(size=8), "C": r.normal(size=(5, 8))}
    near(plain(plan, given), interpret(made, given))
