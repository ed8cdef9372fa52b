"""Recurrences that begin as after zeros are in one piece; others stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.text import program
from blrgen.program.axes.unbroken import unbroken

R = np.random.default_rng(5)
GIVEN = {"h": R.normal(size=(5, 3)), "C": R.normal(size=(5, 3, 3))}


def of(body: str, letters: str = "t:T, i,k:p"):
    return program(letters, "h[T,p], C[T,p,p]", body, "x")


PLAIN = """
    for t:
        s[t,i] = first(0), sum(k, C[t,i,k] * x[t-1,k])
        x[t,i] = first(h[t,i]), h[t,i] - s[t,i]
"""
WHOLE = """
    for t:
        x[t,i] = first(h[t,i]), h[t,i] + sum(k, C[t,i,k] * x[t-1,k])
"""


@pytest.mark.parametrize("letters", ["t:T, i,k:p", "t:T down, i,k:p"])
@pytest.mark.parametrize("body", [PLAIN, WHOLE])
def test_after_zeros_it_says_the_same(letters: str, body: str) -> None:
    body = body.replace("t-1", "t+1") if "down" in letters else body
    before = of(body, letters)
    after = unbroken(before)
    check(after)
    assert all(s.first is None for s in after.lets)
    assert [s.name for s in after.lets if s.init is not None] == ["x"]
    assert np.array_equal(interpret(after, GIVEN)["x"], interpret(before, GIVEN)["x"])


@pytest.mark.parametrize(
    "body",
    [
        "for t:\n x[t,i] = first(h[t,i]), 2 * h[t,i] + x[t-1,i]",  # begins with something else
        "for t:\n x[t,i] = first(h[t,i]), h[t,i] * exp(x[t-1,i])",  # so do zeros
        "for t:\n x[t,i] = first(h[t,i]), h[t,i] + h[t-1,i]",  # nothing is given before
        "for t:\n x[t,i] = init(1), h[t,i] + x[t-1,i]",
        "for t:\n z[t,i] = first(h[t,i]), h[t,i] + x[t-1,i]\n x[t,i] = first(1), z[t,i]",
    ],
)
def test_any_other_stays(body: str) -> None:
    made = of(body)
    assert unbroken(made) == made


def test_a_recurrence_inside_of_another_stays() -> None:
    body = "for t:\n  for i:\n    x[t,i] = first(h[t,i]), h[t,i] + x[t,i-1]"
    made = of(body)
    assert unbroken(made) == made
    assert isinstance(made.body[0], a.Seq)
