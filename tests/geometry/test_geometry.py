"""Every family's derived geometry against integrals and sums of the density itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats
import sympy as sp
from numeric import spd, symmetric, value

from blrgen.core import Family
from blrgen.geometry.geometry import geometry_of
from blrgen.geometry.points import interior_points
from blrgen.geometry.tabulated import Measure
from blrgen.read.family import find_family, list_families, read_family
from blrgen.value.digits import evaluate_at

pytestmark = pytest.mark.core

GAMMA = """
name = "gamma"
title = "Gamma"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
log_partition = "loggamma(eta1) - eta1*log(-eta2)"
[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"
[working]
a = { domain = "(0, oo)", natural = "eta1" }
b = { domain = "(0, oo)", natural = "-eta2" }
"""
EXPONENTIAL = """
name = "expo"
title = "Exponential"
variable = "x"
support = "(0, oo)"
statistics = ["x"]
log_partition = "-log(-eta)"
[natural]
eta = "(-oo, 0)"
[working]
r = { domain = "(0, oo)", natural = "-eta" }
"""
BERNOULLI = """
name = "bern01"
title = "Bernoulli"
variable = "z"
support = "{0, 1}"
statistics = ["z"]
[natural]
eta = "(-oo, oo)"
"""
THREE = """
name = "three"
title = "Three points with a base measure"
variable = "z"
support = "{-1, 0, 2}"
statistics = ["z", "z**2"]
base_measure = "1 + z**2"
[natural]
eta1 = "(-oo, oo)"
eta2 = "(-oo, oo)"
"""
LAPLACE = """
name = "lapl"
title = "Laplace with centre 0"
variable = "x"
support = "(-oo, oo)"
statistics = ["abs(x)"]
log_partition = "log(2) - log(-eta)"
[natural]
eta = "(-oo, 0)"
[working]
b = { domain = "(0, oo)", natural = "-1/eta" }
"""
POISSON_GEOMETRIC = """
name = "geometric"
title = "Geometric"
variable = "k"
support = "integers >= 0"
statistics = ["k"]
log_partition = "-log(1 - exp(eta))"
[natural]
eta = "(-oo, 0)"
"""


def gaussian(name: str, chart1: str, chart2: str, working: str) -> str:
    """A univariate Gaussian in any chart."""
    return f"""
name = "{name}"
title = "Gaussian in another chart"
variable = "theta"
support = "(-oo, oo)"
statistics = ["theta", "theta**2"]
[natural]
lam1 = {{ domain = "(-oo, oo)", working = "{chart1}" }}
lam2 = {{ domain = "(-oo, 0)", working = "{chart2}" }}
[working]
{working}
"""


SPOT = {
    "gamma": GAMMA,
    "expo": EXPONENTIAL,
    "bern01": BERNOULLI,
    "three": THREE,
    "lapl": LAPLACE,
    "geometric": POISSON_GEOMETRIC,
    "meanstd": gaussian(
        "meanstd", "a/sigma**2", "-1/(2*sigma**2)", 'a = "(-oo, oo)"\nsigma = "(0, oo)"'
    ),
    "logstd": gaussian("logstd", "a*exp(-2*r)", "-exp(-2*r)/2", 'a = "(-oo, oo)"\nr = "(-oo, oo)"'),
}
FILES = [
    n for n in list_families()
    if read_family(find_family(n)).elementwise and not read_family(find_family(n)).joint
]  # fmt: skip
MATRIX = ["gaussian-full"]  # the others of several dimensions: test_matrix_families, test_joint


def family(name: str, folder: Path) -> Family:
    """A family of the house, or one written on the spot."""
    if name not in SPOT:
        return read_family(find_family(name))
    path = folder / f"{name}.toml"
    path.write_text(SPOT[name])
    return read_family(str(path))


SLOW = ("generalized-inverse-gaussian", "inverse-gaussian")  # E[log x] is a number: one point


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", [*FILES, *SPOT])
def test_geometry_against_the_density(name: str, tmp_path: Path) -> None:
    """A, μ, F, 𝓗 and ∇_μ𝓗 at interior points, to 1e-10 of the density's own sums."""
    f = family(name, tmp_path)
    g = geometry_of(f)
    measure = Measure(f)
    for point in interior_points(f, 1 if name in SLOW else 2):
        table = measure.table(point)
        with mpmath.workdps(30):
            # ∇_μ𝓗 = F⁻¹∇_λ𝓗
            slope = mpmath.lu_solve(mpmath.matrix(table.covariances), table.entropy_slope)
        pairs = [
            (g.log_partition, table.log_mass),
            (g.entropy, table.entropy),
            *zip(g.mean, table.means, strict=True),
            *zip(g.entropy_gradient, slope, strict=True),
            *((e, v) for row in zip(g.fisher, table.covariances, strict=True)
              for e, v in zip(*row, strict=True)),
        ]  # fmt: skip
        for mine, theirs in pairs:
            assert close(mine, point, theirs), (mine, point)


def close(e: Any, point: dict[Any, Any], wanted: Any) -> bool:
    """Whether an expression has this value at a point, to 1e-10."""
    value, _ = evaluate_at(e, point, 15)
    return bool(abs(value - wanted) < mpmath.mpf(10) ** -10 * max(1, abs(wanted)))


def test_the_base_measure_is_not_dropped() -> None:
    """N(m, 1) has h = exp(−θ²/2): its entropy does not depend on m, so ∇_μ𝓗 = 0, not −λ."""
    g = geometry_of(read_family(find_family("gaussian-fixed")))
    assert g.entropy_gradient == (0,)
    assert g.entropy.free_symbols == set()


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("name", MATRIX)
def test_matrix_gaussian(name: str, d: int) -> None:
    """A, μ and 𝓗 against scipy's density; F by differences of A; ∇_μ𝓗 by those of 𝓗."""
    g = geometry_of(read_family(find_family(name)))
    rng = np.random.default_rng(d)
    s, m = spd(rng, d), rng.standard_normal((d, 1))
    natural = {"lam1": s @ m, "lam2": -s / 2}
    env = {**natural, "m": m, "S": s, "d": float(d)}
    law = scipy.stats.multivariate_normal(m[:, 0], np.linalg.inv(s))
    theta = rng.standard_normal((d, 1))
    log_q = float((natural["lam1"].T @ theta)[0, 0] + np.sum(natural["lam2"] * (theta @ theta.T)))
    assert log_q - value(g.log_partition, env) == pytest.approx(law.logpdf(theta[:, 0]), rel=1e-11)
    assert value(g.entropy, env) == pytest.approx(law.entropy(), rel=1e-11)
    np.testing.assert_allclose(value(g.mean[0], env), m, rtol=1e-10)
    second = np.linalg.inv(s) + m @ m.T
    np.testing.assert_allclose(value(g.mean[1], env), second, rtol=1e-10)
    for x, image in g.natural_of_working.items():
        np.testing.assert_allclose(value(image, env), natural[str(x)], rtol=1e-12)
    # 𝓗 moves by ⟨∇_μ𝓗, dμ⟩ along any direction in λ
    step1, step2 = rng.standard_normal((d, 1)) / 9, symmetric(rng, d) / 9

    def along(e: float, what: Any) -> Any:
        return value(what, {"lam1": natural["lam1"] + e * step1,
                            "lam2": natural["lam2"] + e * step2, "d": float(d)})  # fmt: skip

    def slope(what: Any) -> Any:
        e = 1e-3
        near, far = (along(k * e, what) - along(-k * e, what) for k in (1, 2))
        return (8 * near - far) / (12 * e)

    pairs = zip(g.entropy_gradient, g.mean, strict=True)
    moved = sum(np.sum(value(w, env) * slope(mu)) for w, mu in pairs)
    assert slope(g.entropy) == pytest.approx(moved, rel=1e-6, abs=1e-9)
    # ⟨dλ, F dλ⟩ = second difference of A
    e = 1e-2
    a = [along(k * e, g.log_partition) for k in (-2, -1, 0, 1, 2)]
    second_difference = (-a[0] + 16 * a[1] - 30 * a[2] + 16 * a[3] - a[4]) / (12 * e * e)
    d_mu = [slope(mu) for mu in g.mean]
    pairing = np.sum(step1 * d_mu[0]) + np.sum(step2 * d_mu[1])
    assert second_difference == pytest.approx(pairing, rel=1e-5)
    assert pairing > 0


@pytest.mark.parametrize("name", [*FILES, *SPOT])
def test_charts_round_trip(name: str, tmp_path: Path) -> None:
    """Working → natural → working is the identity, at points of the natural domain."""
    f = family(name, tmp_path)
    g = geometry_of(f)
    for point in interior_points(f, 3):
        there = {w: sp.N(g.working_of_natural[w].subs(point), 30) for w in g.working_of_natural}
        for n in g.natural:
            back = sp.N(sp.sympify(g.natural_of_working[n]).subs(point | there), 30)
            assert abs(back - point[n]) < 1e-20


@pytest.mark.parametrize("name", ["gaussian", "gaussian-diag"])
def test_the_metric_of_the_charts(name: str) -> None:
    """diag(1/v, 1/(2v²)) in (m, v), diag(s, 1/(2s²)) in (m, s); nothing mixed."""
    g = geometry_of(read_family(find_family(name)))
    m, x = g.working
    left, right = sp.symbols("l r")
    unit = 1 / x if name == "gaussian" else x
    assert sp.cancel(g.metric(m, left, right) - left * right * unit) == 0
    assert sp.cancel(g.metric(x, left, right) - left * right / (2 * x**2)) == 0
    assert g.mixed_metric(m, x) == 0 == g.mixed_metric(x, m)


def test_evidence_is_said() -> None:
    f = read_family(find_family("gaussian"))
    assert geometry_of(f).evidence["log_partition"] == "derived: gaussian integral"
