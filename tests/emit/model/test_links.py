"""Regressions that no file ships, by any link: at the optimum of a general optimiser."""

import re
import warnings

import numpy as np
import pytest
from scipy.special import expit

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.reference.models import gaussian_bound as by_hand
from tests.reference.models import links

R = np.random.default_rng(3)
X = R.normal(size=(20, 2))
U = X @ [0.8, -0.6]
YES = (R.random(20) < expit(U)).astype(float)
COUNTS = R.poisson(np.exp(U)).astype(float)
ABOVE = R.gamma(2, 1 / (2 * np.exp(U)))
SHARES = np.clip(R.beta(5 * expit(U), 5 * expit(-U)), 1e-3, 1 - 1e-3)
FIVE = R.binomial(5, expit(U)).astype(float)
REAL = R.normal(size=20)

LINKS = {
    "bernoulli(p = 1 - exp(-exp(u)))": (YES, links.complementary),
    "exponential(exp(u))": (ABOVE, links.exponential),
    "poisson(log(1 + exp(u)))": (COUNTS, links.softplus_poisson),
    "beta(5/(1 + exp(-u)), 5/(1 + exp(u)))": (SHARES, links.beta),
    "binomial(p = 1/(1 + exp(-u)), n = 5)": (FIVE, links.binomial),
    "gaussian(sin(u), 0.5)": (REAL, links.sine),
    "gaussian(tanh(u), 0.5)": (REAL, links.hyperbolic),
    "negative-binomial(p = 1/(1 + exp(-u)), r = 3)": (COUNTS, links.negative_binomial),
    "geometric(1/(1 + exp(-u)))": (COUNTS, links.geometric),
    "inverse-gamma(2, exp(u))": (ABOVE, links.inverse_gamma),
    "zero-truncated-poisson(exp(u))": (COUNTS + 1, links.truncated_poisson),
    "log-normal(exp(u/4), 1)": (ABOVE, links.log_normal),
}


def made(likelihood, algorithm):
    level = re.sub(r"\bu\b", "u[n]", likelihood)
    source = f"""plate n in N
const x[n] in R^2
w ~ gaussian-full(zeros(2), eye(2))
u[n] = dot(w, x[n])
y[n] ~ {level} observed
"""
    return compile_class(text(lower(derive_model(read_model(source, "tried"), algorithm)), "numpy"))


@pytest.mark.sweep(12)
@pytest.mark.parametrize("algorithm", ["ncvmp", "cvi"])
@pytest.mark.parametrize("likelihood", LINKS)
def test_any_link_is_at_the_optimum(likelihood, algorithm, monkeypatch):
    y, level = LINKS[likelihood]
    z = np.linspace(-9, 9, 721)
    monkeypatch.setattr(by_hand, "Z", z)
    monkeypatch.setattr(by_hand, "W", np.exp(-z * z / 2) / np.exp(-z * z / 2).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of trial points far out
        value, m, V = by_hand.optimum(X, level(y), np.zeros(2), np.eye(2))
    model = made(likelihood, algorithm)(x=X, y=y)
    found = model.run(tol=1e-14)
    q = model.posterior("w")
    assert found["converged"] and abs(found["objective"] - value) < 1e-6
    np.testing.assert_allclose(q["m"], m, atol=2e-5)
    np.testing.assert_allclose(q["S"], np.linalg.inv(V), rtol=2e-5, atol=2e-5)
    assert min(np.diff(found["trace"])) > -1e-9 or algorithm == "cvi"
