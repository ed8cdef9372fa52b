"""Expectations that are found, against sums over a fine grid that know nothing of them.

∇_μ 𝔼_q[ℓ] = F⁻¹ Cov_q[ℓ, T]: densities are normalised on the grid, losses are not differentiated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
import sympy as sp
from numeric import value

import blrgen
from blrgen.errors import UserError

DATA = {"y": 0.7, "w": 0.45}
LINE = np.linspace(-14, 14, 28_001)
HALF = np.exp(np.linspace(-34, 6, 24_001))
UNIT = scipy.special.expit(np.linspace(-30, 30, 24_001))
COUNTS = np.arange(0.0, 120.0)
NORMAL = [
    "4*theta**3", "theta**7-theta", "exp(theta)", "exp(-w*theta)-y*theta", "theta**2*exp(y*theta)",
    "cos(theta)", "sin(theta)**2", "theta*sin(y*theta)", "exp(theta)*cos(theta)", "cosh(w*theta)",
    "sinh(theta)*theta", "exp(-theta**2)", "theta*exp(-(theta-y)**2/3)", "(theta*exp(theta)+1)**2",
    "cos(theta)*cosh(y*theta)", "abs(theta)", "abs(theta-y)", "theta*abs(2*theta-1)",
    "sign(theta)", "max(theta,0)", "max(0,1-theta)**2", "min(theta,y)", "theta**2*sign(theta)",
]  # fmt: skip
OTHERS = {
    "gamma": (HALF, {"a": 2.3, "b": 1.4}, [
        "x**2", "w*x**3", "log(x)**2", "x*log(x)", "x*exp(-x)", "sqrt(x)", "x**2*log(x)",
    ]),
    "exponential": (HALF, {"rate": 0.8}, ["x**2", "x**4", "x*exp(-x)"]),
    "beta": (UNIT, {"a": 1.7, "b": 2.2}, [
        "x**2", "log(x)**2", "log(x)*log(1-x)", "x*(1-x)", "sqrt(x)*(1-x)",
    ]),
    "geometric": (COUNTS, {"p": 0.4}, ["x**2", "exp(-x)", "x*2**(-x)"]),
}  # fmt: skip
PRODUCTS = {
    "gaussian*gamma": ((LINE[::20], HALF[::20]), {"m_1": 0.4, "v_1": 0.6, "a_2": 2.3, "b_2": 1.4}, [
        "x_2*(y-theta_1)**2/2-log(x_2)/2", "x_2*exp(theta_1)-y*theta_1+x_2**2",
        "x_2*cos(theta_1)+log(x_2)*theta_1", "x_2*abs(theta_1)",
    ]),
    "gaussian*gaussian": ((LINE[::20], LINE[::20]), {"m_1": 0.4, "v_1": 0.6, "m_2": -0.3,
                                                     "v_2": 0.5}, [
        "(y-theta_1*theta_2)**2", "exp(theta_1)*theta_2**2",
    ]),
}  # fmt: skip


def numbers(f: Any, names: list[Any], arrays: list[np.ndarray]) -> np.ndarray:
    """f on arrays, the data by their values."""
    known = {s: DATA[s.name] for s in f.free_symbols if s.name in DATA}
    made = sp.lambdify(names, f.subs(known), ["numpy", "scipy"])(*arrays)
    return np.broadcast_to(np.asarray(made, dtype=float), np.broadcast(*arrays).shape)


def weights(x: np.ndarray) -> np.ndarray:
    """The trapezium rule; 1 for counts."""
    return np.ones_like(x) if x is COUNTS else np.gradient(x)


def density(family: Any, natural: list[float], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the grid's cells, and the statistics there."""
    stats = np.array([numbers(t, [family.variable], [x]) for t in family.statistics])
    h = numbers(sp.sympify(family.base_measure), [family.variable], [x])
    level = np.log(h) + np.tensordot(natural, stats, 1) + np.log(weights(x))
    p = np.exp(level - level.max())
    return p / p.sum(), stats


