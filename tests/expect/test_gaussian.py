"""Expectations under a Gaussian vector along one direction: those of one number."""

from __future__ import annotations

import pytest
import sympy as sp

from blrgen.algebra.ranks import T, symmat, trace, vec
from blrgen.decide.equal import equal
from blrgen.expect.gaussian import along_one_direction

theta, m, x, z = vec("theta"), vec("m"), vec("x"), vec("z")
P = symmat("P")
MIDDLE = trace(T(x) * m)
SPREAD = trace(T(x) * P**-1 * x)


def inner(a, b):
    return trace(T(a) * b)


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (inner(x, theta) ** 2, MIDDLE**2 + SPREAD),
        (sp.exp(inner(x, theta)), sp.exp(MIDDLE + SPREAD / 2)),
        (inner(x, theta) ** 3 + 5, MIDDLE**3 + 3 * MIDDLE * SPREAD + 5),
    ],
)
def test_one_direction_has_the_mean_and_variance_along_it(f, wanted) -> None:
    found = along_one_direction(f, theta, m, P)
    assert found is not None
    assert equal(found, wanted, {P: "SPD"}).proved
    assert not equal(found, wanted + SPREAD, {P: "SPD"}).proved


def test_a_variance_is_written_as_positive() -> None:
    found = along_one_direction(sp.sign(inner(x, theta)), theta, m, P)
    assert found == sp.erf(sp.sqrt(2) * MIDDLE / (2 * sp.sqrt(SPREAD)))


def test_two_directions_are_not_one() -> None:
    assert along_one_direction(inner(x, theta) * inner(z, theta), theta, m, P) is None
    assert along_one_direction(inner(theta, theta), theta, m, P) is None
