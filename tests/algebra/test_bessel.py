"""G_ν(s) = I_ν(√s)/√s^ν against mpmath's own, and its ratios: rewritten, the value stays."""

from __future__ import annotations

from collections.abc import Iterator

import mpmath
import pytest
import sympy as sp

from blrgen.algebra.bessel import (
    bessel_drop,
    bessel_kernel,
    bessel_ratio,
    bessel_slope_of,
    in_ratios,
)

pytestmark = pytest.mark.core

S, P = sp.symbols("s p", positive=True)
ORDERS = [sp.S.Zero, sp.Rational(1, 2), sp.Rational(7, 3)]
AT = {S: sp.Rational(23, 10), P: sp.Rational(6, 5)}


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mpmath.workdps(30):
        yield


def number(x: sp.Expr) -> mpmath.mpf:
    return mpmath.mpf(str(sp.N(x.subs(AT), 25)))


def bessel(order: sp.Expr, shift: int = 0) -> mpmath.mpf:
    """G of that order by mpmath's I."""
    nu, s = mpmath.mpf(order.p) / order.q + shift, mpmath.mpf(AT[S].p) / AT[S].q
    return mpmath.besseli(nu, mpmath.sqrt(s)) / mpmath.sqrt(s) ** nu


@pytest.mark.parametrize("order", ORDERS)
def test_the_kernel_and_its_derivative(order: sp.Expr) -> None:
    assert abs(number(bessel_kernel(order, S)) / bessel(order) - 1) < 1e-20
    assert abs(number(sp.diff(bessel_kernel(order, S), S)) * 2 / bessel(order, 1) - 1) < 1e-20


@pytest.mark.parametrize("order", ORDERS)
def test_quotients_become_ratios_of_the_same_value(order: sp.Expr) -> None:
    g = [bessel_kernel(order + k, S) for k in range(3)]
    for quotient in (P * g[1] / g[0], g[2] / g[0], g[1] ** 2 / (g[0] * g[2]), g[0] / g[1]):
        found = in_ratios(quotient)
        assert not found.has(bessel_kernel) and found.has(bessel_ratio)
        assert abs(number(found) / number(quotient) - 1) < 1e-18
    assert in_ratios(g[0] * g[1]) == g[0] * g[1]  # no quotient


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("factor", [sp.S.One, P, P / S])
def test_a_ratio_times_one_minus_its_drop_is_a_slope(order: sp.Expr, factor: sp.Expr) -> None:
    """p (1 − s D) = p S/T; a sum that is not of that form stays as it is."""
    drop, ratio = bessel_drop(order, S), bessel_ratio(order, S)
    found = in_ratios(sp.expand(factor * (1 - S * drop)))
    assert found == factor * bessel_slope_of(order, S) / ratio
    assert abs(number(found) / number(factor * (1 - S * drop)) - 1) < 1e-18
    other = factor + 2 * S * drop
    assert in_ratios(other) == other
