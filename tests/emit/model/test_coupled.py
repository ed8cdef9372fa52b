"""Points whose equations couple them: Newton's method on all at once, against other optimisers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import digamma, expit, gammaln, ive

from blrgen.emit.model.file import text
from blrgen.errors import UserError
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import Options, derive_model
from tests.emit.model.test_targets import as_python

TARGETS = ("numpy", "loops")
BETA = """
plate n in N
param a in (0, oo)
param b in (0, oo)
x[n] ~ beta(a, b) observed
"""
DIRICHLET = """
plate n in N
param a in (0, oo)^K
x[n] ~ dirichlet(a) observed
"""
LOGISTIC = """
plate n in N
const x[n] in R^p
param w in R^p
y[n] ~ bernoulli(eta = dot(w, x[n])) observed
"""
RIDGE = """
plate n in N
const x[n] in R^p
w ~ gaussian-full(zeros(p), eye(p))
b ~ gaussian(0, 100)
y[n] ~ poisson(exp(b + dot(w, x[n]))) observed or missing
"""
EXPERTS = """
plate n in N
const x[n] in R^p
param v in R^p
param a in R^p
param b in R^p
param s in (0, oo)
z[n] ~ bernoulli(eta = dot(v, x[n]))
y[n] ~ choose(z[n], gaussian(dot(a, x[n]), s), gaussian(dot(b, x[n]), s)) observed
"""
CIRCLE = """
plate n in N
param m in R
param k in R
x[n] ~ von-mises(m, k) observed
"""
SPHERES = """
plate n in N
plate k in K
param pi in simplex(K)
param eta[k] in R^p
z[n] ~ categorical(pi)
x[n] ~ von-mises-fisher(eta[z[n]]) observed
"""
COUNTS = """
plate j in J
const n[j] in integers >= 1
param a in (0, oo)^K
p[j] ~ dirichlet(a)
x[j] ~ multinomial(p[j], n[j]) observed
"""


def made(source, target, point=()):
    program = lower(derive_model(read_model(source, "coupled"), "em", Options(point=point)))
    return as_python(text(program, "numpy" if target == "numpy" else "numba"))[program.name]


def fitted(source, target, point=(), **data):
    model = made(source, target, point)(**data)
    run = model.run(tol=1e-13)
    assert min(np.diff(run["trace"])) >= -1e-9 * (1 + abs(run["objective"]))
    return model, run


@pytest.mark.parametrize("target", TARGETS)
def test_both_shapes_of_a_beta(target):
    x = np.random.default_rng(0).beta(2, 5, 200)
    model, run = fitted(BETA, target, x=x)
    a, b, *_ = stats.beta.fit(x, floc=0, fscale=1)
    np.testing.assert_allclose([model.posterior("a"), model.posterior("b")], [a, b], rtol=1e-6)
    np.testing.assert_allclose(run["objective"], stats.beta.logpdf(x, a, b).sum(), rtol=1e-12)


@pytest.mark.parametrize("target", TARGETS)
def test_the_concentrations_of_a_dirichlet(target):
    x = np.random.default_rng(1).dirichlet([0.5, 2, 3, 1], 300)
    model, run = fitted(DIRICHLET, target, x=x)
    a, logs = model.posterior("a"), np.log(x).mean(0)
    np.testing.assert_allclose(digamma(a) - digamma(a.sum()), logs, rtol=1e-10)
    np.testing.assert_allclose(run["objective"], stats.dirichlet.logpdf(x.T, a).sum(), rtol=1e-10)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_a_logistic_regression(target, scale):
    """With inputs a thousand times larger nothing overflows on the way."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4)) * scale
    y = (rng.random(300) < expit(X @ rng.normal(size=4) / scale)) * 1.0
    with np.errstate(over="raise", invalid="raise"):
        model, run = fitted(LOGISTIC, target, x=X, y=y)
    w = model.posterior("w")
    slope = X.T @ (y - expit(X @ w))
    np.testing.assert_allclose(slope / scale, 0, atol=1e-8)
    np.testing.assert_allclose(run["objective"], (y * (X @ w) - np.logaddexp(0, X @ w)).sum())
    assert run["reason"] == "converged"


@pytest.mark.parametrize("target", TARGETS)
def test_classes_that_a_plane_parts(target):
    """log p rises to 0 as w grows: the run ends near it, with numbers."""
    X = np.array([[-2.0, 1], [-1, 1], [1, 1], [3, 1]])
    model, run = fitted(LOGISTIC, target, x=X, y=np.array([0.0, 0, 1, 1]))
    assert abs(run["objective"]) < 1e-6
    assert np.isfinite(model.posterior("w")).all()


