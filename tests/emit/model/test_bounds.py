"""What a bound at its maximum must be, whoever computes it: slopes, evidence, Laplace's, exact."""

from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.find import read_file
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.reference.models import gaussian_bound as by_hand

R = np.random.default_rng(11)


@cache
def cls(source, algorithm="ncvmp"):
    model = read_file(source) if source.endswith(".model") else read_model(source, "tried")
    return compile_class(text(lower(derive_model(model, algorithm)), "numpy"))


def process(count=12):
    t = np.sort(R.uniform(0, 3, count))
    return t, 2 * np.exp(-((t[:, None] - t) ** 2) / 0.5) + 0.01 * np.eye(count)


def test_a_process_seen_with_normal_noise_is_exact():
    t, K = process()
    y = np.sin(2 * t) + 0.3 * R.normal(size=len(t))
    source = """plate n in N
const S in SPD(N)
f ~ gaussian-full(zeros(N), S)
y[n] ~ gaussian(f[n], 0.09) observed
"""
    for algorithm in ("ncvmp", "cvi", "conjugate"):
        model = cls(source, algorithm)(S=np.linalg.inv(K), y=y)
        model.run(tol=1e-13)
        gain = K @ np.linalg.inv(K + 0.09 * np.eye(len(t)))
        np.testing.assert_allclose(model.posterior("f")["m"], gain @ y, atol=1e-8)
        covariance = np.linalg.inv(model.posterior("f")["S"])
        np.testing.assert_allclose(covariance, K - gain @ K, atol=1e-8)
        evidence = stats.multivariate_normal.logpdf(y, np.zeros(len(t)), K + 0.09 * np.eye(len(t)))
        assert abs(model.objective() - evidence) < 1e-8


@pytest.mark.parametrize("level", [by_hand.logistic, by_hand.probit])
def test_a_process_classified_is_no_worse_than_by_laplace(level):
    t, K = process()
    y = (np.sin(3 * t) + 0.3 * R.normal(size=len(t)) > 0).astype(float)
    S, one, h = np.linalg.inv(K), np.ones((1, 1)), 1e-4
    f = level(y)

    def at(x):
        return f(x[:, None] * one)[:, 0]

    mode = np.zeros(len(t))
    for _ in range(60):
        bend = -(at(mode + h) - 2 * at(mode) + at(mode - h)) / h**2
        slope = (at(mode + h) - at(mode - h)) / (2 * h) - S @ mode
        mode = mode + np.linalg.solve(S + np.diag(bend), slope)
    assert np.abs(slope).max() < 1e-6
    laplace = by_hand.bound(mode, np.linalg.inv(S + np.diag(bend)), np.eye(len(t)), f,
                            np.zeros(len(t)), S)  # fmt: skip
    link = "eta = f[n]" if level is by_hand.logistic else "p = (1 + erf(f[n]/sqrt(2)))/2"
    source = f"""plate n in N
const S in SPD(N)
f ~ gaussian-full(zeros(N), S)
y[n] ~ bernoulli({link}) observed
"""
    found = cls(source)(S=S, y=y).run(tol=1e-13)
    assert laplace < found["objective"] < laplace + 1


def volatility(y, m, v, pairs):
    """The bound of stochastic volatility under a Gaussian chain, m0 = 0, phi = 0.95, v = 0.05."""
    phi, w = 0.95, 0.05
    first = w / (1 - phi**2)
    total = -(np.log(2 * np.pi * first) + (m[0] ** 2 + v[0]) / first) / 2
    step = (m[1:] - phi * m[:-1]) ** 2 + v[1:] + phi**2 * v[:-1] - 2 * phi * pairs
    total -= (np.log(2 * np.pi * w) + step / w).sum() / 2
    total -= (np.log(2 * np.pi) + m + y**2 * np.exp(v / 2 - m)).sum() / 2
    entropy = (np.log(2 * np.pi * np.e * v)).sum() / 2
    return total + entropy + np.log1p(-(pairs**2) / (v[1:] * v[:-1])).sum() / 2


