"""Values of special functions far from 0: e⁻ˣ has more digits there than anybody needs."""

from __future__ import annotations

import mpmath
import pytest

from blrgen.algebra.special import uniform_cumulant_value


@pytest.mark.parametrize("n", range(6))
@pytest.mark.parametrize("x", [-400, -200, 200, 400])
def test_cumulants_of_the_uniform_law_on_both_sides_of_what_is_far(n: int, x: int) -> None:
    with mpmath.workdps(30):
        found = uniform_cumulant_value(n, x)
        with mpmath.workdps(600):  # all digits of e^400 and of its inverse
            expected = mpmath.diff(lambda y: mpmath.log(mpmath.expm1(y) / y), x, n)
        assert abs(found - expected) <= abs(expected) * mpmath.mpf(10) ** -28


def test_an_argument_whose_exponential_has_a_million_digits() -> None:
    with mpmath.workdps(40):
        x = mpmath.exp(10**6)
        assert uniform_cumulant_value(0, x) == x - mpmath.mpf(10) ** 6
        assert uniform_cumulant_value(1, x) == 1
        assert uniform_cumulant_value(0, -x) == -mpmath.log(x)
        assert uniform_cumulant_value(2, -x) == 1 / x**2
