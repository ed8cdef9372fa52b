"""Full Gaussians by other parameters: what a class says of its posterior, and how it draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blrgen.api import derive
from blrgen.emit import emit
from blrgen.emit.compile import compile_class

FAMILY = """
name = "chart"
title = "Gaussian with full covariance, by other parameters"
variable = "theta"
support = "R^d"
statistics = ["theta", "outer(theta, theta)"]
[natural]
lam1 = {{ domain = "R^d"{0} }}
lam2 = {{ domain = "-SPD"{1} }}
"""
COVARIANCE = (
    FAMILY.format(', working = "inv(V)*m"', ', working = "-inv(V)/2"')
    + """
[working]
m = "R^d"
V = "SPD"
"""
)
SHIFT = (
    FAMILY.format(', working = "b"', ', working = "-S/2"')
    + """
[working]
b = "R^d"
S = "SPD"
"""
)
# text, road, and mean and covariance of what is kept
CHARTS: dict[str, tuple[str, tuple[str, ...], Any]] = {
    "covariance": (COVARIANCE, (), lambda m, V: (m, V)),
    "shift": (SHIFT, (), lambda b, S: (np.linalg.solve(S, b), np.linalg.inv(S))),
    "natural": (
        FAMILY.format("", ""),
        (),
        lambda b, L: (-np.linalg.solve(L, b) / 2, -np.linalg.inv(L) / 2),
    ),
    "fixed scale": (COVARIANCE, ("fixed-scale",), lambda m: (m, np.eye(len(m)))),
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("name", CHARTS)
def test_mean_deviation_and_draws(name: str, target: str, tmp_path: Path) -> None:
    text, road, moments = CHARTS[name]
    path = tmp_path / "chart.toml"
    path.write_text(text, encoding="utf-8")
    derivation = derive(str(path), list(road))
    opt_class = compile_class(emit(derivation, target))
    rng = np.random.default_rng(3)
    A = rng.standard_normal((4, 4))
    definite, place = A @ A.T / 4 + np.eye(4), rng.standard_normal(4)
    given = {"m": place, "b": place, "lam1": place, "V": definite, "S": definite,
             "lam2": -definite}  # fmt: skip
    names = [q.name for q in derivation.rule.of("state") if q.name in given]
    opt = opt_class(given[names[0]].copy())
    opt.load_state_dict(opt.state_dict() | {x: given[x] for x in names[1:]})
    mean, covariance = moments(*(given[x] for x in names))
    found, deviation = opt.posterior()
    np.testing.assert_allclose(found, mean, rtol=1e-12)
    np.testing.assert_allclose(deviation, np.sqrt(np.diag(covariance)), rtol=1e-12)
    draws = np.array([opt.sample(np.random.default_rng(k)) for k in range(4000)])
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.15)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.35)