def mean_gradient(p: np.ndarray, stats: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """F⁻¹ Cov[ℓ, T]."""
    centred = stats - (stats @ p)[:, None]
    return np.linalg.solve((centred * p) @ centred.T, (centred * p) @ loss)


def natural_of(geometry: Any, at: dict[str, float]) -> list[float]:
    return [float(value(geometry.to_working(x), at)) for x in geometry.natural]


@pytest.mark.sweep(8)
@pytest.mark.parametrize("loss", NORMAL)
@pytest.mark.parametrize("family", ["gaussian", "gaussian-diag", "gaussian-fixed"])
def test_of_a_normal_density(family: str, loss: str) -> None:
    """m⁺ and s⁺ against E[ℓ′] = P E[ℓ (θ − m)], E[ℓ″] = P² E[ℓ ((θ − m)² − 1/P)]."""
    d = blrgen.derive(family, [], loss=loss)
    asked = {q.name for q in d.rule.of("input")}
    assert asked <= set(DATA), asked
    precision = 1.0 if family == "gaussian-fixed" else 1.9
    at = {"m": 0.4, "s": 1.9, "v": 1 / 1.9, "rho": 0.3, **DATA}
    p = np.exp(-precision * (LINE - 0.4) ** 2 / 2) * weights(LINE)
    p /= p.sum()
    ell = numbers(d.loss.expr, [d.family.variable], [LINE])
    slope = precision * p @ (ell * (LINE - 0.4))
    curve = precision**2 * p @ (ell * ((LINE - 0.4) ** 2 - 1 / precision))
    found = {}
    for a in d.rule.assignments:
        found[a.name] = float(value(a.expr, {**at, **found}))
    after = precision
    if family != "gaussian-fixed":
        after = 0.7 * precision + 0.3 * curve
        now = found["s_next"] if family == "gaussian-diag" else 1 / found["v_next"]
        assert now == pytest.approx(after, rel=2e-6)
    assert found["m_next"] == pytest.approx(0.4 - 0.3 * slope / after, rel=2e-6)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("family", "loss"), [(f, x) for f, c in OTHERS.items() for x in c[2]])
def test_of_other_families(family: str, loss: str) -> None:
    grid, at, _ = OTHERS[family]
    d = blrgen.derive(family, [], loss=loss)
    assert {q.name for q in d.rule.of("input")} <= set(DATA)
    p, stats = density(d.family, natural_of(d.geometry, at), grid)
    ell = numbers(d.loss.expr, [d.family.variable], [grid])
    mine = [float(value(g, {**at, **DATA})) for g in d.expectation.mean_gradient]
    np.testing.assert_allclose(mine, mean_gradient(p, stats, ell), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("family", "loss"), [(f, x) for f, c in PRODUCTS.items() for x in c[2]])
def test_of_products(family: str, loss: str) -> None:
    """Every factor's own gradient, for the loss with the other summed over its grid."""
    grids, at, _ = PRODUCTS[family]
    d = blrgen.derive(family, [], loss=loss)
    assert {q.name for q in d.rule.of("input")} <= set(DATA)
    own = [g.family.variable for g in d.geometry.factors]
    table = numbers(d.loss.expr, own, list(np.meshgrid(*grids, indexing="ij")))
    known = [
        density(g.family, natural_of(g, at), x)
        for g, x in zip(d.geometry.factors, grids, strict=True)
    ]
    losses = [table @ known[1][0], known[0][0] @ table]
    exact = np.concatenate(
        [mean_gradient(p, t, ell) for (p, t), ell in zip(known, losses, strict=True)]
    )
    mine = [float(value(g, {**at, **DATA})) for g in d.expectation.mean_gradient]
    np.testing.assert_allclose(mine, exact, rtol=5e-4, atol=1e-6)


def test_a_poisson_regression_has_an_exact_rule() -> None:
    """E[exp⟨x, θ⟩] = exp(⟨x, m⟩ + ½⟨x, S⁻¹x⟩) in both lines, by draws of θ."""
    d = blrgen.derive("gaussian-full", [], loss="exp(dot(x,theta))-y*dot(x,theta)")
    assert not d.facts.probes
    m, x = np.array([0.2, -0.4]), np.array([0.5, 0.3])
    opt = d.compile("numpy")(m, rho=0.5)
    before = np.array(opt.S, dtype=float).reshape(2, 2)
    spread = float(x @ np.linalg.solve(before, x))
    nodes, mass = np.polynomial.hermite_e.hermegauss(60)
    rate = float(mass @ np.exp(x @ m + np.sqrt(spread) * nodes) / mass.sum())
    start = m.copy()
    opt.step(x, 2.0)
    after = 0.5 * before + 0.5 * rate * np.outer(x, x)
    np.testing.assert_allclose(np.array(opt.S, dtype=float).reshape(2, 2), after, rtol=1e-12)
    step = 0.5 * np.linalg.solve(after, (rate - 2.0) * x)
    np.testing.assert_allclose(m, start - step, rtol=1e-12)


@pytest.mark.parametrize("loss", ["exp(theta**2)", "theta*exp(theta**2/2)", "exp(2*(theta-1)**2)"])
def test_an_infinite_expectation_is_called_that(loss: str) -> None:
    with pytest.raises(UserError, match="does not exist for every member"):
        blrgen.derive("gaussian-diag", [], loss=loss)


@pytest.mark.parametrize("loss", ["log(1+exp(theta))", "erf(theta)**2", "exp(w*theta**2)"])
def test_what_is_not_found_is_called_that(loss: str) -> None:
    d = blrgen.derive("gaussian-diag", [], loss=loss)
    said = d.steps[-1].because
    assert "not found in closed form (tried: " in said
    assert "no closed form" not in said
