"""Densities with Bessel functions in their base measures, far out and at high orders."""

from __future__ import annotations

from pathlib import Path

import mpmath
import pytest

from blrgen.core import Family
from blrgen.geometry.numbers.moments import averages_of
from blrgen.read.family import read_family


def family(folder: Path, support: str, base: str, domain: str) -> Family:
    path = folder / "odd.toml"
    path.write_text(
        f'name = "odd"\nvariable = "x"\nsupport = "{support}"\nstatistics = ["x"]\n'
        f'base_measure = "{base}"\n[natural]\neta = "{domain}"\n'
    )
    return read_family(path)


@pytest.mark.parametrize("eta", ["-101/100", "-4/3", "-2", "-1000"])
def test_first_passage_times(eta: str, tmp_path: Path) -> None:
    """∫ I₁(x)/x e^(ηx) dx = −η − √(η² − 1)."""
    odd = family(tmp_path, "(0, oo)", "besseli(1, x)/x", "(-oo, -1)")
    with mpmath.workdps(25):
        at = mpmath.mpf(eta.split("/")[0]) / int((eta + "/1").split("/")[1])
        root = mpmath.sqrt(at**2 - 1)
        value, error = averages_of(odd, (at,), 20).log_partition()
        wanted = -mpmath.acosh(-at)
        assert abs(value - wanted) <= error <= 1e-18 * (1 + abs(wanted))
        (mean,), ((spread,),), error = averages_of(odd, (at,), 20).moments()
        assert abs(mean - 1 / root) <= error
        assert abs(spread - (-at) / root**3) <= error <= 1e-17 * (1 + spread)


@pytest.mark.parametrize("eta", [-2 / 3, 3.0, 6.0])
@pytest.mark.parametrize("doubles", [True, False])
def test_differences_of_counts(eta: float, doubles: bool, tmp_path: Path) -> None:
    """Σ I_|k|(3) e^(ηk) = exp(3 cosh η): orders far beyond where I_k(3) is a double."""
    odd = family(tmp_path, "integers", "besseli(abs(x), 3)", "(-oo, oo)")
    with mpmath.workdps(25):
        value, error = averages_of(odd, (mpmath.mpf(eta),), 18, doubles=doubles).log_partition()
        wanted = 3 * mpmath.cosh(eta)
        assert abs(value - wanted) <= error <= 1e-9 * wanted
        (mean,), _, error = averages_of(odd, (mpmath.mpf(eta),), 18, doubles=doubles).moments()
        assert abs(mean - 3 * mpmath.sinh(eta)) <= error
