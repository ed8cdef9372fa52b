"""μ → λ over whole domains, against means computed with many digits from known λ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import pytest

from blrgen.errors import UserError
from blrgen.geometry import geometry_of
from blrgen.read.family import read_family
from blrgen.value.evaluate import evaluate

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
NEGATIVE_BINOMIAL = """
support = "integers >= 0"
statistics = ["x"]
base_measure = "gamma(x + r)/factorial(x)/gamma(r)"
[natural]
a = "(-oo, 0)"
[fixed]
r = "(0, oo)"
"""
TRUNCATED = """
support = "(0, 1)"
statistics = ["x"]
[natural]
a = "(-oo, oo)"
"""
GIG = """
support = "(0, oo)"
statistics = ["x", "1/x"]
base_measure = "x**(p - 1)"
[natural]
a = "(-oo, 0)"
b = "(-oo, 0)"
[fixed]
p = "(-oo, oo)"
"""
QUARTIC = """
support = "(-oo, oo)"
statistics = ["x"]
base_measure = "exp(-x**4)"
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


def geometry(body: str, folder: Path) -> Any:
    path = folder / "mine.toml"
    path.write_text(f'name = "mine"\nvariable = "x"\n{body}')
    return geometry_of(read_family(path))


def _gamma(a: Any, b: Any) -> list[Any]:
    return [mp.psi(0, a) - mp.log(-b), -a / b]


def _beta(a: Any, b: Any) -> list[Any]:
    return [mp.psi(0, a) - mp.psi(0, a + b), mp.psi(0, b) - mp.psi(0, a + b)]


def _circle(a: Any, b: Any) -> list[Any]:
    k = mp.hypot(a, b)
    ratio = mp.besseli(1, k) / mp.besseli(0, k)
    return [ratio * a / k, ratio * b / k]


@pytest.mark.parametrize(
    ("body", "truth", "points"),
    [
        (GAMMA, _gamma, [(k, b) for k in (1e-6, 0.5, 1e5, 1e14) for b in (-1e-5, -1e3)]),
        (BETA, _beta, [(1e-6, 1e10), (1e-6, 1e-6), (1e10, 1e10), (2.0, 3.0), (1e10, 1e-6)]),
        (CIRCLE, _circle, [(1e-8, 0.0), (0.0, 1e8), (-3e7, 2e7), (1.0, 2.0), (0.0, -1e-8)]),
    ],
)
def test_whole_domains(body: str, truth: Any, points: list[Any], tmp_path: Path) -> None:
    g = geometry(body, tmp_path)
    for at in points:
        with mpmath.workdps(80):
            mean = truth(*map(mp.mpf, at))
        found = g.natural_of_mean(mean)
        assert found.converged
        for x, y in zip(found.natural, at, strict=True):
            assert abs(x - y) <= 1e-12 * abs(y)


@pytest.mark.parametrize("a", [-1e-10, -1.0, -100.0])
def test_negative_binomial(a: float, tmp_path: Path) -> None:
    with mpmath.workdps(60):
        mean = mp.exp(mp.mpf(a)) / -mp.expm1(mp.mpf(a)) / 2
    found = geometry(NEGATIVE_BINOMIAL, tmp_path).natural_of_mean([mean], {"r": 0.5})
    assert found.converged
    assert abs(found.natural[0] / mp.mpf(a) - 1) < 1e-12


@pytest.mark.parametrize("a", [0.0, 1e-9, 3.0, -1e6, 1e9])
def test_through_a_removable_singularity(a: float, tmp_path: Path) -> None:
    with mpmath.workdps(80):
        e = mp.mpf(a)
        mean = 1 / (1 - mp.exp(-e)) - 1 / e if a else mp.mpf(1) / 2
    found = geometry(TRUNCATED, tmp_path).natural_of_mean([mean])
    assert found.converged
    assert abs(found.natural[0] - a) <= 1e-12 * abs(a)


def test_generalised_inverse_gaussian(tmp_path: Path) -> None:
    with mpmath.workdps(40):
        chi, psi, p = mp.mpf(3), mp.mpf(2), mp.mpf(0.3)
        k = mp.sqrt(chi * psi)
        ratio = mp.besselk(p + 1, k) / mp.besselk(p, k)
        mean = [mp.sqrt(chi / psi) * ratio, mp.sqrt(psi / chi) * ratio - 2 * p / chi]
    found = geometry(GIG, tmp_path).natural_of_mean(mean, {"p": 0.3})
    assert found.converged
    assert found.values == pytest.approx((-1.0, -1.5), rel=1e-12)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("a", [-1e-9, 5.0, 1e6])
