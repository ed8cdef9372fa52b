"""Functions of a predictor with elements: logistic-normal shares, and labels by regression."""

from functools import cache

import numpy as np
import pytest

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.reference.models import shares

R = np.random.default_rng(4)
TOGETHER = """plate d in D
const n[d] in integers >= 1
eta[d] ~ gaussian-full(zeros(K), eye(K))
y[d] ~ multinomial(exp(eta[d])/sum(exp(eta[d])), n[d]) observed
"""
APART = """plate k in K
const n in integers >= 1
eta[k] ~ gaussian(0, 1)
y ~ multinomial(exp(eta[:])/sum(exp(eta[:])), n) observed
"""
LABELS = """plate n in N
plate k in K
const x[n] in R
w[k] ~ gaussian(0, 1)
u[n,k] = w[k]*x[n]
y[n] ~ categorical(exp(u[n,:])/sum(exp(u[n,:]))) observed
"""


@cache
def cls(source, algorithm, target="numpy"):
    return compile_class(text(lower(derive_model(read_model(source, "m"), algorithm)), target))


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("algorithm", "target"), [("ncvmp", "numpy"), ("cvi", "numpy")])
def test_shares_with_one_gaussian_are_at_the_optimum(algorithm, target):
    y = np.array([[5.0, 9, 6], [1, 0, 6]])
    model = cls(TOGETHER, algorithm, target)(n=y.sum(1), y=y)
    found = model.run(tol=1e-15)
    wanted = [shares.together(row) for row in y]
    assert found["converged"] and abs(found["objective"] - sum(x[0] for x in wanted)) < 1e-6
    q = model.posterior("eta")
    for k, (_, m, V) in enumerate(wanted):
        np.testing.assert_allclose(q["m"][k], m, atol=2e-5)
        np.testing.assert_allclose(q["S"][k], np.linalg.inv(V), rtol=2e-5, atol=2e-5)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("algorithm", ["ncvmp", "cvi"])
def test_shares_apart_are_at_the_optimum(algorithm):
    y = np.array([5.0, 9, 6])
    model = cls(APART, algorithm)(n=20, y=y)
    found = model.run(tol=1e-16)
    value, m, v = shares.by_itself(y)
    assert abs(found["objective"] - value) < 1e-6
    q = model.posterior("eta")
    np.testing.assert_allclose(q["m"], m, atol=2e-5)
    np.testing.assert_allclose(1 / q["v"], 1 / v, rtol=2e-5)


def test_labels_by_regression_are_at_the_optimum():
    x, y = R.normal(size=12), R.integers(3, size=12)
    model = cls(LABELS, "ncvmp")(x=x, y=y, K=3)
    found = model.run(tol=1e-16)
    value, m, v = shares.regression(x, y, 3)
    assert abs(found["objective"] - value) < 1e-6
    np.testing.assert_allclose(model.posterior("w")["m"], m, atol=2e-5)
    np.testing.assert_allclose(1 / model.posterior("w")["v"], 1 / v, rtol=2e-5)


def test_more_elements_are_averaged_over_points_that_are_said():
    """Five shares: no product of rules; the same points at every step, said in a note."""
    y = np.array([5.0, 9, 6, 2, 4])
    one, other = (cls(TOGETHER, "ncvmp")(n=[26], y=y[None]) for _ in range(2))
    found, again = one.run(steps=25, tol=0.0), other.run(steps=25, tol=0.0)
    assert found["trace"] == again["trace"]
    assert {"points"} <= {x["kind"] for x in found["notes"]}
    three = np.array([5.0, 9, 12])
    value, *_ = shares.together(three)  # the last three shares as one would be higher: no bound
    assert found["objective"] < value
    z = R.normal(size=(400_000, 5))
    q = one.posterior("eta")
    m, V = q["m"][0], np.linalg.inv(q["S"][0])
    bound = shares.likelihood(y, m, V, (z, np.full(len(z), 1 / len(z)))) - shares.away(m, V)
    assert abs(bound - found["objective"]) < 0.02
    moved = m + 0.05 * R.normal(size=5)
    there = shares.likelihood(y, moved, V, (z, np.full(len(z), 1 / len(z))))
    assert there - shares.away(moved, V) < bound


def test_it_resumes_bit_by_bit():
    y = np.array([[5.0, 9, 6]])
    for algorithm in ("ncvmp", "cvi"):
        kind = cls(TOGETHER, algorithm)
        whole, half = kind(n=[20], y=y), kind(n=[20], y=y)
        whole.run(steps=7, tol=0.0)
        half.run(steps=3, tol=0.0)
        again = kind(n=[20], y=y, seed=3)
        again.load_state_dict(half.state_dict())
        again.run(steps=4, tol=0.0)
        assert again.objective() == whole.objective()
