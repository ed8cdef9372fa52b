"""Models that do not ship, held against numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import bernoulli, multivariate_normal, norm

from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_traces import STEPS, WIDE, cls

GROUPS = """
plate j in J
plate i in n[j]
const t2 in (0, oo) = 1/2
mu ~ gaussian(0, 100)
tau ~ gamma(1, 1)
theta[j] ~ gaussian(mu, 1/t2)
y[j,i] ~ gaussian(theta[j], 1/tau) observed
"""
RATERS = """
plate i in I
plate a in A
plate k in K
pi ~ dirichlet(ones(K))
C[a,k] ~ dirichlet(ones(K))
z[i] ~ categorical(pi)
y[i,a] ~ categorical(C[a,z[i]]) observed or missing
"""
LAGS = """
plate t in T
param a1 in R
param a2 in R
param c in R
param v in (0, oo)
y[1] ~ gaussian(0, 10) observed
y[2] ~ gaussian(0, 10) observed
y[t] ~ gaussian(c + a1*y[t-1] + a2*y[t-2], v) observed
"""
RESPONSES = """
plate n in N
const X[n] in R^p
param B in R^(d,p)
param S in SPD(d)
y[n] ~ gaussian-full(B*X[n], inv(S)) observed
"""
PLANES = """
plate n in N
plate k in K
param pi in simplex(K)
param W[k] in R^(d,q)
param mu[k] in R^d
param s in (0, oo)
z[n] ~ categorical(pi)
h[n] ~ gaussian-full(zeros(q), eye(q))
x[n] ~ gaussian-full(W[z[n]]*h[n] + mu[z[n]], eye(d)/s) observed
"""
VARIANCE = """
plate n in N
s ~ generalized-inverse-gaussian(1, 1, 1/2)
x[n] ~ gaussian(0, s) observed
"""
SEEN = """
plate i in N
plate j in J
psi ~ beta(1, 1)
p[j] ~ beta(1, 1)
z[i] ~ bernoulli(psi)
y[i,j] ~ choose(z[i], point(0), bernoulli(p[j])) observed
"""
ROWS = """
plate j in J
p[j] ~ beta(1, 1)
x[j] ~ binomial(p[j], 5) observed
"""


def groups(y, n, t2, steps):
    """Mean field by hand: after each step the precision's (a, b), and means and variances."""
    rows = np.split(y, np.cumsum(n)[:-1])
    t, mu = 1.0, (0.0, 100.0)
    for _ in range(steps):
        v = 1 / (t2 + t * np.array(n))
        m = v * (t2 * mu[0] + t * np.array([x.sum() for x in rows]))
        b = (
            1
            + sum(((x - a) ** 2).sum() + len(x) * w for x, a, w in zip(rows, m, v, strict=True)) / 2
        )
        t = (1 + len(y) / 2) / b
        w = 1 / (1 / 100 + t2 * len(n))
        mu = (w * t2 * m.sum(), w)
        yield (1 + len(y) / 2, b), mu


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_groups_of_different_sizes_count_as_often_as_they_have_rows(target):
    n, rng = [3, 1, 4, 2], np.random.default_rng(2)
    y = rng.normal(size=10) + np.repeat([0.0, 2.0, -1.0, 4.0], n)
    start = {"tau": {"a": 1.0, "b": 1.0}, "mu": {"m": 0.0, "v": 100.0}}
    model = cls("groups", "vmp", GROUPS, target)(y=y, n=n, start=start)
    trace = [model.objective()]
    for (a, b), mu in groups(y, n, 0.5, STEPS):
        model.step()
        trace.append(model.objective())
        found = model.posterior("tau")
        np.testing.assert_allclose([found["a"], found["b"]], [a, b], rtol=1e-10)
        np.testing.assert_allclose(model.posterior("mu")["m"], mu[0], rtol=1e-10)
    assert min(np.diff(trace)) > -1e-9