def test_volatility_has_no_slope_in_any_direction():
    R, T = np.random.default_rng(11), 60
    h = np.zeros(T)
    for t in range(1, T):
        h[t] = 0.95 * h[t - 1] + np.sqrt(0.05) * R.normal()
    y = np.exp(h / 2) * R.normal(size=T)
    model = cls("stochastic-volatility.model")(y=y)
    found = model.run(tol=1e-14)
    q = model.posterior("h")
    m, v, pairs = q["m"], q["v"], model.pairs("h")
    assert abs(volatility(y, m, v, pairs) - found["objective"]) < 1e-8
    for _ in range(200):
        a, b, c = R.normal(size=T), R.normal(size=T) * v, R.normal(size=T - 1) * pairs
        there, back = (volatility(y, m + e * a, v + e * b, pairs + e * c) for e in (1e-5, -1e-5))
        assert abs(there - back) / 2e-5 < 1e-5  # by steps of 1e-4 its third derivative is seen
        assert there < found["objective"] + 1e-9 and back < found["objective"] + 1e-9


def test_counts_on_a_walk_are_below_the_evidence_of_a_grid():
    """Two counts, the pace known: the evidence is an integral in the plane."""
    source = """plate t in T
h[1] ~ gaussian(0, 1)
h[t] ~ gaussian(h[t-1], 0.5)
y[t] ~ poisson(exp(h[t])) observed
"""
    y = np.array([3.0, 6.0])
    found = cls(source)(y=y).run(tol=1e-14)
    line = np.linspace(-8, 8, 1601)
    a, b = np.meshgrid(line, line, indexing="ij")
    density = stats.norm.pdf(a) * stats.norm.pdf(b, a, np.sqrt(0.5))
    likelihood = stats.poisson.pmf(3, np.exp(a)) * stats.poisson.pmf(6, np.exp(b))
    evidence = np.log((density * likelihood).sum() * (line[1] - line[0]) ** 2)
    assert evidence - 0.05 < found["objective"] < evidence


def test_a_walk_of_unknown_pace_is_at_the_optimum():
    """q(h) a chain, q(tau) a gamma: the bound by hand, its slope by differences, is zero."""
    from scipy.special import digamma, gammaln

    y = np.array([1.0, 0, 3, 2, 5, 4, 7])
    T = len(y)
    model = cls("poisson-random-walk.model")(y=y)
    found = model.run(tol=1e-14)
    q, pairs, tau = model.posterior("h"), model.pairs("h"), model.posterior("tau")

    def bound(x):
        m, v, c, (a, b) = x[:T], x[T : 2 * T], x[2 * T : 3 * T - 1], x[3 * T - 1 :]
        mean, log_mean = a / b, digamma(a) - np.log(b)
        total = -mean - (np.log(2 * np.pi * 10) + (m[0] ** 2 + v[0]) / 10) / 2
        step = (m[1:] - m[:-1]) ** 2 + v[1:] + v[:-1] - 2 * c
        total += (T - 1) * (log_mean - np.log(2 * np.pi)) / 2 - mean * step.sum() / 2
        total += (y * m - np.exp(m + v / 2) - gammaln(y + 1)).sum()
        total += np.log(2 * np.pi * np.e * v).sum() / 2
        total += np.log1p(-(c**2) / (v[1:] * v[:-1])).sum() / 2
        return total + a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)

    x = np.concatenate([q["m"], q["v"], pairs, [tau["a"], tau["b"]]])
    assert abs(bound(x) - found["objective"]) < 1e-8
    scale = np.concatenate([np.ones(T), q["v"], pairs, [tau["a"], tau["b"]]])
    for d in np.eye(len(x)):
        assert abs(bound(x + 1e-5 * scale * d) - bound(x - 1e-5 * scale * d)) / 2e-5 < 1e-4
    best = minimize(lambda e: -bound(x + scale * e), 0.02 * R.normal(size=len(x)), method="BFGS")
    assert abs(-best.fun - found["objective"]) < 1e-6


MEAN_FIELD = """plate n in N
plate k in K
const x[n] in R
const g[n] in labels(K)
tau ~ gamma(2, 1)
w ~ gaussian(0, 1)
b[k] ~ gaussian(0, 1/tau)
y[n] ~ poisson(exp(w*x[n] + b[g[n]])) observed
"""


