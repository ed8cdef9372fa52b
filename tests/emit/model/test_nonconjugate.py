"""Non-conjugate classes against a general optimiser, and what their steps promise."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from blrgen.runtime.guarded import _fewer_nodes, _set_nodes, _wait
from tests.emit.model.test_targets import as_python
from tests.reference.models import gaussian_bound as by_hand
from tests.reference.models import number_bound

R = np.random.default_rng(7)
X = R.normal(size=(30, 2))
U = X @ [0.9, -1.1]
YES = (R.random(30) < 1 / (1 + np.exp(-U))).astype(float)
COUNTS = R.poisson(np.exp(U)).astype(float)

SCALAR = {
    "poisson": "u ~ gaussian(0, 1)\ny ~ poisson(exp(u)) observed",
    "logistic": "u ~ gaussian(0, 1)\ny ~ bernoulli(eta = u) observed",
}
LINEAR = """plate n in N
const x[n] in R^2
w ~ gaussian-full(zeros(2), eye(2))
y[n] ~ {} observed
"""
LOGISTIC = LINEAR.format("bernoulli(eta = dot(w, x[n]))")
PROCESS = """plate n in N
const S in SPD(N)
f ~ gaussian-full(zeros(N), S)
y[n] ~ bernoulli(eta = f[n]) observed
"""
GROUPS = """plate n in N
plate k in K
const x[n] in R^2
const g[n] in labels(K)
tau ~ gamma(1, 1)
w ~ gaussian-full(zeros(2), eye(2))
b[k] ~ gaussian(0, 1/tau)
y[n] ~ bernoulli(eta = dot(w, x[n]) + b[g[n]]) observed
"""


@cache
def cls(source: str, algorithm: str, target: str = "numpy"):
    model = read_model(source, "tried")
    made = lower(derive_model(model, algorithm))
    if target == "loops":  # of the Numba file, which is not compiled
        return as_python(text(made, "numba"))[made.name]
    return compile_class(text(made, target))


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("algorithm", "target"),
    [("ncvmp", "numpy"), ("ncvmp", "numba"), ("cvi", "numpy"), ("cvi", "loops")],
)
def test_the_two_numbers(algorithm, target):
    for name, y, m, v in (("logistic", 1.0, 0.413126805979683, 0.828868291887001),
                          ("poisson", 3.0, 0.687422729064258, 0.301879750481268)):  # fmt: skip
        model = cls(SCALAR[name], algorithm, target)(y=y)
        model.run(steps=80, tol=0.0)
        q = model.posterior("u")
        np.testing.assert_allclose([q["m"], q["v"]], [m, v], atol=1e-10, rtol=0)
        level = getattr(by_hand, name)(np.array([y]))
        assert model.objective() < by_hand.evidence(level)
        wanted = by_hand.optimum(np.eye(1), level, np.zeros(1), np.eye(1))[0]
        assert abs(model.objective() - wanted) < 1e-8


@pytest.mark.parametrize("algorithm", ["ncvmp", "cvi"])
@pytest.mark.parametrize(
    ("likelihood", "y", "level"),
    [
        ("bernoulli(eta = dot(w, x[n]))", YES, by_hand.logistic),
        ("bernoulli(p = (1 + erf(dot(w, x[n])/sqrt(2)))/2)", YES, by_hand.probit),
        ("poisson(exp(dot(w, x[n])))", COUNTS, by_hand.poisson),
    ],
)
def test_regressions_are_at_the_optimum(likelihood, y, level, algorithm):
    model = cls(LINEAR.format(likelihood), algorithm)(x=X, y=y)
    found = model.run(tol=1e-13)
    value, m, V = by_hand.optimum(X, level(y), np.zeros(2), np.eye(2))
    assert found["converged"] and abs(found["objective"] - value) < 1e-6
    np.testing.assert_allclose(model.posterior("w")["m"], m, atol=2e-5)
    np.testing.assert_allclose(model.posterior("w")["S"], np.linalg.inv(V), rtol=2e-5, atol=1e-4)


def test_a_gaussian_process_is_at_the_optimum():
    t = np.linspace(0, 2, 9)
    K = 1.5 * np.exp(-((t[:, None] - t) ** 2) / 0.5) + 0.01 * np.eye(9)
    y = (np.sin(3 * t) > 0).astype(float)
    model = cls(PROCESS, "ncvmp")(S=np.linalg.inv(K), y=y)
    found = model.run(tol=1e-14)
    value, m, V = by_hand.optimum(np.eye(9), by_hand.logistic(y), np.zeros(9), np.linalg.inv(K))
    assert abs(found["objective"] - value) < 1e-6
    np.testing.assert_allclose(model.posterior("f")["m"], m, atol=2e-5)
    np.testing.assert_allclose(np.linalg.inv(model.posterior("f")["S"]), V, atol=2e-5)


@pytest.mark.parametrize(
    ("algorithm", "target"), [("ncvmp", "numpy"), ("ncvmp", "loops"), ("cvi", "numpy")]
)
def test_groups_are_at_the_optimum(algorithm, target):
    g = np.arange(30) % 4
    model = cls(GROUPS, algorithm, target)(x=X, y=YES, g=g, K=4)
    found = model.run(tol=1e-14)
    value, wanted = by_hand.hierarchical(X, YES, g, 4)
    assert abs(found["objective"] - value) < 1e-6
    for name, parameters in wanted.items():
        for key, x in parameters.items():
            np.testing.assert_allclose(model.posterior(name)[key], x, rtol=1e-3, atol=1e-4)


def test_no_step_lowers_the_objective_and_parts_of_steps_are_said():
    """A whole step overshoots where counts are large: it is halved."""
    model = cls(SCALAR["poisson"].replace("0, 1", "0, 100"), "ncvmp")(y=4000.0)
    found = model.run(tol=1e-13)
    assert found["converged"] and min(np.diff(found["trace"])) >= -1e-9
    assert [x["kind"] for x in found["notes"]] == ["step halved"]
    np.testing.assert_allclose(np.exp(model.posterior("u")["m"]), 4000, rtol=1e-2)


def test_wide_posteriors_ask_for_more_nodes():
    """With few nodes a logistic function far wider than its bend is integrated wrongly."""
    x = np.array([[8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    y = np.array([1.0, 0.0, 1.0])
    wide = LOGISTIC.replace("eye(2)", "0.04*eye(2)")
    model = cls(wide, "ncvmp")(x=x, y=y)
    few = model.sizes["node_count"]
    found = model.run(tol=1e-13)
    assert model.sizes["node_count"] > few
    value, m, _ = by_hand.optimum(x, by_hand.logistic(y), np.zeros(2), 0.04 * np.eye(2))
    q = model.posterior("w")
    np.testing.assert_allclose(q["m"], m, rtol=0.02)
    z = np.linspace(-12, 12, 200001)
    w = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    V = np.linalg.inv(q["S"])
    u = (x @ q["m"])[:, None] + np.sqrt(np.einsum("ni,ij,nj->n", x, V, x))[:, None] * z
    far = 0.04 * (q["m"] @ q["m"] + np.trace(V)) - 2 - 2 * np.log(0.04) - np.linalg.slogdet(V)[1]
    exact = ((y[:, None] * u - np.logaddexp(0, u)) @ w).sum() - far / 2
    assert abs(found["objective"] - exact) < 1e-9
    assert found["objective"] >= value - 0.05


@pytest.mark.parametrize("algorithm", ["ncvmp", "cvi"])
def test_resumed_bit_by_bit(algorithm):
    make = cls(LOGISTIC, algorithm)
    whole, half = make(x=4 * X, y=YES), make(x=4 * X, y=YES)
    whole.run(steps=9, tol=0.0)
    half.run(steps=4, tol=0.0)
    again = make(x=4 * X, y=YES, seed=5)
    again.load_state_dict(half.state_dict())
    again.run(steps=5, tol=0.0)
    assert again.objective() == whole.objective()
    for key, x in whole.state.items():
        assert np.array_equal(again.state[key], x)


def test_steps_by_hand_and_in_a_run_agree():
    one, other = (cls(LOGISTIC, "ncvmp")(x=X, y=YES) for _ in range(2))
    found = one.run(steps=5, tol=0.0)
    assert [other.step() for _ in range(5)] == found["trace"][:-1]
    assert other.objective() == found["trace"][-1]


CHAINS = {
    "volatility": ("gaussian(0, exp(h[t]))", R.normal(size=6) * 1.5, by_hand.volatility),
    "poisson": ("poisson(exp(h[t]))", R.poisson(2.5, size=6).astype(float), by_hand.poisson),
    "logistic": ("bernoulli(eta = h[t])", (R.random(6) < 0.6).astype(float), by_hand.logistic),
}


@pytest.mark.parametrize("algorithm", ["ncvmp", "cvi"])
@pytest.mark.parametrize("what", sorted(CHAINS))
def test_chains_are_at_the_optimum(what, algorithm):
    """The best of all Gaussians has the prior's precision and a diagonal."""
    likelihood, y, level = CHAINS[what]
    source = f"""plate t in T
h[1] ~ gaussian(0.3, 1)
h[t] ~ gaussian(0.8*h[t-1], 0.5)
y[t] ~ {likelihood} observed
"""
    target = "loops" if (what, algorithm) == ("logistic", "ncvmp") else "numpy"
    model = cls(source, algorithm, target)(y=y)
    found = model.run(tol=1e-14)
    F = np.eye(6) - np.diag(np.full(5, 0.8), -1)
    precision = F.T @ np.diag([1.0] + [2.0] * 5) @ F
    mean = 0.3 * 0.8 ** np.arange(6)
    value, m, V = by_hand.optimum(np.eye(6), level(y), mean, precision)
    assert abs(found["objective"] - value) < 1e-6
    np.testing.assert_allclose(model.posterior("h")["m"], m, atol=2e-5)
    np.testing.assert_allclose(model.posterior("h")["v"], np.diag(V), atol=2e-5)
    np.testing.assert_allclose(model.pairs("h"), np.diag(V, 1), atol=2e-5)


