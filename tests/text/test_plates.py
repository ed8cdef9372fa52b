"""Expressions with indices as people write them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from blrgen.algebra.indexed.build import (
    add,
    multiplied,
    number,
    power,
    scaled,
    size,
    summed,
    symbol,
)
from blrgen.algebra.indexed.functions import PI, log
from blrgen.algebra.indexed.matrices import inverse
from blrgen.algebra.indexed.values import Index, Symbol
from blrgen.text.plates import Spoken

N, K, A, B = (Index(a, b) for a, b in (("N", "n"), ("K", "k"), ("d", "i"), ("d", "j")))
SAY = Spoken({"N": "n", "K": "k", "D": "d"}, {}, {"x": 1, "m": 1, "W": 2, "S": 2})
x, m, z, pi = (Symbol(a) for a in ("x", "m", "z", "pi"))
W, S = Symbol("W"), Symbol("S", symmetric=True)
tau = Symbol("tau", lower=Fraction(0))


def over(e, *letters):
    for i in letters:
        e = summed(e, i)
    return e


EXPRESSIONS = {
    "τ Σₙ xₙ": over(multiplied(symbol(tau), symbol(Symbol("x"), N)), N),
    "Σₙ mᵀ S xₙ": over(
        multiplied(symbol(x, N, A), symbol(S, A, B), symbol(m, B)), A, B, N
    ),
    "Σₙ xₙᵀ S⁻¹ xₙ": over(
        multiplied(symbol(x, N, A), inverse(symbol(S, A, B), A, B), symbol(x, N, B)), A, B, N
    ),
    "(W m)ᵢ": over(multiplied(symbol(W, A, B), symbol(m, B)), B),
    "(Wᵀ m)ⱼ": over(multiplied(symbol(W, A, B), symbol(m, A)), A),
    "tr(S Wᵀ)": over(multiplied(symbol(W, A, B), symbol(S, A, B)), A, B),
    "(Σₙ zₙₖ)/N": over(multiplied(symbol(z, N, K), power(size("N"), -1)), N),
    "−½ N log(2π)": scaled(
        multiplied(size("N"), add(log(number(2)), log(symbol(PI)))), Fraction(-1, 2)
    ),
    "N log(200π)": multiplied(size("N"), add(log(number(200)), log(symbol(PI)))),
}  # fmt: skip


@pytest.mark.parametrize("wanted", EXPRESSIONS)
def test_written(wanted):
    assert SAY(EXPRESSIONS[wanted]) == wanted


def test_the_number_is_no_node_of_that_name():
    said = SAY(
        add(log(symbol(Symbol("pi", lower=Fraction(0)), K)), log(number(2)), log(symbol(PI)))
    )
    assert said == "log(2π) + log πₖ"


def test_a_place_that_is_no_letter_is_spelled_out():
    e = symbol(z, Index("T", "t", -1), K)
    assert SAY(e) == "z_{t−1,k}"
    assert SAY(symbol(z, Index("D", "d"), K)) == "z_dk"
