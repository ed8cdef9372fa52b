"""Entries read once: which become numbers, and that nothing that changes does."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.loads import loaded
from blrgen.emit.tree.printer import Expressions, Lines
from blrgen.program import nodes as n

J, K, X = map(t.name, "jkx")
ZERO, ONE = t.Whole(0), t.Whole(1)


def entry(array, *index):
    return t.Entry(array, index)


def loop(letter, *body):
    return t.For(letter, ZERO, t.Whole(3), body)


def lines(*body):
    made: set[str] = set()

    def own(name):
        while name in made:
            name += "_"
        made.add(name)
        return name

    return Lines(Expressions()).body(loaded(body, own), 0)


def same(*body):
    """The numbers after the statements are those of the statements as they were."""
    found = []
    for source in (lines(*body), Lines(Expressions()).body(body, 0)):
        rng = np.random.default_rng(1)
        values = {x: rng.normal(size=3) for x in "abcs"} | {"p": rng.normal(size=(3, 3)), "x": 0.5}
        values |= {"j": 1, "k": 2, "z": np.array([2, 0, 1]), "turn": lambda v: v.__setitem__(0, 7)}
        exec("\n".join(source), {"np": np}, values)
        found.append(values)
    for name in "abcspx":
        np.testing.assert_array_equal(found[0][name], found[1][name])


def test_what_stays_the_same_is_read_before_the_loop():
    inner = loop("k", t.Increase(entry("s", K), n.mul(entry("a", J), entry("p", J, K))))
    assert lines(loop("j", inner)) == [
        "for j in range(3):",
        "    a_j = a[j]",
        "    for k in range(3):",
        "        s[k] += a_j * p[j, k]",
    ]
    same(loop("j", inner))


def test_what_has_been_written_is_not_read_again():
    body = (
        t.Assign(entry("a", K), n.mul(X, entry("b", K))),
        t.Assign(entry("c", K), n.mul(entry("a", K), entry("a", K))),
        loop("j", t.Increase(entry("s", J), entry("a", K))),
    )
    assert lines(*body) == [
        "a_k = x * b[k]",
        "a[k] = a_k",
        "c[k] = a_k * a_k",
        "for j in range(3):",
        "    s[j] += a_k",
    ]
    same(*body)


def test_what_is_not_read_again_stays():
    body = t.Assign(entry("a", K), n.mul(X, entry("b", K)))
    assert lines(body) == ["a[k] = x * b[k]"]


A_K, READ = entry("a", K), t.Assign(entry("c", ZERO), entry("a", K))
TURN = t.Invoke("turn", (t.name("a"),), False)
WRITE = t.Assign(A_K, n.mul(X, entry("b", K)))


@pytest.mark.parametrize(
    "body",
    [
        # the array changes elsewhere, perhaps in the same place
        (WRITE, t.Assign(entry("a", t.Whole(2)), ONE), READ),
        # it is added to before it is read
        (WRITE, t.Increase(A_K, X), READ),
        # the place is another one
        (WRITE, t.Assign(K, ZERO), READ),
        (WRITE, loop("k", READ)),
        # a part of the array is written by another name
        (t.View("v", entry("a", t.Span())), WRITE, t.Assign(entry("v", ZERO), ONE), READ),
        (t.View("v", entry("a", t.Span())), WRITE, t.Assign(entry("v", t.Span()), ONE), READ),
        # a function writes it
        (
            t.Assign(entry("a", ZERO), n.mul(X, X)),
            TURN,
            t.Assign(entry("c", ONE), entry("a", ZERO)),
        ),
        # a loop reads and changes it
        (WRITE, loop("j", t.Assign(entry("c", J), A_K), t.Assign(entry("a", J), ONE))),
        (loop("j", t.Assign(entry("a", J), entry("a", K))),),
        (loop("j", t.Increase(entry("s", J), entry("s", ONE))),),
        # the number that was written changes
        (t.Assign(A_K, X), t.Assign(X, entry("b", ONE)), READ),
        # a place that the loop finds
        (loop("j", t.Assign(K, entry("z", J)), t.Increase(entry("s", ZERO), A_K)),),
        # in one branch only
        (
            WRITE,
            t.If(n.Compare(">", X, ZERO), (t.Assign(entry("a", K), ONE),)),
            READ,
        ),
        (loop("j", t.If(n.Compare(">", entry("a", K), ZERO), (t.Increase(entry("s", J), A_K),))),),
    ],
)  # fmt: skip
def test_the_numbers_are_the_same(body):
    same(*body)
