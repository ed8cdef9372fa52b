"""Values within their stated errors where densities are hard: spikes, wells, slow sums."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import pytest

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.numbers.moments import averages_of
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

mp = mpmath.mp
TINY = mpmath.mpf(1) / 2**20
Point = tuple[str, ...]


def family(folder: Path, support: str, statistics: str, base: str, domains: Point) -> Family:
    path = folder / "odd.toml"
    natural = "\n".join(f'e{i} = "{d}"' for i, d in enumerate(domains))
    path.write_text(
        f'name = "odd"\nvariable = "x"\nsupport = "{support}"\nstatistics = {statistics}\n'
        f'base_measure = "{base}"\n[natural]\n{natural}\n'
    )
    return read_family(path)


def by_slopes(total: Callable[[Any], Any], at: Any) -> Any:
    """(A, μ, F) of A = log total."""
    with mpmath.workdps(2 * mp.dps):
        slopes = [mp.diff(lambda t: mp.log(total(t)), at, k) for k in (1, 2)]
        return mp.log(total(at)), *slopes


def _spike(a: Any) -> Any:
    def total(t: Any) -> Any:
        place = mp.mpf(3) / 10
        return mp.expm1(t) / t + mp.sqrt(mp.pi) * mp.exp(place * t + (t * TINY / 2) ** 2)

    return by_slopes(total, a)


def _comb(a: Any) -> Any:
    def total(t: Any) -> Any:
        width = mp.mpf(1) / 1000
        teeth = sum(mp.exp(k * t) for k in (1000, 2000))
        return 1 / (1 - t) + width * mp.sqrt(mp.pi) * teeth * mp.exp((t * width / 2) ** 2)

    return by_slopes(total, a)


def _poisson(a: Any) -> Any:
    return mp.exp(a), mp.exp(a), mp.exp(a)


def _zeta(a: Any) -> Any:
    z = [mp.zeta(-a, 1, k) for k in range(3)]
    return mp.log(z[0]), -z[1] / z[0], z[2] / z[0] - (z[1] / z[0]) ** 2


def _geometric(a: Any) -> Any:
    q = mp.exp(a)
    return -mp.log(-mp.expm1(a)), q / -mp.expm1(a), q / mp.expm1(a) ** 2


HARD: list[tuple[str, str, str, str, Callable[[Any], Any], float]] = [
    ("(0, 1)", "x", "1 + 2**20*exp(-((x-0.3)*2**20)**2)", "(-oo, oo)", _spike, 3.0),
    ("(0, oo)", "x", "exp(-((x-1000)/0.001)**2)+exp(-((x-2000)/0.001)**2)+exp(-x)", "(-oo, 0)",
     _comb, -0.0001),
    ("integers >= 0", "x", "1/factorial(x)", "(-oo, oo)", _poisson, 18.5),
    ("integers >= 0", "x", "1/factorial(x)", "(-oo, oo)", _poisson, 69.0),
    ("integers >= 1", "log(x)", "1", "(-oo, -1)", _zeta, -1.01),
    ("integers >= 1", "log(x)", "1", "(-oo, -1)", _zeta, -40.0),
    ("integers >= 0", "x", "1", "(-oo, 0)", _geometric, -1e-8),
]  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.long
@pytest.mark.parametrize(("support", "statistic", "base", "domain", "truth", "at"), HARD)
def test_within_the_stated_error(
    support: str, statistic: str, base: str, domain: str, truth: Any, at: float, tmp_path: Path
) -> None:
    odd = family(tmp_path, support, f'["{statistic}"]', base, (domain,))
    with mpmath.workdps(32):
        a, mean, fisher = truth(mp.mpf(at))
        for digits, doubles in ((15, True), (18, False)):
            q = averages_of(odd, (mp.mpf(at),), digits, doubles=doubles)
            found, error = q.log_partition()
            assert abs(found - a) <= error
            (m,), ((f,),), _ = q.moments()
            assert abs(m - mean) <= q.errors[0]
            assert abs(f - fisher) <= q.errors[1]
            if not doubles:
                assert error <= abs(a) * mp.mpf(10) ** -16
                assert q.errors[1] <= fisher * mp.mpf(10) ** -11


def test_terms_that_alternate_are_no_integral(tmp_path: Path) -> None:
    # cos πk is ±1, which no value between the integers tells
    odd = family(tmp_path, "integers >= 0", '["x"]', "2+cos(pi*x)", ("(-oo, 0)",))
    with pytest.raises(UserError, match="could not be integrated"):
        averages_of(odd, (mp.mpf(-1) / 10**6,), 16)


def test_further_means_share_the_rule(tmp_path: Path) -> None:
    odd = family(tmp_path, "(0, oo)", '["x"]', "1/(1+x)", ("(-oo, 0)",))
    x = odd.variable
    q = averages_of(odd, (mp.mpf(-1),), 20)
    assert q.rule_for(x**2) is q.rule
    with mpmath.workdps(30):
        mass = mp.e * mp.e1(1)
        for n in (9, 3):
            value, error = q.mean(x**n)
            # xⁿ/(1+x) is a polynomial and (−1)ⁿ/(1+x)
            power = sum((-1) ** (n - 1 - k) * mp.factorial(k) for k in range(n))
            should = (power + (-1) ** n * mass) / mass
            assert abs(value - should) <= error
            assert error <= abs(should) * mp.mpf(10) ** -18