def test_a_chain_of_vectors_and_its_start():
    source = """plate t in T
h[1] ~ gaussian-full(zeros(2), eye(2))
h[t] ~ gaussian-full(0.9*h[t-1], 2*eye(2))
y[t] ~ poisson(exp(h[t,1] - h[t,2])) observed
"""
    y = R.poisson(2.0, size=4).astype(float)
    m, S = R.normal(size=(4, 2)), np.broadcast_to(3 * np.eye(2), (4, 2, 2))
    model = cls(source, "ncvmp")(y=y, start={"h": {"m": m, "S": S}})
    np.testing.assert_allclose(model.posterior("h")["m"], m)
    assert not model.pairs("h").any()
    found = model.run(tol=1e-14)
    F = np.eye(8) - np.kron(np.diag(np.full(3, 0.9), -1), np.eye(2))
    precision = F.T @ np.diag([1.0] * 2 + [2.0] * 6) @ F
    X = np.kron(np.eye(4), [[1.0, -1.0]])
    value, m, _ = by_hand.optimum(X, by_hand.poisson(y), np.zeros(8), precision)
    assert abs(found["objective"] - value) < 1e-6
    np.testing.assert_allclose(model.posterior("h")["m"].ravel(), m, atol=2e-5)


SHAPE = """plate n in N
a ~ gamma(2, 1)
b ~ gamma(1, 1)
x[n] ~ gamma(a, b) observed
"""
RATE = """plate n in N
p ~ beta(2, 3)
y[n] ~ poisson(1 + 5*p**2) observed
"""