@pytest.mark.parametrize("target", TARGETS)
def test_where_the_start_is_all_but_flat(target):
    """Inputs of 10⁸: at the first weights every row is sure, and Newton's step goes to 10⁶⁰."""
    X, y = np.array([[1e8], [2e8], [-1e8]]), np.array([1.0, 0, 1])
    with np.errstate(all="ignore"):  # as in a compiled file
        model, run = fitted(LOGISTIC, target, x=X, y=y)
    x = X[:, 0] / 1e8
    best = optimize.minimize_scalar(lambda u: np.logaddexp(0, x * u).sum() - y @ x * u)
    np.testing.assert_allclose(run["objective"], -best.fun, rtol=1e-9)
    np.testing.assert_allclose(model.posterior("w") * 1e8, best.x, rtol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_the_mode_of_a_poisson_regression(target):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    y = rng.poisson(np.exp(0.5 + X @ [1, -0.5, 0.2])) * 1.0
    y[7] = np.nan
    model, _ = fitted(RIDGE, target, ("w", "b"), x=X, y=y)
    w, b, seen = model.posterior("w"), model.posterior("b"), ~np.isnan(y)
    rest = (y - np.exp(b + X @ w))[seen]
    np.testing.assert_allclose(X[seen].T @ rest - w, 0, atol=1e-9)
    np.testing.assert_allclose(rest.sum() - b / 100, 0, atol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
def test_experts_with_a_gate(target):
    rng = np.random.default_rng(4)
    X = np.c_[rng.normal(size=(150, 2)), np.ones(150)]
    gate = rng.random(150) < expit(X @ [2, -1, 0])
    y = np.where(gate, X @ [2, 0, 1], X @ [-1, 1, -1]) + 0.3 * rng.normal(size=150)
    model, run = fitted(EXPERTS, target, x=X, y=y)
    names = ("v", "a", "b", "s")
    sizes = np.cumsum([3, 3, 3])

    def minus(values):
        v, a, b, s = np.split(values, sizes)
        each = [stats.norm.logpdf(y, X @ c, np.sqrt(s)) for c in (a, b)]
        return -np.logaddexp(np.log(expit(-X @ v)) + each[0], np.log(expit(X @ v)) + each[1]).sum()

    found = np.concatenate([np.atleast_1d(model.posterior(x)) for x in names])
    np.testing.assert_allclose(-minus(found), run["objective"], rtol=1e-11)
    slope = optimize.approx_fprime(found, minus, 1e-6)
    np.testing.assert_allclose(slope, 0, atol=1e-2)
    best = optimize.minimize(minus, found).fun
    assert -best < run["objective"] + 1e-6


@pytest.mark.parametrize("target", TARGETS)
def test_a_direction_and_how_sure_it_is(target):
    x = stats.vonmises(3, loc=1).rvs(400, random_state=5)
    x = (x + np.pi) % (2 * np.pi) - np.pi
    model, run = fitted(CIRCLE, target, x=x)
    eta = np.array([model.posterior("m"), model.posterior("k")])
    kappa, mean, _ = stats.vonmises.fit(x, fscale=1)
    np.testing.assert_allclose(np.hypot(*eta), kappa, rtol=1e-5)
    np.testing.assert_allclose(np.arctan2(eta[1], eta[0]), mean, rtol=1e-6)
    wanted = stats.vonmises.logpdf(x, kappa, mean).sum()
    np.testing.assert_allclose(run["objective"], wanted, rtol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
def test_a_mixture_on_the_sphere(target):
    parts = [([1, 0, 0], 20, 60), ([0, 0.6, 0.8], 900, 90)]
    x = np.concatenate([stats.vonmises_fisher(m, k).rvs(n, random_state=n) for m, k, n in parts])
    model, run = fitted(SPHERES, target, x=x, K=2)
    pi, eta = model.posterior("pi"), model.posterior("eta")
    size = np.linalg.norm(eta, axis=1)
    # A(η) = log ∫ exp(ηᵀx) dx = log(4π sinh κ/κ)
    logs = x @ eta.T - np.log(4 * np.pi * ive(0.5, size) / np.sqrt(2 * size / np.pi)) - size
    total = np.logaddexp(*(logs + np.log(pi)).T)
    np.testing.assert_allclose(run["objective"], total.sum(), rtol=1e-10)
    r = np.exp(logs + np.log(pi) - total[:, None])
    mean = r.T @ x / r.sum(0)[:, None]  # coth κ − 1/κ is its length
    np.testing.assert_allclose(np.linalg.norm(mean, axis=1), 1 / np.tanh(size) - 1 / size, 1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_concentrations_behind_shares_that_nobody_sees(target):
    rng = np.random.default_rng(6)
    n = rng.integers(3, 20, 60)
    x = np.array([rng.multinomial(k, rng.dirichlet([1, 2, 3])) for k in n]) * 1.0

    def minus(logs):
        a = np.exp(logs)
        each = gammaln(a.sum()) - gammaln(a.sum() + n) + (gammaln(x + a) - gammaln(a)).sum(1)
        return -(each + gammaln(n + 1) - gammaln(x + 1).sum(1)).sum()

    model, run = fitted(COUNTS, target, x=x, n=n)
    best = optimize.minimize(minus, np.zeros(3), tol=1e-10)
    np.testing.assert_allclose(run["objective"], -best.fun, rtol=1e-9)
    np.testing.assert_allclose(model.posterior("a"), np.exp(best.x), rtol=1e-3)


ONE = """
family series = "series.toml"
plate n in N
param p in (0, 1)
x[n] ~ series(p) observed
"""
SERIES = """
name = "log-series"
title = "Log series"
variable = "x"
support = "integers >= 1"
statistics = ["x"]
base_measure = "1/x"
[natural]
eta1 = "(-oo, 0)"
[working]
p = { domain = "(0, 1)", natural = "exp(eta1)" }
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_point_between_two_ends(target, tmp_path, monkeypatch):
    (tmp_path / "series.toml").write_text(SERIES)
    monkeypatch.chdir(tmp_path)
    x = stats.logser(0.8).rvs(300, random_state=7) * 1.0
    model, run = fitted(ONE, target, x=x)
    p = float(model.posterior("p"))
    np.testing.assert_allclose(-p / ((1 - p) * np.log1p(-p)), x.mean(), rtol=1e-10)
    np.testing.assert_allclose(run["objective"], stats.logser.logpmf(x, p).sum(), rtol=1e-10)


def test_what_no_file_computes_is_refused():
    source = "plate n in N\nparam w in R\nx[n] ~ gaussian(sinh(cosh(w)), 1) observed"
    made(source, "numpy")  # these are known
    odd = "plate n in N\nparam a in (2, oo)\nx[n] ~ gaussian(zeta(a), 1) observed"
    with pytest.raises(UserError):
        made(odd, "numpy")
