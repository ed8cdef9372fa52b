"""What a recurrence only hands out takes the letters of what it reads, and means the same."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.program.axes.beside import beside
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import program, shown
from tests.emit.tree.running import near, plain

pytestmark = pytest.mark.core
R = np.random.default_rng(17)
DATA = {"A": R.random((3, 3)) / 3, "c": R.normal(size=(5, 3)), "e": R.normal(size=3)}
BODY = """
    for u:
        b[u,j] = first(1), sum(k, A[j,k] * w[u+1,k])
        w[u,k] = c[u,k] * b[u,k]
        {line}
    q[s,k] = g[s,k] + w[s,k]
"""


def renamed(line: str) -> str:
    """The equation of g; with its letters the program means what it meant."""
    whole = program("u:T down, s:T, i,j,k:K", "A[K,K], c[T,K], e[K]", BODY.format(line=line), "q")
    made = beside(whole)
    check(made)
    given = {x: DATA[x] for x in (q.name for q in whole.given)}
    wanted = interpret(whole, given)
    near(interpret(made, given), wanted)
    near(plain(scheduled(whole), given), wanted)
    return next(shown(s) for s in made.lets if s.name == "g")


def test_a_product_stands_where_its_factor_is_made() -> None:
    assert renamed("g[u,k] = e[k] * b[u,k]") == "g[u,j] = e[j] * b[u,j]"
    assert renamed("g[u,i] = first(e[i]), exp(b[u,i]) + c[u,i] * b[u+1,i]") == (
        "g[u,j] = first(e[j]), exp(b[u,j]) + c[u,j] * b[u+1,j]"
    )


@pytest.mark.parametrize("line", [
    "g[u,k] = b[u,k] * w[u,k]",  # of two that are made apart
    "g[u,k] = c[u,k] * e[k]",  # of what is given
    "g[u,j] = c[u,j] * b[u,j]",
    "g[u,k] = sum(i, A[k,i] * b[u,i])",
    "g[u,k] = init(1), b[u,k] / 2 + g[u+1,k] / 3",  # the recurrence reads it
])  # fmt: skip
def test_any_other_stays(line: str) -> None:
    assert renamed(line) == line


def test_a_letter_that_the_equation_has_is_not_taken() -> None:
    body = BODY.format(line="h[u,j,k] = b[u,k] * e[j]").replace("g[s,k]", "sum(j, h[s,j,k])")
    whole = program("u:T down, s:T, i,j,k:K", "A[K,K], c[T,K], e[K]", body, "q")
    assert beside(whole) == whole


def test_the_letter_of_the_recurrence_stays() -> None:
    body = "for u:\n a[u,k] = init(0), a[u+1,k] + c[u,k]\n p[u,k] = a[u,k] * 2\nq[s,k] = p[s,k]"
    whole = program("u:T down, s:T, k:K", "c[T,K]", body, "q")
    assert beside(whole) == whole