def test_counts_in_groups_are_at_the_optimum():
    from scipy.special import digamma, gammaln

    N, K = 24, 3
    x, g = R.normal(size=N), np.arange(24) % 3
    y = R.poisson(np.exp(0.5 * x + np.array([-0.5, 0.2, 0.8])[g])).astype(float)
    model = cls(MEAN_FIELD)(x=x, g=g, y=y, K=K)
    found = model.run(tol=1e-15)

    def bound(p):
        m, r, b, s, (a, c) = p[0], np.exp(p[1]), p[2:5], np.exp(p[5:8]), np.exp(p[8:])
        mean, log_mean = a / c, digamma(a) - np.log(c)
        total = log_mean - mean - (m * m + r - 1 - np.log(r)) / 2
        total += (K * (log_mean + 1) - mean * (b @ b + s.sum()) + np.log(s).sum()) / 2
        u = m * x + b[g]
        total += (y * u - np.exp(u + (r * x * x + s[g]) / 2) - gammaln(y + 1)).sum()
        return total + a - np.log(c) + gammaln(a) + (1 - a) * digamma(a)

    best = minimize(lambda p: -bound(p), np.zeros(10), method="BFGS", options={"gtol": 1e-8})
    best = minimize(lambda p: -bound(p), best.x, method="BFGS", options={"gtol": 1e-9})
    assert abs(-best.fun - found["objective"]) < 1e-6
    np.testing.assert_allclose(model.posterior("w")["m"], best.x[0], atol=2e-5)
    np.testing.assert_allclose(model.posterior("b")["m"], best.x[2:5], atol=2e-5)
    np.testing.assert_allclose(1 / model.posterior("b")["v"], np.exp(-best.x[5:8]), rtol=1e-4)


HETERO = """plate n in N
const x[n] in R
w ~ gaussian(0, 1)
s ~ gaussian(0, 1)
y[n] ~ gaussian(w*x[n], exp(s*x[n])) observed
"""


def test_a_spread_that_is_predicted_is_at_the_optimum():
    x = R.normal(size=30)
    y = 0.7 * x + np.exp(0.4 * x) * R.normal(size=30)
    model = cls(HETERO)(x=x, y=y)
    found = model.run(tol=1e-15)

    def bound(p):
        m, r, s, t = p[0], np.exp(p[1]), p[2], np.exp(p[3])
        far = (y - m * x) ** 2 + r * x * x
        total = -(np.log(2 * np.pi) + s * x + far * np.exp(t * x * x / 2 - s * x)).sum() / 2
        return total - (m * m + r - 1 - np.log(r)) / 2 - (s * s + t - 1 - np.log(t)) / 2

    best = minimize(lambda p: -bound(p), np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    assert abs(-best.fun - found["objective"]) < 1e-6
    for name, k in (("w", 0), ("s", 2)):
        q = model.posterior(name)
        np.testing.assert_allclose([q["m"], q["v"]], [best.x[k], np.exp(best.x[k + 1])], atol=2e-5)


CROSSED = """plate i in I
plate j in J
a[i] ~ gaussian(0, 1)
d[j] ~ gaussian(0, 1)
y[i,j] ~ bernoulli(eta = a[i] - d[j]) observed
"""


def test_persons_and_items_are_at_the_optimum():
    n, k = 5, 4
    y = (R.random((n, k)) < 0.55).astype(float)
    model = cls(CROSSED)(y=y)
    found = model.run(tol=1e-15)
    z = np.linspace(-8, 8, 161)
    w = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()

    def bound(p):
        m, v, b, s = p[:n], np.exp(p[n : 2 * n]), p[2 * n : 2 * n + k], np.exp(p[2 * n + k :])
        u = m[:, None] - b
        wide = u[..., None] + np.sqrt(v[:, None] + s)[..., None] * z
        total = (y * u - np.logaddexp(0, wide) @ w).sum()
        return total - sum((c * c + r - 1 - np.log(r)).sum() for c, r in ((m, v), (b, s))) / 2

    best = minimize(lambda p: -bound(p), np.zeros(2 * (n + k)), method="BFGS",
                    options={"gtol": 1e-8})  # fmt: skip
    assert abs(-best.fun - found["objective"]) < 1e-6
    np.testing.assert_allclose(model.posterior("a")["m"], best.x[:n], atol=2e-5)
    np.testing.assert_allclose(model.posterior("d")["v"], np.exp(best.x[2 * n + k :]), atol=2e-5)
