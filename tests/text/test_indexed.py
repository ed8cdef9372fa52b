"""Expressions with indices as a person would write them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from blrgen.algebra.indexed.build import (
    add,
    delta,
    guard,
    multiplied,
    number,
    power,
    scaled,
    size,
    summed,
    symbol,
)
from blrgen.algebra.indexed.functions import exp, log, pi
from blrgen.algebra.indexed.matrices import inverse
from blrgen.algebra.indexed.values import ONE, ZERO, Index, Symbol
from blrgen.text.indexed import Mean, written

N, K, T = Index("N", "n"), Index("K", "k"), Index("T", "t")
I, J = Index("d", "i"), Index("d", "j")  # noqa: E741
X, M, L = Symbol("x"), Symbol("m", lower=Fraction(0)), Symbol("L", symmetric=True)
LETTERS = {"N": "n", "K": "k", "T": "t"}
EZ = Symbol("E[z]")

TEXTS = {
    "0": ZERO,
    "1": ONE,
    "-1/2": number(Fraction(-1, 2)),
    "sum(n, x[n]**2/2)": scaled(summed(power(symbol(X, N), 2), N), Fraction(1, 2)),
    "sum(2 <= t, x[t])": summed(symbol(X, T), T, 1),
    "sum(t <= T - 1, x[t+1]*x[t])": summed(multiplied(symbol(X, T), symbol(X, T.moved(-1))), T, 1),
    "x[n]/m[k]": multiplied(symbol(X, N), power(symbol(M, K), -1)),
    "sqrt(m[k])": power(symbol(M, K), Fraction(1, 2)),
    "[k = 2]": delta(K, Index("K", "=", 2)),
    "[1 < t <= T - 1]": guard(T, 1, 1),
    "K*log(pi)": multiplied(size("K"), log(pi())),
    "inv(L)[i,j]": inverse(symbol(L, I, J), I, J),
    "log(1 + exp(x[n]))": log(add(ONE, exp(symbol(X, N)))),
    "x[last]": symbol(X, Index("N", "=last")),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text):
    found = written(TEXTS[text], LETTERS)
    assert found in (text, text.replace("[k = 2]", "[2 = k]"))


def test_an_expectation_has_its_places_inside():
    z = Symbol("z", one_hot=True)
    means = {EZ.name: Mean((N, K), symbol(z, N, K))}
    e = summed(multiplied(symbol(EZ, N, K), symbol(X, N)), N)
    assert written(e, LETTERS, means) == "sum(n, E[z[n,k]]*x[n])"


def test_what_is_given_a_label_says_so():
    u = Symbol("E[u]")
    letter = Index("K", "z'")
    means = {u.name: Mean((N, letter), symbol(Symbol("u"), N), (("z", (N, letter)),))}
    assert written(symbol(u, N, K), LETTERS, means) == "E[u[n] | z[n] = k]"


def test_two_sums_over_one_axis_have_two_letters():
    total = summed(symbol(X, N), N)
    assert written(power(total, 2), LETTERS) == "sum(n, n2, x[n]*x[n2])"
