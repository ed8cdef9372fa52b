"""log p of new rows by draws of q, where it has no closed form: within what it says it errs by."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_t, t

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import CASES, MODELS, PLANE, N, X, as_python

NEW = np.array([[0.5, 0.2], [-1.0, 2.0], [4.0, 4.0]])


def fitted(name, algorithm, data, target="numpy", written=""):
    model = read_model(written or (MODELS / f"{name}.model").read_text(), name)
    program = lower(derive_model(model, algorithm))
    made = as_python(text(program, target))[program.name](**data, seed=3)
    made.run(10)
    return made


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_a_mixture_predicts_students_t(target):
    """Of Gaussians with normal-Wishart q: Σ_k E[π_k] t(x; m_k, (κ + 1)/(κ(n − d + 1)) V⁻¹)."""
    data = CASES["gaussian-mixture-full", "vmp"]
    model = fitted("gaussian-mixture-full", "vmp", data, target)
    q, alpha = model.posterior("mu,L"), model.posterior("pi")["alpha"]
    parts = []
    for k in range(2):
        free = q["n"][k] - 1
        shape = np.linalg.inv(q["V"][k]) * (q["kappa"][k] + 1) / (q["kappa"][k] * free)
        parts.append(multivariate_t(q["m"][k], shape, df=free).logpdf(NEW))
    exact = logsumexp(np.array(parts) + np.log(alpha / alpha.sum())[:, None], axis=0)
    value, error = model.log_predictive(x=NEW, draws=2000, seed=1, error=True)
    assert (error > 0).all()
    assert (error < 0.2).all()
    assert (np.abs(value - exact) < 4 * error).all()
    np.testing.assert_array_equal(model.log_predictive(x=NEW, draws=2000, seed=1), value)


def test_mean_field_of_a_line_predicts_what_its_q_says():
    """y = w·x + noise, q(w) Gaussian, q(τ) gamma: an integral over w alone is a number."""
    for target in ("numpy", "numba"):
        data = CASES["linear-regression", "vmp"]
        model = fitted("linear-regression", "vmp", data, target)
        w, tau = model.posterior("w"), model.posterior("tau")
        rows, y = X[:2], np.array([0.3, -1.0])
        value, error = model.log_predictive(X=rows, y=y, draws=2000, error=True)
        cov = np.linalg.inv(w["S"])
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        for k in range(2):
            at, sd = rows[k] @ w["m"], np.sqrt(rows[k] @ cov @ rows[k])
            student = t(2 * tau["a"], at + sd * nodes, np.sqrt(tau["b"] / tau["a"]))
            exact = np.log(student.pdf(y[k]) @ weights / np.sqrt(2 * np.pi))
            assert abs(value[k] - exact) < 4 * error[k]


def test_points_are_plugged_in_and_rows_checked():
    written = """plate n in N
plate k in K
param v[k] in (0, oo)
pi ~ dirichlet(ones(K))
mu[k] ~ gaussian(0, 10)
z[n] ~ categorical(pi)
x[n] ~ gaussian(mu[z[n]], v[z[n]])   observed
"""
    model = fitted("half", "vmp", {"x": PLANE[:, 0].copy(), "K": 2}, written=written)
    found = model.log_predictive(x=np.zeros(4), draws=100)
    assert found.shape == (4,)
    assert np.isfinite(found).all()
    with pytest.raises(ValueError, match="shape"):
        model.log_predictive(x=np.zeros((N, 2)))