@pytest.mark.parametrize(("algorithm", "target"), [("ncvmp", "loops"), ("cvi", "numpy")])
def test_a_shape_has_a_gamma_of_its_own(algorithm, target):
    x = np.random.default_rng(3).gamma(3.0, 0.5, size=15)
    model = cls(SHAPE, algorithm, target)(x=x)
    found = model.run(tol=1e-14)
    value, (shape, rate) = number_bound.gamma_shape(x)
    assert abs(found["objective"] - value) < 1e-6
    q = model.posterior("a")
    np.testing.assert_allclose([q["a"], q["b"]], [shape, rate], rtol=1e-3)
    np.testing.assert_allclose(q["a"] / q["b"], shape / rate, rtol=2e-5)


def test_a_share_has_a_beta_of_its_own():
    y = np.array([2.0, 1, 4, 0, 3, 2])
    model = cls(RATE, "ncvmp")(y=y)
    found = model.run(tol=1e-14)
    value, (a, b) = number_bound.beta_rate(y)
    assert abs(found["objective"] - value) < 1e-6
    q = model.posterior("p")
    np.testing.assert_allclose(q["a"] / (q["a"] + q["b"]), a / (a + b), rtol=2e-5)


def test_nodes_that_were_too_few_are_tried_ever_less():
    """Each trial is a sweep more; where half of them are enough again, it is tried at once."""
    model = SimpleNamespace(dtype=np.dtype(float), t=0, sizes={}, patience={"steps": 0, "until": 0})
    names = ("points", "weights", "signed")
    _set_nodes(model, "count", names, 96)
    tried = []
    for model.t in range(200):
        half = _fewer_nodes(model, "count", 0.0)
        if half:
            tried.append(model.t)
            _set_nodes(model, "count", names, 96)  # they were too few
        _wait(model, "count", half)
    assert np.diff(tried).tolist() == [1, 3, 7, 15, 31, 63, 63]
    model.t = 250
    _wait(model, "count", _fewer_nodes(model, "count", 0.0))
    assert model.sizes["count"] == 49 and model.patience == {"steps": 0, "until": 250}
    assert _fewer_nodes(model, "count", 1e-6) == 0
