"""Derivatives of expressions with indices against central differences of plain loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from blrgen.algebra.indexed.build import add, multiplied, number, power, summed, symbol
from blrgen.algebra.indexed.calculus import NoDerivative, partial
from blrgen.algebra.indexed.functions import exp, lgamma, log, plain
from blrgen.algebra.indexed.matrices import inverse, logdet
from blrgen.algebra.indexed.values import ONE, ZERO, Index, Symbol
from blrgen.value.indexed import Values

L = Symbol("L", symmetric=True)
B, S = Symbol("b"), Symbol("s", lower=Fraction(0))
I1, J = Index("d", "i"), Index("d", "j")
P, Q = Index("d", "p"), Index("d", "q")


def values(**moved) -> Values:
    rng = np.random.default_rng(3)
    a = rng.normal(size=(3, 3))
    arrays = {"L": a @ a.T + np.eye(3), "b": rng.normal(size=3), "s": rng.gamma(2, size=3)}
    return Values({k: v + moved.get(k, 0) for k, v in arrays.items()}, {"d": 3})


def quadratic():
    return summed(summed(multiplied(symbol(B, I1), symbol(L, I1, J), symbol(B, J)), I1), J)


INV = inverse(symbol(L, I1, J), I1, J)
INVERSE_FORM = summed(summed(multiplied(symbol(B, I1), INV, symbol(B, J)), I1), J)
OF_S = {
    "log of a sum": log(add(ONE, summed(exp(symbol(S, I1)), I1))),
    "lgamma": summed(lgamma(symbol(S, I1)), I1),
    "digamma": summed(plain("digamma", symbol(S, I1)), I1),
    "a quotient": power(add(ONE, summed(power(symbol(S, I1), 2), I1)), -1),
    "a root": power(add(ONE, summed(symbol(S, I1), I1)), Fraction(1, 2)),
    "a symbolic power": summed(plain("pow", symbol(S, I1), symbol(B, I1)), I1),
    "cosine": summed(plain("cos", symbol(S, I1)), I1),
    "polygamma": summed(plain("polygamma", number(1), symbol(S, I1)), I1),
    "a Bessel function": plain("bessel_kernel", ONE, summed(symbol(S, I1), I1)),
}


@pytest.mark.parametrize("name", OF_S)
def test_functions_of_a_vector(name):
    e = OF_S[name]
    slope = values().array(partial(e, "s", (P,)), (P,))
    for k in range(3):
        step = np.eye(3)[k] * 1e-6
        want = (values(s=step).of(e) - values(s=-step).of(e)) / 2e-6
        assert slope[k] == pytest.approx(want, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("e", [quadratic(), INVERSE_FORM, logdet(symbol(L, I1, J), I1, J),
                               log(add(ONE, exp(INVERSE_FORM)))])  # fmt: skip
def test_functions_of_a_symmetric_matrix_move_symmetrically(e):
    slope = values().array(partial(e, "L", (P, Q)), (P, Q))
    assert slope == pytest.approx(slope.T)
    for k in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[k] += 5e-7
        step[k[::-1]] += 5e-7
        want = (values(L=step).of(e) - values(L=-step).of(e)) / 2e-6
        assert slope[k] == pytest.approx(want, rel=1e-5, abs=1e-7)


def test_what_does_not_move_has_no_slope_and_what_has_no_rule_says_so():
    assert partial(quadratic(), "s", (P,)) == ZERO
    with pytest.raises(NoDerivative):
        partial(plain("nameless", summed(symbol(S, I1), I1)), "s", (P,))


def test_a_second_derivative_is_the_matrix_itself():
    gradient = partial(quadratic(), "b", (P,))
    bend = partial(gradient, "b", (Q,))
    assert bend == multiplied(number(2), symbol(L, P, Q))
