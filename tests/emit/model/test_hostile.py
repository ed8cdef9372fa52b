"""Emitted classes where something is unusual: no local block, awkward data, defaults of matrices.

What is wanted is found by another way: an exact step, an enumeration, a density of SciPy.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.errors import UserError
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model

MODELS = Path(__file__).parents[3] / "models"
R = np.random.default_rng(5)
X = R.normal(1.0, 2.0, 12)
COUNTS = R.poisson(4.0, 12).astype(float)


@cache
def cls(name: str, algorithm: str, source: str = ""):
    """The class of a shipped model, or of a text."""
    model = read_model(source or (MODELS / f"{name}.model").read_text(), name)
    return compile_class(text(lower(derive_model(model, algorithm)), "numpy"))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("beta-bernoulli", {"x": (X > 1).astype(float)}),
        ("gamma-poisson", {"x": COUNTS, "e": np.linspace(0.5, 2, 12)}),
        ("normal-gamma", {"x": X}),
        ("ridge", {"X": np.stack([X, X**2], axis=1), "y": COUNTS}),
    ],
)
def test_steps_over_rows_of_a_model_without_local_blocks(name, given):
    exact = cls(name, "conjugate")(**given)
    model = cls(name, "svi")(**given, delay=0.0)
    model.step(np.arange(12))  # all rows at rate one are the exact step
    np.testing.assert_allclose(model.objective(), exact.objective(), rtol=1e-12)


def test_a_step_of_one_row_counts_it_as_often_as_there_are_rows():
    e = np.linspace(0.5, 2, 12)
    model = cls("gamma-poisson", "svi")(x=COUNTS, e=e)
    before = model.posterior("rate")
    model.step([3])
    rate = 2.0**-0.7
    wanted = {"a": 1 + 12 * COUNTS[3], "b": 1 + 12 * e[3]}
    for k, value in wanted.items():
        mixed = (1 - rate) * before[k] + rate * value
        np.testing.assert_allclose(model.posterior("rate")[k], mixed, rtol=1e-12)


def test_points_have_no_part_of_the_way_to_go():
    with pytest.raises(UserError, match="--svi does not apply to pi"):
        cls("poisson-mixture-em", "svi")


def test_zeros_of_two_kinds():
    from scipy.special import digamma, gammaln
    from scipy.stats import beta, gamma

    x, e = COUNTS * (np.arange(12) % 3 > 0), np.linspace(0.5, 2, 12)
    model = cls("zero-inflated-poisson", "vmp")(x=x, e=e)
    trace = model.run(steps=6, tol=0.0)["trace"]
    assert min(np.diff(trace)) > -1e-10
    (a, b), (c, d) = (model.posterior(k).values() for k in ("rate", "r"))
    one = digamma(c) - digamma(c + d) + x * (np.log(e) + digamma(a) - np.log(b)) - e * a / b
    one = one - gammaln(1 + x)
    zero = np.where(x == 0, digamma(d) - digamma(c + d), -np.inf)
    wanted = np.logaddexp(zero, one).sum() + gamma(a, scale=1 / b).entropy() - a / b
    np.testing.assert_allclose(trace[-1], wanted + beta(c, d).entropy(), rtol=1e-12)
    np.testing.assert_allclose(model.posterior("z")["p"], np.exp(one - np.logaddexp(zero, one)))


def test_a_branch_gives_only_its_own_values():
    from scipy.special import betaln, gammaln

    x = COUNTS * (np.arange(12) % 3 > 0)
    more = x[x > 0]
    model = cls("hurdle-poisson", "vmp")(x=x)
    value = model.run(steps=200, tol=1e-15)["objective"]
    np.testing.assert_array_equal(model.posterior("z")["p"], x > 0)
    rate = model.posterior("rate")
    np.testing.assert_allclose(rate / -np.expm1(-rate), more.mean(), rtol=1e-6)
    own = more * np.log(rate) - rate - np.log1p(-np.exp(-rate)) - gammaln(1 + more)
    wanted = own.sum() + betaln(1 + len(more), 1 + len(x) - len(more))
    np.testing.assert_allclose(value, wanted, rtol=1e-10)


def test_a_label_that_must_be_one_comes_first():
    from blrgen.rule.model.derive import Options

    model = read_model((MODELS / "zero-inflated-poisson.model").read_text(), "zip")
    made = derive_model(model, "vmp", Options(schedule=("rate", "z", "r")))
    with pytest.raises(UserError, match="the label z behind another block"):
        lower(made)


def test_defaults_are_made_of_sizes_and_constants():
    x = R.normal(size=(9, 2))
    short = cls("normal-wishart", "conjugate")(x=x)
    long = cls("normal-wishart", "conjugate")(x=x, V0=np.eye(2), nu0=2.0, m0=[0.0, 0.0])
    assert short.objective() == long.objective()
    with pytest.raises(ValueError, match=r"outside \(d - 1, oo\)"):
        cls("normal-wishart", "conjugate")(x=x, nu0=1.0)
    source = """
