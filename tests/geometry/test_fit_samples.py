"""Maximum likelihood of vectors, matrices, several variables and products, against scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import blrgen
from blrgen.errors import UserError

V = np.array([[2.0, 0.5], [0.5, 1.0]])
RNG = np.random.default_rng(7)
MATRICES = scipy.stats.wishart(5, V).rvs(60, random_state=RNG)
VECTORS = RNG.multivariate_normal([1, 2, 3], np.diag([1, 2, 3.0]), 50)
SHARES = RNG.dirichlet([0.5, 2, 7], 60)
UNITS = VECTORS / np.linalg.norm(VECTORS, axis=1)[:, None]
COUNTS = RNG.multinomial(7, [0.2, 0.3, 0.5], 50)
ONE_HOT = np.eye(3)[RNG.integers(0, 3, 40)]
TAU = RNG.gamma(3, 0.5, 50)
X = RNG.normal(1, 1 / np.sqrt(4 * TAU))
U = np.diag([1.0, 2.0, 3.0])
TABLES = scipy.stats.matrix_normal(np.ones((3, 2)), U, V).rvs(40, random_state=RNG)


def fitted(what: str, data: Any, **fixed: Any) -> Any:
    found = blrgen.fit(what, data, **fixed)
    assert found.converged
    assert found.residual < 1e-12
    return found


@pytest.mark.parametrize("copies", [1, 6])
def test_wishart(copies: int) -> None:
    """Few observations with many digits, many in doubles: the same."""
    found = fitted("wishart", np.concatenate([MATRICES] * copies))
    law = scipy.stats.wishart(found.working["n"], np.array(found.working["V"]))
    assert found.log_likelihood == pytest.approx(
        copies * law.logpdf(np.moveaxis(MATRICES, 0, -1)).sum(), rel=1e-11
    )
    assert np.allclose(law.mean(), MATRICES.mean(axis=0), rtol=1e-12)
    for change in (0.99, 1.01):  # nowhere near is it more likely
        other = scipy.stats.wishart(found.working["n"] * change, law.mean() / law.df / change)
        less = copies * other.logpdf(np.moveaxis(MATRICES, 0, -1)).sum()
        assert less < found.log_likelihood


def test_inverse_wishart() -> None:
    data = np.linalg.inv(MATRICES)
    found, other = fitted("inverse-wishart", data), fitted("wishart", MATRICES)
    assert found.working["nu"] == pytest.approx(other.working["n"], rel=1e-9)
    assert np.allclose(np.linalg.inv(found.working["Psi"]), other.working["V"], rtol=1e-9)


def test_vectors() -> None:
    full = fitted("gaussian-full", VECTORS)
    assert np.allclose(full.working["m"], VECTORS.mean(axis=0), rtol=1e-13)
    assert np.allclose(np.linalg.inv(full.working["S"]), np.cov(VECTORS.T, bias=True), rtol=1e-11)
    law = scipy.stats.multivariate_normal(VECTORS.mean(axis=0), np.cov(VECTORS.T, bias=True))
    assert full.log_likelihood == pytest.approx(law.logpdf(VECTORS).sum(), rel=1e-12)
    diagonal = fitted("gaussian-diag", VECTORS)
    assert np.allclose(1 / np.array(diagonal.working["s"]), VECTORS.var(axis=0), rtol=1e-12)
    isotropic = fitted("gaussian-isotropic", VECTORS)
    assert isotropic.working["v"] == pytest.approx(VECTORS.var(axis=0).mean(), rel=1e-12)


def test_components() -> None:
    found = fitted("dirichlet", SHARES)
    law = scipy.stats.dirichlet(found.working["alpha"])
    assert found.log_likelihood == pytest.approx(law.logpdf(SHARES.T).sum(), rel=1e-12)
    found = fitted("multinomial", COUNTS, n=7)
    chances = COUNTS.mean(axis=0) / 7
    assert np.allclose(found.natural["eta"], np.log(chances[:2] / chances[2]), rtol=1e-12)
    law = scipy.stats.multinomial(7, chances)
    assert found.log_likelihood == pytest.approx(law.logpmf(COUNTS).sum(), rel=1e-12)
    found = fitted("categorical", ONE_HOT)
    chances = ONE_HOT.mean(axis=0)
    assert np.allclose(found.natural["eta"], np.log(chances[:2] / chances[2]), rtol=1e-12)
    found = fitted("von-mises-fisher", UNITS)
    kappa = float(np.linalg.norm(found.natural["eta"]))
    law = scipy.stats.vonmises_fisher(np.array(found.natural["eta"]) / kappa, kappa)
    assert found.log_likelihood == pytest.approx(law.logpdf(UNITS).sum(), rel=1e-11)


def test_several_variables() -> None:
    found = fitted("normal-gamma", {"tau": TAU, "x": X})
    at = found.working
    law = scipy.stats.norm(at["m"], 1 / np.sqrt(at["kappa"] * TAU))
    level = scipy.stats.gamma(at["a"], scale=1 / at["b"]).logpdf(TAU) + law.logpdf(X)
    assert found.log_likelihood == pytest.approx(level.sum(), rel=1e-12)
    assert fitted("normal-gamma", (X, TAU)).working == at
    pairs = np.array([RNG.multivariate_normal([1, 2], np.linalg.inv(3 * a)) for a in MATRICES])
    found = fitted("normal-wishart", (pairs, MATRICES))
    alone = fitted("wishart", MATRICES)
    assert found.working["n"] == pytest.approx(alone.working["n"], rel=1e-12)


def test_a_known_matrix() -> None:
    found = fitted("matrix-normal", TABLES, U=U)
    mean = TABLES.mean(axis=0)
    spread = sum((t - mean).T @ np.linalg.inv(U) @ (t - mean) for t in TABLES) / (3 * len(TABLES))
    assert np.allclose(found.working["M"], mean, rtol=1e-12)
    assert np.allclose(np.linalg.inv(found.working["S"]), spread, rtol=1e-11)


def test_products_factor_by_factor() -> None:
    found = fitted("wishart*gamma", {"X_1": MATRICES[:50], "x_2": TAU})
    first, second = fitted("wishart", MATRICES[:50]), fitted("gamma", TAU)
    assert found.working["n_1"] == first.working["n"]
    assert found.working["a_2"] == pytest.approx(second.working["a"], rel=1e-13)
    assert found.log_likelihood == pytest.approx(
        first.log_likelihood + second.log_likelihood, rel=1e-13
    )


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    ("what", "data", "fixed", "said"),
    [
        ("wishart", V, {}, "array of shape n × d × d"),
        ("wishart", VECTORS, {}, "each observation of X is a matrix"),
        ("wishart", [[1, 2], [3]], {}, "no array of numbers"),
        ("wishart", [], {}, "there are no data"),
        ("wishart", -MATRICES, {}, "60 of 60 observations are not"),
        ("wishart", MATRICES + np.array([[0, 1], [0, 0]]), {}, "symmetric and positive definite"),
        ("wishart", MATRICES * float("nan"), {}, "not in the support"),
        ("wishart", MATRICES[:1], {}, "has no maximum"),
        ("normal-wishart", (VECTORS[:1, :2], MATRICES[:1]), {}, "has no maximum"),
        ("normal-wishart", (VECTORS, MATRICES), {}, "why: d = 3"),
        ("gaussian-full", VECTORS[:3], {}, "not positive definite|no inverse|has no maximum"),
        ("dirichlet", SHARES * 1.1, {}, "positive, with sum 1"),
        ("dirichlet", SHARES[:1], {}, "has no maximum"),
        ("multinomial", COUNTS, {}, "missing: n"),
        ("multinomial", COUNTS, {"n": 8}, "whole numbers with sum 8"),
        ("categorical", ONE_HOT[:, :2], {}, "one 1, all others 0"),
        ("categorical", ONE_HOT[:1], {}, "has no maximum"),
        ("von-mises-fisher", 2 * UNITS, {}, "of length 1"),
        ("von-mises-fisher", UNITS[:1], {}, "has no maximum"),
        ("normal-gamma", X, {}, "has the variables x, tau"),
        ("normal-gamma", {"x": X}, {}, "missing: tau"),
        ("normal-gamma", {"x": X, "tau": TAU, "z": X}, {}, "not a variable: z"),
        ("normal-gamma", (X, -TAU), {}, "tau is in"),
        ("normal-gamma", (X[:5], TAU[:4]), {}, "5 of x, 4 of tau"),
        ("matrix-normal", TABLES, {}, "missing: U"),
        ("matrix-normal", TABLES, {"U": np.eye(2)}, "U has shape 2 × 2"),
        ("wishart*gamma", (MATRICES, TAU), {}, "different numbers of observations"),
    ],
)
def test_what_cannot_be_fitted_is_said(
    what: str, data: Any, fixed: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        blrgen.fit(what, data, **fixed)
