"""Densities with Bessel functions in their base measures, far out and at high orders."""

from __future__ import annotations

from pathlib import Path

import mpmath
import numpy as np
import pytest

from blrgen.core import Family
from blrgen.geometry.numbers.moments import density
from blrgen.read.family import read_family
from blrgen.value.bessel import (
    log_besseli,
    log_besseli_doubles,
    log_besselk,
    log_besselk_doubles,
)

ORDERS = (0.0, 0.5, 1.0, 7.25, 39.9, 40.0, 55.5, 120.0)
PLACES = (1e-3, 0.7, 12.0, 699.0, 701.0, 5000.0)
EPSILON = 2.0**-52


def family(folder: Path, support: str, base: str, domain: str) -> Family:
    path = folder / "odd.toml"
    path.write_text(
        f'name = "odd"\nvariable = "x"\nsupport = "{support}"\nstatistics = ["x"]\n'
        f'base_measure = "{base}"\n[natural]\neta = "{domain}"\n'
    )
    return read_family(path)


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


@pytest.mark.parametrize("eta", ["-101/100", "-4/3", "-2", "-1000"])
def test_first_passage_times(eta: str, tmp_path: Path) -> None:
    """∫ I₁(x)/x e^(ηx) dx = −η − √(η² − 1)."""
    odd = family(tmp_path, "(0, oo)", "besseli(1, x)/x", "(-oo, -1)")
    with mpmath.workdps(25):
        at = mpmath.mpf(eta.split("/")[0]) / int((eta + "/1").split("/")[1])
        root = mpmath.sqrt(at**2 - 1)
        value, error = density(odd, (at,), 20).log_partition()
        wanted = -mpmath.acosh(-at)
        assert abs(value - wanted) <= error <= 1e-18 * (1 + abs(wanted))
        (mean,), ((spread,),), error = density(odd, (at,), 20).moments()
        assert abs(mean - 1 / root) <= error
        assert abs(spread - (-at) / root**3) <= error <= 1e-17 * (1 + spread)


@pytest.mark.parametrize("eta", [-2 / 3, 3.0, 6.0])
@pytest.mark.parametrize("doubles", [True, False])
def test_differences_of_counts(eta: float, doubles: bool, tmp_path: Path) -> None:
    """Σ I_|k|(3) e^(ηk) = exp(3 cosh η): orders far beyond where I_k(3) is a double."""
    odd = family(tmp_path, "integers", "besseli(abs(x), 3)", "(-oo, oo)")
    with mpmath.workdps(25):
        value, error = density(odd, (mpmath.mpf(eta),), 18, doubles=doubles).log_partition()
        wanted = 3 * mpmath.cosh(eta)
        assert abs(value - wanted) <= error <= 1e-9 * wanted
        (mean,), _, error = density(odd, (mpmath.mpf(eta),), 18, doubles=doubles).moments()
        assert abs(mean - 3 * mpmath.sinh(eta)) <= error
