"""Likelihoods that grow without bound are said to, in any units; those that do not are not.

A run ends by "unbounded" where nothing but rounding keeps a variance, a matrix or a shape from
the end at which the density is infinite, and by "converged" where the data say what it is.
"""

from functools import cache

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import MODELS, as_python

REGRESSION = """
plate n in N
const X[n] in R^p
param w in R^p
param v in (0, oo)
y[n] ~ gaussian(dot(w, X[n]), v) observed
"""
PRECISION = REGRESSION.replace(" v ", " tau ").replace(", v)", ", 1/tau)")
GROUPS = """
plate n in N
plate g in G
const of[n] in labels(G)
param m in R
param s in (0, oo)
param v in (0, oo)
b[g] ~ gaussian(m, s)
y[n] ~ gaussian(b[of[n]], v) observed
"""
OWN = {"regression": REGRESSION, "precision": PRECISION, "groups": GROUPS}


@cache
def made(name, algorithm="em"):
    source = OWN.get(name) or (MODELS / f"{name}.model").read_text()
    program = lower(derive_model(read_model(source, name), algorithm))
    return as_python(text(program, "numpy"))[program.name]


def reasons(name, steps=1500, **given):
    """Why runs from two starts end; every number of them is one, and no step lowers any."""
    found = set()
    for seed in (0, 1):
        model = made(name)(**given, seed=seed)
        run = model.run(steps)
        trace = np.array(run["trace"])
        assert np.isfinite(trace).all()
        assert (np.diff(trace) >= -1e-9 * (1 + np.abs(trace[1:]))).all()
        assert all(np.isfinite(x).all() for x in model.state.values())
        found.add(run["reason"])
    return found


def cloud(n, d):
    r = np.random.default_rng(0)
    return r.normal(size=(n, d)) @ (np.eye(d) + 0.3 * r.normal(size=(d, d)))


def flat(n, d, k):
    """Rows in a plane of k dimensions."""
    r = np.random.default_rng(1)
    return r.normal(size=(n, k)) @ r.normal(size=(k, d)) + r.normal(size=d)


def level(x, column):
    """The same but for a column in which all rows are equal."""
    return np.concatenate([x[:, :column], 0 * x[:, :1] + x[0, column], x[:, column + 1 :]], 1)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("by", [0.0, 1e8])
def test_factors_of_data_in_a_plane(by):
    x = cloud(30, 3) + by
    for q, seen, wanted in [
        (1, x, {"converged"}),
        (2, x, {"converged"}),
        (1, level(x, 1), {"converged"}),  # the mean of two variances, one of them 0
        (2, level(x, 1), {"unbounded"}),
        (1, x[:1], {"unbounded"}),
        (2, 0 * x, {"unbounded"}),
    ]:
        assert reasons("ppca", x=seen, q=q) == wanted, (q, wanted)
    assert reasons("ppca", x=flat(30, 3, 1), q=1) == {"unbounded"}
    assert reasons("ppca", x=flat(30, 3, 1), q=2) == {"unbounded"}
    assert reasons("ppca", x=flat(30, 3, 2), q=2) == {"unbounded"}
    assert "unbounded" not in reasons("factor-analysis-em", x=x, q=1)
    assert reasons("factor-analysis-em", x=level(x, 1), q=1) == {"unbounded"}
    assert reasons("factor-analysis-em", x=flat(30, 3, 1), q=1) == {"unbounded"}


@pytest.mark.sweep(8)
@pytest.mark.parametrize("unit", [1.0, 1e9, 1e-9, 1e-140])
@pytest.mark.parametrize("kind", ["diag", "full", "tied"])
def test_mixtures_in_any_units(kind, unit):
    name = f"gaussian-mixture-{kind}-em"
    x = cloud(200, 2) + 3 * (np.arange(200) % 2)[:, None]
    thin = np.c_[x[:, 0], x[:, 0] + 1e-6 * x[:, 1]]  # nearly a line, and no line
    assert reasons(name, x=x * unit, K=2) == {"converged"}
    assert "unbounded" not in reasons(name, x=thin * unit, K=2)
    for seen in (level(x, 1), np.repeat(x[:1], 9, 0), x[:1], 0 * x):
        assert reasons(name, x=seen * unit, K=2) == {"unbounded"}
    along = reasons(name, x=flat(200, 2, 1) * unit, K=2)
    assert along == ({"converged"} if kind == "diag" else {"unbounded"})


@pytest.mark.sweep(6)
@pytest.mark.parametrize("unit", [1.0, 1e9, 1e-9])
def test_states_with_one_value(unit):
    r = np.random.default_rng(2)
    far = np.repeat(np.arange(8) % 2, 10) * 6.0
    for seen in (np.full(30, 2.5), np.array([1.3]), far, np.zeros(20)):
        assert reasons("hmm-gaussian-em", x=seen * unit, K=2) == {"unbounded"}
    start = {"pi": [0.5, 0.5], "P": [[0.9, 0.1], [0.1, 0.9]], "mu": [0.0, 6 * unit],
             "v": [unit**2, unit**2]}  # fmt: skip
    good = made("hmm-gaussian-em")(x=(far + r.normal(size=80)) * unit, K=2, start=start)
    assert good.run(1500)["reason"] == "converged"