plate n in N
const P0 in SPD(d) = inv(2*B + s0*eye(d))/d
const s0 in (0, oo) = 3
const B in SPD(d) = eye(d)
mu   ~ gaussian-full(zeros(d), P0)
x[n] ~ gaussian-full(mu, eye(d))   observed
"""
    made, given = cls("own", "conjugate", source)(x=x), np.eye(2) / 10
    np.testing.assert_allclose(made.objective(), cls("own", "conjugate", source)(
        x=x, P0=given).objective(), rtol=1e-13)  # fmt: skip


ROWS = """
plate g in G
plate n in N[g]
param b in (0, oo)
rate[g] ~ gamma(2, b)
x[g,n] ~ poisson(rate[g])   observed
"""


def test_rows_of_different_lengths_count_their_own_places():
    from scipy.special import gammaln

    x, lengths = np.array([0.0, 3, 0, 1, 5, 3]), [2, 4]
    model = cls("rows", "em", ROWS)(x=x, N=lengths, start={"b": 1.5})
    total, many = np.array([3.0, 9.0]), np.array(lengths)
    np.testing.assert_allclose(model.posterior("rate")["b"], 1.5 + many)
    own = 2 * np.log(1.5) + gammaln(2 + total) - (2 + total) * np.log(1.5 + many)
    np.testing.assert_allclose(model.objective(), own.sum() - gammaln(1 + x).sum(), rtol=1e-12)


STUDENT = """
plate n in N
plate k in K
const nu in (0, oo) = 4
param p in simplex(K)
param mu[k] in R
param v[k] in (0, oo)
z[n] ~ categorical(p)
u[n] ~ gamma(nu/2, nu/2)
x[n] ~ gaussian(mu[z[n]], v[z[n]]/u[n])   observed
"""


def test_what_is_integrated_out_given_a_label():
    from scipy.special import logsumexp
    from scipy.stats import t

    p, mu, v = np.array([0.4, 0.6]), np.array([-1.0, 1.0]), np.array([1.0, 2.0])
    model = cls("student", "em", STUDENT)(x=X, K=2, start={"p": p, "mu": mu, "v": v})
    each = np.log(p) + t(4, mu, np.sqrt(v)).logpdf(X[:, None])
    wanted = logsumexp(each, axis=1)
    np.testing.assert_allclose(model.objective(), wanted.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.posterior("z")["p"], np.exp(each - wanted[:, None]))
    assert min(np.diff(model.run(steps=20, tol=0.0)["trace"])) > -1e-10


CHOICE = """
plate n in N
param rate in (0, oo)
param pi in simplex(3)
z[n] ~ categorical(pi)
x[n] ~ choose(z[n], point(0), point(3), poisson(rate))   observed
"""


def test_points_at_several_places():
    from scipy.stats import poisson

    x, pi = np.array([0.0, 3, 0, 1, 5, 3]), np.array([0.2, 0.3, 0.5])
    model = cls("choice", "em", CHOICE)(x=x, start={"rate": 2.0, "pi": pi})
    joint = np.stack([x == 0, x == 3, poisson(2).pmf(x)], axis=1) * pi
    np.testing.assert_allclose(model.objective(), np.log(joint.sum(1)).sum(), rtol=1e-12)
    wanted = joint / joint.sum(1, keepdims=True)
    np.testing.assert_allclose(model.posterior("z")["p"], wanted, atol=1e-14)


LABELS = """
plate n in N
plate k in K
param mu[k] in R
param p in simplex(K)
z[n] ~ categorical(p)   observed or missing
x[n] ~ gaussian(mu[z[n]], 1)   observed
"""


def test_a_label_that_may_be_missing_is_refused_in_words():
    with pytest.raises(UserError, match="z chooses for x and may be missing"):
        cls("refused", "em", LABELS)


@pytest.mark.parametrize("x", [np.ones((9, 2)), np.c_[X, np.ones(12)], np.ones((1, 2))])
def test_a_first_state_has_an_objective_where_groups_have_no_spread(x):
    model = cls("gaussian-mixture-full-em", "em")(x=x, K=min(2, len(x)))
    found = model.run()
    assert found["reason"] == "unbounded" and np.isfinite(found["trace"]).all()
    assert all(np.isfinite(model.posterior(k)).all() for k in ("pi", "mu", "S"))


def test_a_chain_of_no_elements_adds_nothing():
    start = {"pi": [0.3, 0.7], "P": [[0.8, 0.2], [0.3, 0.7]], "mu": [-1, 1.0], "v": [1.0, 0.5]}
    many = cls("hmm-gaussian-many-em", "em")(x=X[:8], T=[3, 0, 1, 4], K=2, start=start)
    parts = [X[:3], X[3:4], X[4:8]]
    each = [cls("hmm-gaussian-em", "em")(x=x, K=2, start=start).objective() for x in parts]
    np.testing.assert_allclose(many.objective(), sum(each), rtol=1e-12)


def test_labels_of_two_kinds_in_one_predictor_sized_or_not():
    source = """
plate n in N
plate k in K
plate j in J
param a[k] in R
param b[j] in R
param p in simplex(K)
param q in simplex(J)
z[n] ~ categorical(p)
y[n] ~ categorical(q)
x[n] ~ gaussian(a[z[n]] + b[y[n]], 1)   observed
"""
    from scipy.special import logsumexp
    from scipy.stats import norm

    sized = source.replace("K", "2").replace("J", "2")
    a, b, p, q = np.array([0.0, 1]), np.array([0.0, 2]), np.array([0.4, 0.6]), np.array([0.3, 0.7])
    start = {"a": a, "b": b, "p": p, "q": q}
    for written, sizes in ((sized, {}), (source, {"K": 2, "J": 2})):
        model = cls("two", "em", written)(x=X, **sizes, start=start)
        for _ in range(3):
            a, b, p, q = (model.posterior(name) for name in start)
            joint = np.log(np.outer(p, q)) + norm(np.add.outer(a, b), 1).logpdf(X[:, None, None])
            np.testing.assert_allclose(model.objective(), logsumexp(joint, axis=(1, 2)).sum())
            model.step()
