"""Functions that go across an array: the same numbers, first side by side."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.emit.tree import apart as module
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.printer import Expressions, Lines
from blrgen.program import nodes as n

J, K, M = map(t.name, "jkm")


def apart(body):
    return module.apart(body, lambda x: x)


def entry(array, *index):
    return t.Entry(array, index)


def loops(target, *more, stop=M, value=None):
    value = value or n.Call("exp", (entry("b", K, J),))
    inner = t.For("j", t.Whole(0), stop, (t.Assign(target, value), *more))
    return t.For("k", t.Whole(0), t.Whole(3), (inner,))


def run(body):
    rng = np.random.default_rng(0)
    values = {"m": 5, "a": np.zeros((5, 3)), "c": np.zeros((3, 5)), "b": rng.normal(size=(3, 5)),
              "s": np.zeros(5), "real": np.float64}  # fmt: skip
    exec("\n".join(Lines(Expressions()).body(body, 0)), {"np": np}, values)
    return values


def test_the_store_is_in_a_loop_of_its_own():
    body = (loops(entry("a", J, K)),)
    after = apart(body)
    made, outer = after
    assert isinstance(made, t.Make) and len(outer.body) == 2
    then = outer.body[1]
    assert not any(isinstance(x, n.Call) for s in then.body for e in t.expressions(s)
                   for x in n.walk(e))  # fmt: skip
    np.testing.assert_array_equal(run(after)["a"], run(body)["a"])


def test_memory_is_made_where_its_size_is_known():
    inner = loops(entry("a", J, K), stop=t.name("count"))
    body = (t.For("h", t.Whole(0), t.Whole(2), (t.Assign(t.name("count"), M), inner)),)
    (outer,) = apart(body)
    assert [type(s) for s in outer.body] == [t.Assign, t.Make, t.For]
    np.testing.assert_array_equal(run(apart(body))["a"], run(body)["a"])


@pytest.mark.parametrize(
    "loop",
    [
        loops(entry("c", K, J)),  # along the array
        loops(entry("a", J, K), value=entry("b", K, J)),  # no function
        loops(entry("a", J, t.Whole(0))),  # into one column alone
        loops(entry("a", J, K), t.Increase(entry("s", J), entry("a", J, K))),  # read again
    ],
)
def test_all_else_stays(loop):
    assert apart((loop,)) == (loop,)
