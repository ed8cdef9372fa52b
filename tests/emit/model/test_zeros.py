"""0 log 0 is 0: probabilities that are 0, and values that nobody saw, whatever their family."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, xlogy

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import Options, derive_model
from tests.emit.model.test_targets import as_python
from tests.emit.model.test_traces import cls

WORDS = """
plate n in N
plate k in K
const m[n] in integers >= 1
param pi in simplex(K)
param C[k] in simplex(V)
z[n] ~ categorical(pi)
w[n] ~ multinomial(C[z[n]], m[n]) observed
"""
LETTERS = """
plate t in T
plate k in K
param pi in simplex(K)
param P[k] in simplex(K)
param B[k] in simplex(V)
z[1] ~ categorical(pi)
z[t] ~ categorical(P[z[t-1]])
y[t] ~ categorical(B[z[t]]) observed or missing
"""
AMOUNTS = """
plate n in N
plate k in K
param pi in simplex(K)
param b[k] in (0, oo)
z[n] ~ categorical(pi)
x[n] ~ gamma(3, b[z[n]]) observed or missing
s[n] ~ beta(b[z[n]], 1) observed or missing
"""
MODE = """
plate n in N
p ~ dirichlet(ones(V))
x[n] ~ categorical(p) observed
"""
TARGETS = ("numpy", "loops")


def words(w, pi, C):
    """EM by hand; the objective of each state and the next one."""
    while True:
        with np.errstate(divide="ignore"):
            logs = np.log(pi) + xlogy(w[:, None, :], C).sum(-1)
        choose = gammaln(1 + w.sum(1)) - gammaln(1 + w).sum(1)
        yield (choose + logsumexp(logs, axis=1)).sum(), pi, C
        r = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        pi, C = r.mean(0), r.T @ w / (r.T @ w).sum(1, keepdims=True)


@pytest.mark.parametrize("target", TARGETS)
def test_a_word_that_no_row_has(target):
    rng = np.random.default_rng(0)
    w = np.c_[rng.multinomial(6, [0.5, 0.3, 0.2], 20), np.zeros(20)]
    w[:9, 0] = 0.0  # nor the first word in some
    start = {"pi": np.array([0.5, 0.5]), "C": np.array([[0, 0.3, 0.4, 0.3], [0.7, 0.1, 0.1, 0.1]])}
    model = cls("words", "em", WORDS, target)(w=w, m=w.sum(1), K=2, start=start)
    found = model.run(steps=8, tol=0.0)
    by_hand = words(w, **start)
    wanted = [next(by_hand) for _ in range(9)]
    np.testing.assert_allclose(found["trace"], [x[0] for x in wanted], rtol=1e-10)
    C = model.posterior("C")
    np.testing.assert_allclose(C, wanted[-1][2], rtol=1e-9, atol=1e-300)
    assert (C[:, 3] == 0).all() and C[0, 0] == 0


@pytest.mark.parametrize("target", TARGETS)
def test_what_cannot_be_is_minus_infinity(target):
    start = {"pi": np.ones(2) / 2, "C": np.array([[0.0, 1.0], [0.0, 1.0]])}
    data = {"w": np.array([[1.0, 2.0]]), "m": np.array([3.0])}
    model = cls("words", "em", WORDS, target)(**data, K=2, start=start)
    assert model.objective() == -np.inf
    assert model.run()["reason"] == "not finite"


def chain(y, pi, P, B):
    """log p of the letters that were seen, all paths summed."""
    level = np.log(pi, where=pi > 0, out=np.full(len(pi), -np.inf))
    with np.errstate(divide="ignore"):
        move, tells = np.log(P), np.log(B)
    for t, letter in enumerate(y):
        level = level if t == 0 else logsumexp(level[:, None] + move, axis=0)
        level = level if np.isnan(letter) else level + tells[:, int(letter)]
    return logsumexp(level)


@pytest.mark.parametrize("target", TARGETS)
def test_a_letter_that_a_state_never_tells_beside_one_that_is_missing(target):
    y = np.array([0, 1, np.nan, 2, 1, np.nan, 0, 1, 2, 2, np.nan])
    start = {"pi": np.array([0.5, 0.5]), "P": np.array([[0.5, 0.5], [0.3, 0.7]]),
             "B": np.array([[0, 0.5, 0.5], [0.6, 0.4, 0]])}  # fmt: skip
    model = cls("letters", "em", LETTERS, target)(y=y, K=2, V=3, start=start)
    trace = []
    for _ in range(6):
        state = [model.posterior(x) for x in ("pi", "P", "B")]
        trace.append(chain(y, *state))
        np.testing.assert_allclose(model.step(), trace[-1], rtol=1e-11)
    assert min(np.diff(trace)) > -1e-12
    B = model.posterior("B")
    assert B[0, 0] == 0 and B[1, 2] == 0


@pytest.mark.parametrize("target", TARGETS)
def test_amounts_that_nobody_measured(target):
    rng = np.random.default_rng(1)
    x, s = rng.gamma(3, 1 / np.repeat([1.0, 9.0], 20)), rng.random(40) ** np.repeat([1, 1 / 9], 20)
    x[[3, 30, 31]] = s[[3, 8, 39]] = np.nan
    start = {"pi": np.array([0.4, 0.6]), "b": np.array([2.0, 5.0])}
    model = cls("amounts", "em", AMOUNTS, target)(x=x, s=s, K=2, start=start)
    pi, b = start["pi"], start["b"]
    own, other = ~np.isnan(x), ~np.isnan(s)
    for _ in range(8):
        of_x = 3 * np.log(b) - gammaln(3) + 2 * np.log(x)[:, None] - np.outer(x, b)
        of_s = np.log(b) + (b - 1) * np.log(s)[:, None]
        logs = np.log(pi) + np.where(own[:, None], of_x, 0) + np.where(other[:, None], of_s, 0)
        np.testing.assert_allclose(model.step(), logsumexp(logs, axis=1).sum(), rtol=1e-10)
        r = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        pi = r.mean(0)
        b = (3 * r[own].sum(0) + r[other].sum(0)) / (x[own] @ r[own] - np.log(s[other]) @ r[other])
    np.testing.assert_allclose(model.posterior("b"), b, rtol=1e-9)
    np.testing.assert_allclose(model.posterior("pi"), pi, rtol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
def test_a_mode_at_the_boundary(target):
    """Under a flat prior the mode is the share of each label: 0 where there is none."""
    program = lower(derive_model(read_model(MODE, "mode"), "em", Options(point=("p",))))
    made = as_python(text(program, "numpy" if target == "numpy" else "numba"))[program.name]
    model = made(x=np.array([0, 0, 2, 0]), V=3)
    model.run()
    np.testing.assert_array_equal(model.posterior("p"), [0.75, 0, 0.25])
    wanted = 3 * np.log(0.75) + np.log(0.25) + np.log(2)  # a flat density on three is 2
    np.testing.assert_allclose(model.objective(), wanted, rtol=1e-12)


SEEN = """
plate n in N
param r in (0, 1)
param l in (0, oo)
z[n] ~ bernoulli(r) observed
x[n] ~ choose(z[n], point(0), poisson(l)) observed or missing
"""
RAIN = """
plate n in N
r ~ beta(1, 1)
l ~ gamma(1, 1)
z[n] ~ bernoulli(r)
x[n] ~ choose(z[n], point(0), poisson(l)) observed or missing
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_point_mass_beside_a_label_that_is_known(target):
    x = np.array([0, 2, 3, np.nan, np.nan])
    model = cls("seen", "em", SEEN, target)(z=np.array([0.0, 1, 1, 0, 1]), x=x)
    model.run()
    r, rate = 3 / 5, 2.5
    wanted = 2 * np.log(1 - r) + 3 * np.log(r) + (xlogy(x, rate) - rate - gammaln(x + 1))[1:3].sum()
    np.testing.assert_allclose(model.objective(), wanted, rtol=1e-12)
    found = [model.posterior("r"), model.posterior("l")]
    np.testing.assert_allclose(found, [r, rate], rtol=1e-12)


@pytest.mark.parametrize("target", TARGETS)
def test_draws_of_labels_with_a_point_mass_and_missing_values(target):
    x = np.array([0, 3, np.nan, 0, 2])
    model = cls("rain", "gibbs", RAIN, target)(x=x, seed=1)
    trace = np.array(model.run(30)["trace"])
    assert np.isfinite(trace[1:]).all()
    z = model.draws("z")[1:]
    assert (z[:, [1, 4]] == 1).all()  # what is not 0 is of the other law
    r, rate = model.state["r"], model.state["l"]
    last = model.state["z"]
    each = np.where(last == 1, xlogy(x, rate) - rate - gammaln(x + 1), 0)[~np.isnan(x)].sum()
    wanted = each + xlogy(last, r).sum() + xlogy(1 - last, 1 - r).sum() - rate
    np.testing.assert_allclose(model.objective(), wanted, rtol=1e-12)
