"""Logarithms of modified Bessel functions: in doubles as in many digits, and at the ends."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from blrgen.value.bessel import (
    log_besseli,
    log_besseli_doubles,
    log_besselk,
    log_besselk_doubles,
)

ORDERS = (0.0, 0.5, 1.0, 7.25, 39.9, 40.0, 55.5, 120.0)
PLACES = (1e-3, 0.7, 12.0, 699.0, 701.0, 5000.0)
EPSILON = 2.0**-52


@pytest.mark.parametrize("order", ORDERS)
def test_logarithms_of_doubles_are_those_of_many_digits(order: float) -> None:
    with mpmath.workdps(40):
        for x in PLACES:
            pairs = ((log_besseli_doubles, mpmath.besseli), (log_besselk_doubles, mpmath.besselk))
            for ours, theirs in pairs:
                wanted = mpmath.log(theirs(order, mpmath.mpf(x)))
                scale = 1 + abs(wanted) + abs(order * mpmath.log(x / 2)) + x
                assert abs(float(ours(order, x)) - wanted) < 4 * EPSILON * scale


def test_far_out_there_is_hankels_sum() -> None:
    with mpmath.workdps(30):
        x = mpmath.mpf(10) ** 9
        near = -mpmath.log(2 * mpmath.pi * x) / 2 - 3 / (8 * x)
        assert abs(log_besseli(mpmath.mpf(1), x) - x - near) < 1e-16
        assert mpmath.isfinite(log_besselk(mpmath.mpf(1), mpmath.exp(10**7)))
        assert log_besseli(mpmath.mpf(2), mpmath.mpf(0)) == -mpmath.inf


def test_at_the_ends_doubles_are_infinite_or_zero() -> None:
    assert log_besseli_doubles(0.0, np.array([0.0, np.inf])).tolist() == [0.0, np.inf]
    assert log_besselk_doubles(1.0, np.array([0.0, np.inf])).tolist() == [np.inf, -np.inf]
    assert np.isnan(log_besseli_doubles(1.0, np.array([-1.0, np.nan]))).all()
