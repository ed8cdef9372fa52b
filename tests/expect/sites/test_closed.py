"""Means under a normal law that are expressions, against Gauss–Hermite sums that are exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from blrgen.algebra.indexed.build import add, multiplied, power, scaled, symbol
from blrgen.algebra.indexed.functions import exp
from blrgen.algebra.indexed.values import ONE, Expression, Symbol
from blrgen.expect.sites.closed import MOST, centre, closed, spread
from blrgen.value.indexed import Values

pytestmark = pytest.mark.core

U = Symbol("u")
M, V = 0.7, 1.3
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


def mean(function: Expression) -> float:
    found, why = closed(function, U)
    assert found is not None and not why
    return float(Values({centre(U).name: np.array(M), spread(U).name: np.array(V)}, {}).of(found))


@pytest.mark.parametrize("rate", [0, 1, Fraction(-1, 2)])
@pytest.mark.parametrize("degree", range(1, MOST + 1))
def test_a_power_times_an_exponential(degree: int, rate: Fraction) -> None:
    u = symbol(U)
    tilt = exp(scaled(u, rate)) if rate else ONE
    at = M + np.sqrt(V) * NODES
    wanted = WEIGHTS @ (at**degree * np.exp(float(rate) * at)) / WEIGHTS.sum()
    assert np.isclose(mean(multiplied(power(u, degree), tilt)), wanted, rtol=1e-11)


def test_terms_add() -> None:
    u = symbol(U)
    wanted = (M**4 + 6 * M**2 * V + 3 * V**2) - 2 * np.exp(M + V / 2)
    found = mean(add(power(u, 4), scaled(exp(u), -2)))
    assert np.isclose(found, wanted, rtol=1e-13)