def test_without_a_closed_form(a: float, tmp_path: Path) -> None:
    with mpmath.workdps(40):
        top = mp.cbrt(mp.mpf(abs(a)) / 4)
        width = 1 / mp.sqrt(12 * top**2 + 1)
        ends = [top + width * k for k in (-30, -8, -3, 0, 3, 8, 30)] if a > 1 else [-9, -1, 0, 1, 9]

        def integral(f: Any) -> Any:
            peak = a * top - top**4 if a > 1 else 0
            return mp.quad(lambda x: f(x) * mp.exp(a * x - x**4 - peak), ends)

        mean = integral(lambda x: x) / integral(lambda x: 1)
    found = geometry(QUARTIC, tmp_path).natural_of_mean([mean])
    assert found.converged
    assert abs(found.natural[0] / mp.mpf(a) - 1) < 1e-12


def test_a_sum_without_a_closed_form(tmp_path: Path) -> None:
    with mpmath.workdps(40):
        level = [mp.exp(3 * k - 2 * mp.loggamma(k + 1)) for k in range(80)]
        mean = mp.fsum(k * w for k, w in enumerate(level)) / mp.fsum(level)
    found = geometry(CMP, tmp_path).natural_of_mean({"mu": mean}, {"nu": 2.0})
    assert found.converged
    assert abs(found.natural[0] - 3) < 1e-13


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("body", "mean", "fixed"),
    [
        (GAMMA, (1.0, 2.0), {}),
        (GAMMA, (0.0, 1.0), {}),
        (GAMMA, (0.0, -1.0), {}),
        (BETA, (-0.1, -0.1), {}),
        (CIRCLE, (1.0, 0.0), {}),
        (CIRCLE, (0.9, 0.9), {}),
        (NEGATIVE_BINOMIAL, (0.0,), {"r": 0.5}),
        (TRUNCATED, (1.0,), {}),
        (GIG, (2.0, 0.5), {"p": 0.3}),
        (CMP, (-1.0,), {"nu": 2.0}),
    ],
)
def test_what_no_member_has_is_said(
    body: str, mean: tuple[float, ...], fixed: dict[str, float], tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="no member of"):
        geometry(body, tmp_path).natural_of_mean(mean, fixed)


def test_beyond_what_the_domain_reaches_is_not_converged(tmp_path: Path) -> None:
    """With p = −2 the mean of x stays below that of the inverse gamma at the end of the domain."""
    found = geometry(GIG, tmp_path).natural_of_mean([1e5, 10.0], {"p": -2.0})
    assert not found.converged
    assert found.reason


@pytest.mark.parametrize(
    ("mean", "fixed", "said"),
    [
        ([1.0], {}, "missing constants: r"),
        ([1.0], {"r": 1.0, "s": 2.0}, "not a constant"),
        ([1.0], {"r": -1.0}, "outside its domain"),
        ([1.0, 2.0], {"r": 1.0}, "1 mean parameters are needed"),
        ({"m": 1.0}, {"r": 1.0}, "missing: mu"),
        ([float("nan")], {"r": 1.0}, "no finite number"),
    ],
)
def test_what_cannot_be_asked(mean: Any, fixed: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        geometry(NEGATIVE_BINOMIAL, tmp_path).natural_of_mean(mean, fixed)


def test_domains_that_depend_on_other_parameters() -> None:
    """Normal-gamma: four parameters, the last one's domain ends at η₁²/(4η₂)."""
    g = geometry_of(read_family("normal-gamma"))
    point = {"eta1": 1.0, "eta2": -0.75, "eta3": 3.5, "eta4": -2.0}
    with mpmath.workdps(40):
        at = {x: mp.mpf(point[x.name]) for x in g.natural}
        mean = [evaluate(m, at) for m in g.mean]
    found = g.natural_of_mean(mean)
    assert found.converged
    assert found.values == pytest.approx(tuple(point.values()), rel=1e-12)


def test_vectors() -> None:
    """Dirichlet: the parameters of the means of the logarithms, K from their number."""
    g = geometry_of(read_family("dirichlet"))
    alpha = [mp.mpf("0.5"), mp.mpf(2), mp.mpf(700)]
    with mpmath.workdps(40):
        mean = [mp.psi(0, a) - mp.psi(0, sum(alpha)) for a in alpha]
    found = g.natural_of_mean([mean])
    assert found.converged
    shift = {float(a - b) for a, b in zip(found.natural[0], alpha, strict=True)}
    assert max(shift) - min(shift) < 1e-12
    assert found.residual < 1e-25
