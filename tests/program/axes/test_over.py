"""One division for many: where it stands, and where a quotient stays one."""

from __future__ import annotations

import pytest

from blrgen.program.axes.check import check
from blrgen.program.axes.over import reciprocals
from blrgen.program.axes.text import listing, program


def turned(body: str, given: str = "x[N,d], c[d]", letters: str = "n:N, i:d, t:T, u:T down") -> str:
    made = reciprocals(program(letters, given, body))
    check(made)
    lines = listing(made).strip().split("\n")
    return "\n".join(x for x in lines if not x.startswith(("letter ", "given ")))


def test_the_reciprocal_of_what_is_made_stands_behind_it_and_is_shared():
    body = """
    s[n] = sum(i, x[n,i])
    y[n,i] = x[n,i] / s[n]
    z[n,i] = c[i] / s[n]
    """
    assert turned(body).split("\n") == [
        "s[n] = sum(i, x[n,i])",
        "s_over[n] = 1 / s[n]",
        "y[n,i] = x[n,i] * s_over[n]",
        "z[n,i] = c[i] * s_over[n]",
    ]


def test_other_loops_share_it():
    body = """
    for t:
        s[t] = sum(i, b[t,i])
    for u:
        w[u,i] = b[u,i] / s[u]
    """
    assert turned(body, "b[T,d], c[d]").split("\n") == [
        "for t:",
        "    s[t] = sum(i, b[t,i])",
        "    s_over[t] = 1 / s[t]",
        "for u:",
        "    w[u,i] = b[u,i] * s_over[u]",
    ]


def test_the_reciprocal_of_what_is_given_stands_before_everything():
    body = """
    for t:
        z[t,i] = x[t,i] / c[i]
    s[n,i] = x[n,i] / c[i]
    """
    assert turned(body, "x[N,d], c[d]", "n:N, i:d, t:N").split("\n") == [
        "c_over[i] = 1 / c[i]",
        "for t:",
        "    z[t,i] = x[t,i] * c_over[i]",
        "s[n,i] = x[n,i] * c_over[i]",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = x[0,i] / c[i]",  # as many divisions as quotients
        "y[n,i] = c[i] / x[n,i]",  # the divisor has more letters
        "y[n,i] = x[n,i] / size(N)",  # a number: nothing to keep
        "y[n,i] = x[n,i] / c[0]",  # a place by its number
    ],
)
def test_a_quotient_that_stays(body):
    assert turned(body).split("\n") == [body]