@pytest.mark.sweep(6)
@pytest.mark.parametrize("unit", [1.0, 1e3, 1e-6])
def test_trends_without_noise(unit):
    r, t = np.random.default_rng(6), np.arange(60)
    for seen in (2 + 0.5 * t, np.full(60, 3.0)):
        assert reasons("local-linear-trend", y=seen * unit) == {"unbounded"}
    walk = np.cumsum(r.normal(size=60))
    for seen in (
        walk,
        r.normal(size=60),
    ):  # of some variances the best is 0, and the density finite
        assert "unbounded" not in reasons("local-linear-trend", 200, y=seen * unit)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("unit", [1.0, 1e9, 1e-9])
@pytest.mark.parametrize("name", ["regression", "precision"])
def test_regressions_that_leave_nothing(name, unit):
    r = np.random.default_rng(4)
    X, w = r.normal(size=(30, 3)), np.array([1.0, -2.0, 0.5])
    assert reasons(name, X=X, y=(X @ w + r.normal(size=30)) * unit) == {"converged"}
    small = X @ w + 1e-6 * r.normal(size=30)
    assert "unbounded" not in reasons(name, X=X, y=small * unit)
    for rows in (30, 3):
        y = X[:rows] @ w + (0 if rows > 3 else r.normal(size=rows))
        assert reasons(name, X=X[:rows], y=y * unit) == {"unbounded"}
    assert reasons(name, X=X, y=np.zeros(30)) == {"unbounded"}


def test_groups_that_leave_nothing():
    r, of = np.random.default_rng(5), np.arange(40) % 5
    b = 2 * r.normal(size=5)
    given = {"of": of, "G": 5}
    assert reasons("groups", y=b[of] + r.normal(size=40), **given) == {"converged"}
    assert "unbounded" not in reasons("groups", y=r.normal(size=40), **given)  # s goes to 0
    assert reasons("groups", y=b[of], **given) == {"unbounded"}
    assert reasons("groups", y=np.full(40, 2.0), **given) == {"unbounded"}


def test_shapes_that_grow():
    r = np.random.default_rng(3)
    x = np.concatenate([r.gamma(2.0, 0.3, 60), r.gamma(9.0, 0.6, 60)])
    assert "unbounded" not in reasons("gamma-mixture", x=x, K=2)
    assert reasons("gamma-mixture", x=np.repeat([1.3, 4.1], 10), K=2) == {"unbounded"}
    assert reasons("gamma-mixture", x=np.full(20, 3.7e9), K=2) == {"unbounded"}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", ["poisson-mixture-em", "hmm-poisson-em"])
def test_counts_have_a_largest_likelihood(name):
    r = np.random.default_rng(7)
    for seen in (np.zeros(20), np.full(20, 4.0), np.repeat([0.0, 9.0], 10), r.poisson(1e6, 30)):
        assert reasons(name, x=seen * 1.0, K=2) == {"converged"}


@pytest.mark.parametrize("kind", ["diag", "full", "tied"])
def test_steps_on_rows(kind):
    x, name = cloud(40, 2), f"gaussian-mixture-{kind}-em"
    for unit in (1.0, 1e9):
        for seen in (level(x, 1), np.repeat(x[:1], 9, 0), 0 * x):
            model = made(name, "online-em")(x=seen * unit, K=2, seed=0)
            run = model.run(3000, batch=len(seen) // 2)
            assert np.isfinite(run["trace"]).all()
            assert run["reason"] == "unbounded", (unit, run["reason"])
    good = made(name, "online-em")(x=np.concatenate([x, x + 4]), K=2, seed=0)
    assert good.run(300, batch=20)["reason"] in ("steps", "converged")


def test_a_point_that_has_no_step_is_no_maximum():
    """One coefficient is never looked at, and the others stay with it: more is known of them."""
    model = made("regression")(X=np.eye(3)[[0, 0, 1, 1]], y=np.array([1.0, 2, 3, 5]), start={
        "w": [0.0, 0.0, 7.0], "v": 1.0})  # fmt: skip
    assert model.run(100)["reason"] == "not finite"  # of two coefficients more is known


@pytest.mark.parametrize(
    "name", ["ppca", pytest.param("factor-analysis-em", marks=pytest.mark.rest)]
)
def test_a_first_state_is_in_the_units_of_the_data(name):
    x = np.concatenate([cloud(60, 3), 1 + cloud(40, 3)])
    near = made(name)(x=x, q=1, seed=0).run(tol=1e-9)
    for unit in (1e9, 1e4, 1e-4, 1e-9):
        run = made(name)(x=x * unit, q=1, seed=0).run(tol=1e-9)
        assert run["reason"] == "converged"
        moved = run["objective"] + x.size * np.log(unit)
        # a run ends by changes relative to the objective, which is another in other units
        np.testing.assert_allclose(moved, near["objective"], rtol=1e-4)
