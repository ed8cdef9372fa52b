"""Numbers on a plate that a sum couples are one Gaussian: the same as a vector, step by step."""

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import as_python

R = np.random.default_rng(0)
ROWS = R.normal(size=(7, 3))
Y = ROWS @ [1.0, -1.0, 0.5] + 0.3 * R.normal(size=7)
PRECISE = """plate n in N
plate j in p
const X[n] in R^p
alpha[j] ~ gamma(2, 1)
tau ~ gamma(2, 1)
w[j] ~ gaussian(0, 1/alpha[j])
y[n] ~ gaussian(dot(w[:], X[n]), 1/tau)   observed
"""
FIXED = """plate n in N
plate j in p
const X[n] in R^p
w[j] ~ gaussian(0, 2)
y[n] ~ gaussian(dot(w[:], X[n]), 1/2)   observed
"""
GROUPED = """plate g in G
plate n in N
plate j in p
const X[n] in R^p
w[g,j] ~ gaussian(0, 2)
y[g,n] ~ gaussian(dot(w[g,:], X[n]), 1/2)   observed
"""
AS_VECTOR = {
    "w[j] ~ gaussian(0, 1/alpha[j])": "w ~ gaussian-full(zeros(p), diag(alpha[:]))",
    "w[j] ~ gaussian(0, 2)": "w ~ gaussian-full(zeros(p), eye(p)/2)",
    "w[g,j] ~ gaussian(0, 2)": "w[g] ~ gaussian-full(zeros(p), eye(p)/2)",
    "dot(w[:], ": "dot(w, ",
    "dot(w[g,:], ": "dot(w[g], ",
}


def as_vector(source):
    for old, new in AS_VECTOR.items():
        source = source.replace(old, new)
    return source if "alpha" in source else source.replace("plate j in p\n", "")


def made(source, algorithm, target):
    program = lower(derive_model(read_model(source, "line"), algorithm))
    return as_python(text(program, target))[program.name]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize(
    ("source", "algorithm"), [(PRECISE, "vmp"), (FIXED, "conjugate"), (GROUPED, "conjugate")]
)
def test_elements_of_a_plate_are_those_of_a_vector(source, algorithm, target):
    start = {"tau": {"a": 2.0, "b": 1.0}, "alpha": {"a": np.full(3, 2.0), "b": np.ones(3)}}
    data = {"X": ROWS, "y": np.stack([Y, -Y]) if source is GROUPED else Y}
    more = {"start": start} if source is PRECISE else {}
    one = made(source, algorithm, target)(**data, **more)
    two = made(as_vector(source), algorithm, target)(**data, **more)
    traces = [m.run(6, tol=0.0)["trace"] for m in (one, two)]
    np.testing.assert_allclose(*traces, rtol=1e-11)
    q, whole = one.posterior("w"), two.posterior("w")
    cov = np.linalg.inv(whole["S"])
    np.testing.assert_allclose(q["m"], whole["m"], rtol=1e-9)
    np.testing.assert_allclose(q["v"], np.diagonal(cov, axis1=-2, axis2=-1), rtol=1e-9)
    draws = one.sample("w", np.random.default_rng(1), 4000) - q["m"]
    outer = np.einsum("s...i,s...j->s...ij", draws, draws)
    error = outer.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(outer.mean(axis=0) - cov) < 5 * error).all()


def test_draws_of_a_plate_are_those_of_a_vector():
    runs = []
    for source in (PRECISE, as_vector(PRECISE)):
        model = made(source, "gibbs", "numpy")(X=ROWS, y=Y, seed=3)
        runs.append((model.run(20)["trace"], model.draws("w")))
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=1e-9)
    np.testing.assert_allclose(runs[0][1], runs[1][1], rtol=1e-7, atol=1e-9)


LATER = """plate n in N
plate j in p
const X[n] in R^p
w[j] ~ gaussian(0, 1)
tau ~ gamma(2, 1)
y[n] ~ gaussian(dot(w[:], X[n]), 1/tau)   observed
"""


def by_hand(m, v, steps):
    """tau, then w, from independent coefficients: the objective before each step."""
    from scipy.special import digamma, gammaln

    V = np.diag(v)
    for _ in range(steps):
        loss = ((Y - ROWS @ m) ** 2).sum() + np.trace(ROWS @ V @ ROWS.T)
        a, b = 2 + len(Y) / 2, 1 + loss / 2
        log_tau, tau = digamma(a) - np.log(b), a / b
        yield (
            len(Y) / 2 * (log_tau - np.log(2 * np.pi)) - tau * loss / 2
            + log_tau - tau
            - (m @ m + np.trace(V)) / 2
            + (np.linalg.slogdet(V)[1] + len(m)) / 2
            + a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
        )  # fmt: skip
        V = np.linalg.inv(np.eye(len(m)) + tau * ROWS.T @ ROWS)
        m = V @ (tau * ROWS.T @ Y)


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_they_are_kept_as_one_gaussian_behind_another_block(target):
    m, v = np.array([0.3, -0.2, 1.0]), np.array([0.5, 2.0, 1.0])
    model = made(LATER, "vmp", target)(X=ROWS, y=Y, start={"w": {"m": m, "v": v}})
    found = [model.step() for _ in range(3)]
    again = made(LATER, "vmp", target)(X=ROWS, y=Y)
    again.load_state_dict(model.state_dict())
    found.append(again.step())
    np.testing.assert_allclose(found, list(by_hand(m, v, 4)), rtol=1e-12)


def test_a_saved_precision_is_definite():
    model = made(LATER, "vmp", "numpy")(X=ROWS, y=Y)
    model.step()
    saved = model.state_dict()
    saved["state"]["w_P"][0, 0] = -1.0
    with pytest.raises(ValueError, match="w_P is not positive definite"):
        model.load_state_dict(saved)


def test_a_start_of_groups_keeps_each_value_in_its_place():
    """A plate of coupled elements: what is said of element j of group g is at (g, j)."""
    later = GROUPED.replace("y[g,n]", "tau ~ gamma(2, 1)\ny[g,n]").replace("1/2)", "1/tau)")
    m, v = R.normal(size=(2, 3)), R.uniform(0.5, 2, size=(2, 3))
    y = np.stack([Y, Y[::-1]])
    model = made(later, "vmp", "numpy")(X=ROWS, y=y, start={"w": {"m": m, "v": v}})
    found = model.posterior("w")
    np.testing.assert_allclose(found["m"], m, rtol=1e-14)
    np.testing.assert_allclose(found["v"], v, rtol=1e-14)
