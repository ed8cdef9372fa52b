"""Four turns at once: the same numbers, and only where no turn reads what another one writes."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from blrgen.emit.tree import jammed as module
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.printer import Expressions, Lines
from blrgen.program import nodes as n

ROW, J, B, T = map(t.name, "ijbt")


def jammed(body):
    return module.jammed(body, str)


def entry(array, *index):
    return t.Entry(array, index)


def rows(*body):
    return t.For("b", t.Whole(0), t.name("m"), body, rows=True)


def over_j(*body, stop=None, **more):
    return t.For("j", t.Whole(0), stop or t.plus(ROW, t.Whole(1)), body, **more)


SUMS = over_j(
    t.Assign(T, n.ZERO),
    rows(t.Increase(T, n.mul(entry("f", B), entry("x", J, B)))),
    t.Increase(entry("s", ROW, J), T),
)
PRODUCT = over_j(rows(t.Increase(entry("y", B), n.mul(entry("p", ROW, J), entry("x", J, B)))))

SQUARE = n.mul(entry("f", J), entry("f", J), entry("x", J, B), entry("x", J, B))
TWO = over_j(
    rows(t.Increase(entry("y", B), SQUARE), t.Increase(entry("w", B), n.mul(SQUARE, SQUARE))),
    stop=ROW,
)


def run(body, **values):
    """The arrays after the statements."""
    source = "\n".join(Lines(Expressions()).body(body, 0))
    exec(source, {"np": np}, values)
    return values


def arrays(i):
    rng = np.random.default_rng(0)
    x, p = rng.normal(size=(9, 5)), rng.normal(size=(9, 9))
    return {"i": i, "m": 5, "x": x, "p": p, "f": rng.normal(size=9), "y": np.ones(5),
            "w": np.ones(5), "s": np.ones((9, 9))}  # fmt: skip


@pytest.mark.parametrize("loop", [SUMS, PRODUCT, TWO], ids=["sums", "product", "two"])
@pytest.mark.parametrize("i", range(9))
def test_the_numbers_are_the_same_for_every_count(loop, i):
    turned = jammed((loop,))
    assert turned != (loop,)
    plain, four = run((loop,), **arrays(i)), run(turned, **arrays(i))
    for name in ("s", "y", "w"):
        np.testing.assert_allclose(four[name], plain[name], rtol=1e-14)


def test_what_every_turn_adds_to_one_place_is_one_sum():
    text = Lines(Expressions()).body(jammed((PRODUCT,)), 0)
    assert text[:2] == ["for j in range(0, (i + 1) // 4 * 4, 4):", "    for b in range(m):"]
    first = ast.parse("\n".join(text)).body[0].body[0].body[0]
    assert ast.unparse(first) == (
        "y[b] += p[i, j] * x[j, b] + p[i, j + 1] * x[j + 1, b] + p[i, j + 2] * x[j + 2, b]"
        " + p[i, j + 3] * x[j + 3, b]"
    )


def test_a_known_count_leaves_no_loop_for_nothing():
    whole = jammed((over_j(*SUMS.body, stop=t.Whole(8)),))
    assert [s.stop for s in whole] == [t.Whole(8)]
    part = jammed((over_j(*SUMS.body, stop=t.Whole(6)),))
    assert [(s.start, s.stop) for s in part] == [
        (t.Whole(0), t.Whole(4)),
        (t.Whole(4), t.Whole(6)),
    ]
    few = over_j(*SUMS.body, stop=t.Whole(3))
    assert jammed((few,)) == (few,)


def test_a_number_that_is_used_later_is_that_of_the_last_turn():
    loop = over_j(
        t.Assign(T, entry("f", J)),
        rows(t.Increase(entry("y", B), n.mul(T, entry("x", J, B)))),
        stop=t.Whole(4),
    )
    after = t.Assign(entry("s", t.Whole(0), t.Whole(0)), T)
    values = arrays(0)
    found = run((*jammed((loop,)), after), **values)
    assert jammed((loop,)) != (loop,)
    assert found["s"][0, 0] == values["f"][3]


@pytest.mark.parametrize(
    "loop",
    [
        # the turn before is read
        over_j(
            rows(
                t.Assign(
                    entry("x", t.plus(J, t.Whole(1)), B), n.mul(entry("x", J, B), entry("f", B))
                )
            )
        ),
        # every turn overwrites the same place, and reads it
        over_j(rows(t.Assign(entry("y", B), n.mul(entry("y", B), entry("x", J, B))))),
        # what is added up is read on the way
        over_j(
            rows(
                t.Increase(entry("y", B), entry("x", J, B)),
                t.Assign(entry("z", J, B), entry("y", B)),
            )
        ),
        # a running number
        over_j(
            rows(t.Increase(T, n.mul(entry("f", B), entry("x", J, B)))),
            t.Assign(entry("s", ROW, J), T),
        ),
        # a running number in the place where turns write
        over_j(t.Assign(T, n.mul(T, entry("f", J))), rows(t.Increase(entry("y", B), T))),
        # the rows depend on the turn
        over_j(
            t.For(
                "b",
                t.Whole(0),
                J,
                (t.Increase(entry("y", B), entry("x", J, B)),),
                rows=True,
            )
        ),
        # nothing is shared
        over_j(rows(t.Assign(entry("z", J, B), entry("x", J, B)))),
        # several statements, three sums, two of each turn, and functions are enough work
        over_j(rows(*TWO.body[0].body, t.Increase(entry("v", B), entry("x", J, B)))),
        over_j(rows(t.Increase(entry("y", B), SQUARE), t.Increase(entry("s", J, B), SQUARE))),
        over_j(
            t.Assign(T, n.ZERO),
            rows(
                t.Assign(t.name("r"), n.mul(entry("f", B), entry("x", J, B))),
                t.Increase(T, t.name("r")),
            ),
            t.Increase(entry("s", ROW, J), T),
        ),
        over_j(rows(t.Increase(entry("y", B), n.Call("exp", (entry("x", J, B),))))),
        # a recurrence that runs down, or by its own steps
        over_j(*SUMS.body, down=True),
        over_j(*SUMS.body, step=t.Whole(2)),
    ],
)  # fmt: skip
def test_it_is_left_alone(loop):
    assert jammed((loop,)) == (loop,)
