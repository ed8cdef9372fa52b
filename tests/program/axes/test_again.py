"""What a pass needs is made in it, again where an earlier one has made it already."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.again import again
from blrgen.program.axes.check import TypeMismatch, check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.schedule import Loop, schedule
from blrgen.program.axes.scratch import storage
from blrgen.program.axes.text import program, shown

SHARES = program(
    "i:d", "x[d], r",
    """
    e[i] = exp(x[i])
    s = sum(i, e[i])
    q[i] = e[i] / s
    v = sum(i, q[i]**2)
    x_next[i] = r * q[i] / v
    """,
    writes="x = x_next",
)  # fmt: skip


def read(p: a.Program, name: str) -> set[str]:
    (found,) = (s.expr.names for s in p.lets if s.name == name)
    return set(found)


def test_an_array_is_made_in_each_pass_that_reads_it() -> None:
    made = again(SHARES)
    assert [s.name for s in made.lets] == ["e", "s", "e_2", "q", "v", "e_3", "q_2", "x_next"]
    assert read(made, "q") == {"e_2", "s"} and read(made, "x_next") == {"r", "q_2", "v"}
    given: dict[str, Any] = {"x": np.array([0.3, -1.0, 2.0]), "r": 0.5}
    check(made)
    one, other = (interpret(p, given) for p in (SHARES, made))
    np.testing.assert_allclose(other["x"], one["x"], rtol=1e-14)


def test_nothing_of_the_size_of_the_axis_is_kept() -> None:
    made = schedule(again(SHARES), "i")
    assert [x.letter for x in made.body if isinstance(x, Loop)] == ["i", "i", "i"]
    assert all(not s.kept for s in storage(made).values())
    plain = storage(schedule(SHARES, "i"))
    assert plain["e"].kept == plain["q"].kept == ("i",)


def test_what_is_written_is_made_last() -> None:
    p = program("i:d", "x[d], y[d]",
                "y_next[i] = 2 * y[i]\ns = sum(i, x[i])\nx_next[i] = x[i] / s",
                writes="x = x_next, y = y_next")  # fmt: skip
    made = again(p)
    assert [s.name for s in made.lets] == ["s", "y_next", "x_next"]
    assert [len(x.items) for x in schedule(made, "i").body if isinstance(x, Loop)] == [1, 4]


def test_an_equation_waits_for_those_it_comes_after() -> None:
    """A loop of its own, though nothing that it reads is made before it."""
    made = again(SHARES)
    late = next(s for s in made.lets if s.name == "e_2")
    assert late.after == ("s",)
    places = [i.let.name for x in schedule(made, "i").body if isinstance(x, Loop) for i in x.items]
    assert places.index("s") < places.index("e_2") < places.index("v") < places.index("e_3")


def test_one_number_more_in_a_sum_of_exponentials() -> None:
    p = program("i:d", "x[d], y", "l = lse(i, x[i], y)", "l")
    check(p)
    assert shown(p.lets[0]) == "l = lse(i, x[i], y)"
    x, y = np.array([1.0, 800.0, -3.0]), 801.0
    found = interpret(p, {"x": x, "y": y})["l"]
    assert found == pytest.approx(float(np.logaddexp.reduce([*x, y])), rel=1e-15)
    with pytest.raises(TypeMismatch, match="one number more, of what is no lse"):
        check(program("i:d", "x[d], y", "l = sum(i, x[i], y)", "l"))
