"""A, the means and their covariances by quadrature and summation, against mpmath's functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import pytest

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.numbers.moments import averages_of
from blrgen.read.family import read_family

mp = mpmath.mp

GAMMA = """
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
[natural]
a = "(0, oo)"
b = "(-oo, 0)"
"""
BETA = """
support = "(0, 1)"
statistics = ["log(x)", "log(1-x)"]
base_measure = "1/(x*(1-x))"
[natural]
a = "(0, oo)"
b = "(0, oo)"
"""
CIRCLE = """
support = "(-pi, pi)"
statistics = ["cos(x)", "sin(x)"]
[natural]
a = "(-oo, oo)"
b = "(-oo, oo)"
"""
LAPLACE = """
support = "(-oo, oo)"
statistics = ["abs(x - l)"]
[natural]
a = "(-oo, 0)"
[fixed]
l = "(-oo, oo)"
"""
STUDENT = """
support = "(-oo, oo)"
statistics = ["log(1 + x**2/n)"]
[natural]
a = "(-oo, -1/2)"
[fixed]
n = "(0, oo)"
"""
POISSON = """
support = "integers >= 0"
statistics = ["x"]
base_measure = "1/factorial(x)"
[natural]
a = "(-oo, oo)"
"""
NEGATIVE_BINOMIAL = """
support = "integers >= 0"
statistics = ["x"]
base_measure = "gamma(x + r)/factorial(x)/gamma(r)"
[natural]
a = "(-oo, 0)"
[fixed]
r = "(0, oo)"
"""
ZIPF = """
support = "integers >= 1"
statistics = ["log(x)"]
[natural]
a = "(-oo, -1)"
"""
CAUCHY_SUM = """
support = "integers"
statistics = ["log(1 + x**2)"]
[natural]
a = "(-oo, -1/2)"
"""
WELLS = """
support = "(-oo, oo)"
statistics = ["x", "x**2"]
base_measure = "exp(-x**4)"
[natural]
a = "(-oo, oo)"
b = "(-oo, oo)"
"""
SINE = """
support = "(0, 1)"
statistics = ["x"]
base_measure = "exp(sin(5*x))"
[natural]
a = "(-oo, oo)"
"""
BOUNDED = """
support = "(-oo, oo)"
statistics = ["tanh(x)"]
base_measure = "1/(1 + x**2)**3"
[natural]
a = "(-oo, oo)"
"""
CMP = """
support = "integers >= 0"
statistics = ["x"]
base_measure = "1/factorial(x)**nu"
[natural]
a = "(-oo, oo)"
[fixed]
nu = "(0, oo)"
"""
COSINES = """
support = "[0, 2*pi)"
statistics = ["cos(x)", "cos(2*x)"]
[natural]
a = "(-oo, oo)"
b = "(-oo, oo)"
"""


def family(body: str, folder: Path) -> Family:
    path = folder / "odd.toml"
    path.write_text(f'name = "odd"\nvariable = "x"\n{body}')
    return read_family(path)


def _gamma(a: Any, b: Any) -> list[Any]:
    return [mp.loggamma(a) - a * mp.log(-b), mp.psi(0, a) - mp.log(-b), -a / b, mp.psi(1, a)]


def _beta(a: Any, b: Any) -> list[Any]:
    return [
        mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), mp.psi(0, a) - mp.psi(0, a + b),
        mp.psi(0, b) - mp.psi(0, a + b), mp.psi(1, a) - mp.psi(1, a + b),
    ]  # fmt: skip


def _circle(a: Any, b: Any) -> list[Any]:
    k = mp.hypot(a, b)
    ratio = mp.besseli(1, k) / mp.besseli(0, k)
    return [mp.log(2 * mp.pi * mp.besseli(0, k)), ratio * a / k, ratio * b / k]


def _student(a: Any, n: Any) -> list[Any]:
    p = -a
    mean = mp.psi(0, p) - mp.psi(0, p - mp.mpf(1) / 2)
    log_partition = mp.log(n * mp.pi) / 2 + mp.loggamma(p - mp.mpf(1) / 2) - mp.loggamma(p)
    return [log_partition, mean, mp.psi(1, p - mp.mpf(1) / 2) - mp.psi(1, p)]


def _zipf(a: Any) -> list[Any]:
    zeta, slope, bend = (mp.zeta(-a, 1, k) for k in range(3))
    return [mp.log(zeta), -slope / zeta, bend / zeta - (slope / zeta) ** 2]


def _negative_binomial(a: Any, r: Any) -> list[Any]:
    gap = -mp.expm1(a)
    return [-r * mp.log(gap), r * mp.exp(a) / gap, r * mp.exp(a) / gap**2]


def _laplace(a: Any, _: Any) -> list[Any]:
    return [mp.log(-2 / a), -1 / a, 1 / a**2]


def _poisson(a: Any) -> list[Any]:
    return [mp.exp(a)] * 3


CLOSED = [
    (GAMMA, _gamma, (2.5, -3.0)),
    (GAMMA, _gamma, (1e-6, -1.0)),
    (GAMMA, _gamma, (1e14, -1e-5)),
    (BETA, _beta, (1e-6, 1e-6)),
    (BETA, _beta, (1e10, 2.0)),
    (CIRCLE, _circle, (-1e8, 3.0)),
    (CIRCLE, _circle, (1e-8, 1e-8)),
    (LAPLACE, _laplace, (-1000.0, 1e6)),
    (STUDENT, _student, (-0.51, 3.0)),
    (STUDENT, _student, (-1000.0, 3.0)),
    (POISSON, _poisson, (1.0,)),
    (POISSON, _poisson, (-1000.0,)),
    (POISSON, _poisson, (30.0,)),
    (NEGATIVE_BINOMIAL, _negative_binomial, (-1e-6, 0.5)),
    (ZIPF, _zipf, (-1.01,)),
    (ZIPF, _zipf, (-3.0,)),
]


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("body", "truth", "at"), CLOSED)
def test_against_closed_forms(body: str, truth: Any, at: tuple[float, ...], tmp_path: Path) -> None:
    declared = family(body, tmp_path)
    with mpmath.workdps(60):
        values = truth(*map(mp.mpf, at))
        count = len(declared.natural)
        for digits, doubles in ((17, False), (15, True)):
            q = averages_of(declared, at, digits, doubles=doubles)
            a, error = q.log_partition()
            assert abs(a - values[0]) <= 4 * error
            mean, fisher, spread = q.moments()
            found = [*mean, fisher[0][0]]
            for x, y in zip(found, values[1 : count + 2], strict=False):
                assert abs(x - y) <= 4 * spread
            if not doubles:
                assert error <= mp.mpf(10) ** -15 * max(1, abs(values[0]))
                for x, y in zip(found, values[1 : count + 2], strict=False):
                    assert abs(x - y) <= mp.mpf(10) ** -15 * max(abs(y), mp.mpf(10) ** -15)


def test_sum_over_all_integers(tmp_path: Path) -> None:
    a, _ = averages_of(family(CAUCHY_SUM, tmp_path), (-1.0,), 18).log_partition()
    with mpmath.workdps(30):
        assert abs(a - mp.log(mp.pi * mp.coth(mp.pi))) < mp.mpf(10) ** -18


ODD = [
    (WELLS, (0.1, 30.0), [-5, -4, -3, 0, 3, 4, 5], lambda x, a, b: a * x + b * x**2 - x**4),
    (SINE, (3.0,), [0, 1], lambda x, a: a * x + mp.sin(5 * x)),
    (BOUNDED, (-2.0,), [-mp.inf, -2, 0, 2, mp.inf],
     lambda x, a: a * mp.tanh(x) - 3 * mp.log(1 + x * x)),
    (COSINES, (3.0, -5.0), [0, 2, 4, 2 * mp.pi], lambda x, a, b: a * mp.cos(x) + b * mp.cos(2 * x)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "at", "ends", "exponent"), ODD)
def test_against_mpmath_quadrature(
    body: str, at: tuple[float, ...], ends: list[Any], exponent: Any, tmp_path: Path
) -> None:
    declared = family(body, tmp_path)
    with mpmath.workdps(25):
        truth = mp.log(mp.quad(lambda x: mp.exp(exponent(x, *at)), ends))
        for doubles, tolerance in ((False, 1e-17), (True, 1e-12)):
            a, error = averages_of(declared, at, 18, doubles=doubles).log_partition()
            assert abs(a - truth) <= tolerance * max(1, abs(truth))
            assert abs(a - truth) <= 4 * error


def test_long_and_short_sums(tmp_path: Path) -> None:
    declared = family(CMP, tmp_path)
    with mpmath.workdps(25):
        for at, terms in (((1.0, 2.0), 60), ((-3.0, 0.05), 200)):
            level = [at[0] * k - at[1] * mp.loggamma(k + 1) for k in range(terms)]
            truth = mp.log(mp.fsum(map(mp.exp, level)))
            assert abs(averages_of(declared, at, 18).log_partition()[0] - truth) < mp.mpf(10) ** -17


def test_two_sharp_wells_far_apart(tmp_path: Path) -> None:
    """exp(bx² − x⁴) with b = 10⁶: two peaks of width 10⁻³ at ±707."""
    mean, fisher, _ = averages_of(family(WELLS, tmp_path), (0.0, 1e6), 18).moments()
    assert abs(mean[0]) < 1e-12
    assert abs(fisher[0][0] / 5e5 - 1) < 1e-11


@pytest.mark.parametrize(
    ("body", "at"),
    [
        (GAMMA, (0.0, -1.0)),
        (GAMMA, (1.0, 0.0)),
        (GAMMA, (1.0, 1.0)),
        (STUDENT, (-0.5, 3.0)),
        (ZIPF, (-1.0,)),
        (ZIPF, (-0.5,)),
        (NEGATIVE_BINOMIAL, (0.1, 1.0)),
        (CMP, (0.1, 0.0)),
        (CAUCHY_SUM, (-0.5,)),
    ],
)
def test_what_diverges_is_refused(body: str, at: tuple[float, ...], tmp_path: Path) -> None:
    declared = family(body, tmp_path)
    for doubles in (True, False):
        with pytest.raises(UserError, match="cannot be normalised"):
            averages_of(declared, at, 18, doubles=doubles)
