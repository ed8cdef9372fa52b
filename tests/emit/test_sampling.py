"""Draws and moments of emitted classes against SciPy's laws.

Every test draws once with a fixed seed; for a right sampler a distance of Kolmogorov and
Smirnov with p < 1e-4 has that probability, a mean beyond 5 standard errors 6e-7.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import blrgen

SIZE, FEW = 20_000, 1500
P = 1e-4


def declaration(
    support: str, statistics: list[str], natural: dict[str, str], base: str = "1", more: str = ""
) -> str:
    rows = [
        'name = "mine"', 'title = "Mine"', 'variable = "x"', f'support = "{support}"',
        f"statistics = {statistics}".replace("'", '"'), f'base_measure = "{base}"',
        more, "[natural]",
    ]  # fmt: skip
    return "\n".join([*rows, *(f'{k} = "{v}"' for k, v in natural.items())]) + "\n"


THREE = np.exp(-0.3 * np.array([0, 1, 3]))
POSITIVE, NEGATIVE, REAL = "(0, oo)", "(-oo, 0)", "(-oo, oo)"
LAWS: dict[str, tuple[str, dict[str, float], Any]] = {
    "gamma": (
        declaration(POSITIVE, ["log(x)", "x"], {"eta1": POSITIVE, "eta2": NEGATIVE}, "1/x"),
        {"eta1": 2.3, "eta2": -1.7},
        stats.gamma(2.3, scale=1 / 1.7),
    ),
    "exponential": (
        declaration(POSITIVE, ["x"], {"eta": NEGATIVE}),
        {"eta": -0.4},
        stats.expon(scale=2.5),
    ),
    "beta": (
        declaration(
            "(0, 1)", ["log(x)", "log(1 - x)"],
            {"eta1": POSITIVE, "eta2": POSITIVE}, "1/(x*(1 - x))",
        ),
        {"eta1": 0.7, "eta2": 2.5},
        stats.beta(0.7, 2.5),
    ),
    "Poisson": (
        declaration("integers >= 0", ["x"], {"eta": REAL}, "1/factorial(x)"),
        {"eta": 1.3},
        stats.poisson(np.exp(1.3)),
    ),
    "Laplace": (
        declaration(REAL, ["abs(x - 2)"], {"eta": NEGATIVE}),
        {"eta": -1.5},
        stats.laplace(2, 1 / 1.5),
    ),
    "Rayleigh": (
        declaration(POSITIVE, ["x**2"], {"eta": NEGATIVE}, "x"),
        {"eta": -0.5},
        stats.rayleigh(),
    ),
    "three points": (
        declaration("{0, 1, 3}", ["x"], {"eta": REAL}),
        {"eta": -0.3},
        stats.rv_discrete(values=([0, 1, 3], THREE / THREE.sum())),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_draws_have_the_law(name: str, tmp_path: Path) -> None:
    text, parameters, law = LAWS[name]
    path = tmp_path / "mine.toml"
    path.write_text(text)
    draw = blrgen.sampler(str(path))
    x = draw(np.random.default_rng(11), SIZE, **parameters)
    assert np.array_equal(x, draw(np.random.default_rng(11), SIZE, **parameters))
    if hasattr(getattr(law, "dist", law), "pdf"):
        assert stats.kstest(x, law.cdf).pvalue > P
    else:
        values = np.arange(0, 12)
        expected = np.append(law.pmf(values), law.sf(values[-1])) * SIZE
        seen = np.append([(x == v).sum() for v in values], (x > values[-1]).sum())
        kept = expected > 5
        assert (
            stats.chisquare(
                seen[kept], expected[kept] * seen[kept].sum() / expected[kept].sum()
            ).pvalue
            > P
        )
    assert abs(x.mean() - law.mean()) < 5 * law.std() / np.sqrt(SIZE)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", ["gamma", "beta", "Poisson", "Laplace"])
def test_posterior_has_the_moments(name: str, tmp_path: Path) -> None:
    text, parameters, law = LAWS[name]
    path = tmp_path / "mine.toml"
    path.write_text(text)
    d = blrgen.derive(str(path))
    for target in ("numpy", "numba"):
        opt = d.compile(target)(np.full(2, next(iter(parameters.values()))))
        for key, value in list(parameters.items())[1:]:
            setattr(opt, key, [np.full(2, value)])
        mean, deviation = opt.posterior()
        assert mean == pytest.approx(law.mean(), rel=1e-12)
        assert deviation == pytest.approx(law.std(), rel=1e-11)


def test_without_a_sampler_the_distribution_function_is_inverted(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(declaration(REAL, ["x", "x**4"], {"eta1": REAL, "eta2": NEGATIVE}))
    x = blrgen.sampler(str(path))(np.random.default_rng(3), FEW, eta1=1.0, eta2=-0.5)
    grid = np.linspace(-4, 4, 20001)
    weight = np.exp(grid - 0.5 * grid**4)
    total = np.concatenate([[0], np.cumsum((weight[1:] + weight[:-1]) / 2)])
    assert stats.kstest(x, lambda v: np.interp(v, grid, total / total[-1])).pvalue > P


def test_integers_without_a_sampler(tmp_path: Path) -> None:
    """COM-Poisson: the statistic log x! has no closed-form log-partition."""
    path = tmp_path / "mine.toml"
    natural = {"eta1": REAL, "eta2": NEGATIVE}
    path.write_text(declaration("integers >= 0", ["x", "log(factorial(x))"], natural))
    x = blrgen.sampler(str(path))(np.random.default_rng(5), FEW, eta1=2.0, eta2=-1.5)
    k = np.arange(40)
    p = np.exp(2.0 * k - 1.5 * np.cumsum(np.log(np.maximum(k, 1))))
    expected = p / p.sum() * FEW
    seen = np.array([(x == v).sum() for v in k])
    kept = expected > 5
    scaled = expected[kept] * seen[kept].sum() / expected[kept].sum()
    assert stats.chisquare(seen[kept], scaled).pvalue > P


def test_parameters_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(LAWS["gamma"][0])
    with pytest.raises(blrgen.UserError, match="eta1, eta2"):
        blrgen.sampler(str(path))(np.random.default_rng(0), 3, shape=1.0)


def test_von_mises_on_its_circle(tmp_path: Path) -> None:
    """Two natural parameters through Bessel ratios of √(η₁² + η₂²), step, moments and draws."""
    path = tmp_path / "mine.toml"
    text = declaration("(-pi, pi)", ["cos(x)", "sin(x)"], {"eta1": REAL, "eta2": REAL})
    more = 'log_partition = "log(2*pi*besseli(0, sqrt(eta1**2 + eta2**2)))"\n[natural]'
    path.write_text(text.replace("[natural]", more))
    d = blrgen.derive(str(path))
    source = d.source("numpy")
    assert "_bessel_quotient" in source
    assert "_bessel_slope" in source
    kappa, place = 2.5, 0.4
    eta = kappa * np.array([np.cos(place), np.sin(place)])
    law = stats.vonmises(kappa, loc=place)
    opt = d.compile("numpy")(np.full(FEW, eta[0]))
    opt.eta2 = [np.full(FEW, eta[1])]
    x = opt.sample(np.random.default_rng(1))
    assert stats.kstest(x, law.cdf).pvalue > P
    r1, r2, rho = 0.3, -0.2, 0.1
    opt.step(np.full(FEW, r1), np.full(FEW, r2))
    z = np.linspace(-np.pi, np.pi, 4001)[:-1]
    w = np.exp(eta @ np.array([np.cos(z), np.sin(z)]))
    fisher = np.cov(np.array([np.cos(z), np.sin(z)]), aweights=w, bias=True)
    wanted = (1 - rho) * eta - rho * np.linalg.solve(fisher, [r1, r2])
    assert opt.params[0] == pytest.approx(wanted[0], rel=1e-11)
    assert opt.eta2[0][0] == pytest.approx(wanted[1], rel=1e-11)