def test_symbols_in_two_plates_are_read_as_labels_in_blocks():
    rng = np.random.default_rng(3)
    y = np.where(rng.random((40, 5)) < 0.1, np.nan, rng.integers(2, size=(40, 5)))
    found = [cls("raters", "vmp", RATERS, t)(y=y, K=2, seed=1).run(5, 0.0)["trace"]
             for t in ("numpy", "numba")]  # fmt: skip
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_without_latents_em_is_maximum_likelihood():
    y = np.cumsum(np.random.default_rng(4).normal(size=40))
    model = cls("lags", "em", LAGS)(y=y)
    model.step()
    X = np.stack([y[1:-1], y[:-2], np.ones(38)], axis=1)
    best, *_ = np.linalg.lstsq(X, y[2:], rcond=None)
    rest = y[2:] - X @ best
    names = ("a1", "a2", "c", "v")
    wanted = [*best, np.mean(rest**2)]
    np.testing.assert_allclose([model.posterior(x) for x in names], wanted, rtol=1e-9)
    first = norm.logpdf(y[:2], 0, np.sqrt(10)).sum()
    value = first + norm.logpdf(rest, 0, np.sqrt(np.mean(rest**2))).sum()
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_several_responses_are_regressed_on_the_same_inputs(target):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    model = cls("responses", "em", RESPONSES, target)(X=X, y=y)
    model.step()
    best, *_ = np.linalg.lstsq(X, y, rcond=None)
    np.testing.assert_allclose(model.posterior("B"), best.T, rtol=1e-9)
    rest = y - X @ best
    np.testing.assert_allclose(model.posterior("S"), rest.T @ rest / 30, rtol=1e-9)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_a_mixture_of_planes_begins_at_its_log_likelihood(target):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(35, 4)) + np.repeat([0.0, 3.0], [15, 20])[:, None]
    start = {"pi": np.array([0.4, 0.6]), "W": rng.normal(size=(2, 4, 1)), "s": 0.5,
             "mu": rng.normal(size=(2, 4))}  # fmt: skip
    model = cls("planes", "em", PLANES, target)(x=x, K=2, q=1, start=start)
    cov = [w @ w.T + 0.5 * np.eye(4) for w in start["W"]]
    rows = [np.log(p) + multivariate_normal(m, c).logpdf(x)
            for p, m, c in zip(start["pi"], start["mu"], cov, strict=True)]  # fmt: skip
    np.testing.assert_allclose(model.objective(), logsumexp(rows, axis=0).sum(), rtol=1e-10)
    assert min(np.diff(model.run(8, 0.0)["trace"])) > -1e-9


def test_a_variance_whose_prior_has_bessel_functions_has_its_evidence():
    x = np.random.default_rng(8).normal(size=6)
    model = cls("variance", "conjugate", VARIANCE)(x=x)

    def density(s):  # p(s) without its constant, and that of x given s
        return np.exp(-(s + 1 / (2 * s)) / 2), np.exp(-(x @ x) / (2 * s)) * (2 * np.pi * s) ** -3

    constant, _ = quad(lambda s: density(s)[0], 0, np.inf)
    value, _ = quad(lambda s: np.prod(density(s)), 0, np.inf, epsabs=0, epsrel=1e-10)
    np.testing.assert_allclose(model.objective(), np.log(value / constant), rtol=1e-7)


@pytest.mark.parametrize("name", ["factor-analysis-em", "ppca"])
def test_online_em_on_half_of_the_rows_at_rate_one_is_em_on_them(name):
    start = {x: cls(name, "em")(x=WIDE, q=2, seed=4).posterior(x)
             for x in ("W", "mu", "psi" if "factor" in name else "s")}  # fmt: skip
    rows = np.arange(0, 40, 2)
    online = cls(name, "online-em")(x=WIDE, q=2, start=start, delay=0.0)
    whole = cls(name, "em")(x=WIDE[rows], q=2, start=start)
    online.step(rows)
    whole.step()
    for x in start:
        np.testing.assert_allclose(online.posterior(x), whole.posterior(x), rtol=1e-9, atol=1e-12)


def test_the_log_joint_of_draws_beside_a_point_mass_is_a_number():
    rng = np.random.default_rng(9)
    y = (rng.random((20, 3)) < 0.4) * (rng.random((20, 1)) < 0.7) * 1.0
    model = cls("seen", "gibbs", SEEN)(y=y, seed=3)
    trace = model.run(4)["trace"]
    z, p, psi = (model.state[x] for x in ("z", "p", "psi"))
    wanted = bernoulli.logpmf(z, psi).sum() + (z[:, None] * bernoulli.logpmf(y, p)).sum()
    np.testing.assert_allclose(trace[-1], wanted, rtol=1e-10)
    assert not np.isnan(trace).any() and (z[y.any(axis=1)] == 1).all()


def test_svi_without_a_global_block_is_refused():
    with pytest.raises(ModelError) as refusal:
        derive_model(read_model(ROWS, "rows"), "svi")
    assert "global" in str(refusal.value) and "--vmp" in str(refusal.value)
