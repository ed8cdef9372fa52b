"""Log evidences of exact blocks, against quadrature, marginal Gaussians and enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from blrgen.expect.blocks.block import block_of
from blrgen.expect.blocks.eliminate import evidence
from blrgen.expect.factors.joint import log_joint
from blrgen.expect.factors.names import table_of
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from blrgen.value.indexed import Values
from tests.expect.blocks.cases import CASES
from tests.expect.blocks.test_models import statistic, values_of

CASE = {c.name: c for c in CASES}
MIXTURE_OF_FACTOR_ANALYSERS = """
plate n in N
plate k in K
param pi in simplex(K)
param W[k] in R^(d,q)
param mu[k] in R^d
param psi in (0, oo)^d
z[n] ~ categorical(pi)
h[n] ~ gaussian-full(zeros(q), eye(q))
x[n] ~ gaussian-diag(W[z[n]]*h[n] + mu[z[n]], 1/psi)   observed
"""


def log_evidence(text: str, *names: str):
    model = read_model(text, "evidence")
    return evidence(table_of(model), log_joint(model), [model.node(n) for n in names])


def test_normal_gamma_by_quadrature():
    """Σ over a grid in (log tau, sqrt(tau) mu), where the trapezoid rule is exact to rounding."""
    case = CASE["normal-gamma"]
    v = case.values(np.random.default_rng(2))
    u, t = np.linspace(-12, 5, 1200), np.linspace(-25, 25, 1500)
    tau = np.exp(u)[:, None]
    mu = t / np.sqrt(tau)
    logs = stats.norm.logpdf(mu, 0.5, 1 / np.sqrt(2 * tau)) + stats.gamma.logpdf(tau, 3, scale=0.25)
    logs = logs + sum(stats.norm.logpdf(x, mu, 1 / np.sqrt(tau)) for x in v["x"])
    volume = u[:, None] / 2 + np.log((u[1] - u[0]) * (t[1] - t[0]))
    found = values_of(case, v).of(log_evidence(case.text, "mu"))
    assert found == pytest.approx(logsumexp(logs + volume), rel=1e-9)


def test_two_nodes_of_one_declared_family_by_the_same_evidence():
    apart = """
plate n in N
mu ~ gaussian(1/2, 1/(2*tau))
tau ~ gamma(3, 4)
x[n] ~ gaussian(mu, 1/tau)   observed
"""
    model = read_model(apart, "apart")
    table, factors = table_of(model), log_joint(model)
    block = block_of(table, factors, [model.node("mu"), model.node("tau")])
    whole = read_model(CASE["normal-gamma"].text, "whole")
    other = block_of(table_of(whole), log_joint(whole), [whole.node("mu")])
    assert block.family == other.family == "normal-gamma"
    assert [p.coefficient for p in block.parts] == [p.coefficient for p in other.parts]


def test_factor_analysis_by_the_marginal_gaussian():
    case = CASE["factor-analysis-points"]
    v = case.values(np.random.default_rng(4))
    cov = v["W"] @ v["W"].T + np.diag(v["psi"])
    want = stats.multivariate_normal.logpdf(v["x"], v["mu"], cov).sum()
    assert values_of(case, v).of(log_evidence(case.text, "h")) == pytest.approx(want, rel=1e-11)


def analysers(rng):
    """Values of a mixture of factor analysers."""
    return {
        "pi": rng.dirichlet([1, 1]), "W": rng.normal(size=(2, 3, 2)),
        "mu": rng.normal(size=(2, 3)), "psi": rng.gamma(2, size=3), "x": rng.normal(size=(4, 3)),
    }  # fmt: skip


SIZES = {"N": 4, "K": 2, "d": 3, "q": 2}


def log_parts(v):
    """log pi_k N(x_n; mu_k, W_k W_kᵀ + diag(psi)) by hand."""
    covs = [w @ w.T + np.diag(v["psi"]) for w in v["W"]]
    return np.stack([
        np.log(p) + stats.multivariate_normal.logpdf(v["x"], m, c)
        for p, m, c in zip(v["pi"], v["mu"], covs, strict=True)
    ], axis=1)  # fmt: skip


def test_a_mixture_of_factor_analysers_is_one_exact_block():
    v = analysers(np.random.default_rng(1))
    want = logsumexp(log_parts(v), axis=1).sum()
    found = log_evidence(MIXTURE_OF_FACTOR_ANALYSERS, "h", "z")
    assert Values(v, SIZES).of(found) == pytest.approx(want, rel=1e-11)


def test_its_labels_come_first_and_its_factors_are_given_them():
    d = derive_model(read_model(MIXTURE_OF_FACTOR_ANALYSERS, "analysers"), "em")
    assert d.schedule == ("z", "h")
    v = analysers(np.random.default_rng(3))
    values = Values(v, SIZES)
    z, h = (u.block for u in d.updates)
    logits = values.array(z.parts[0].expected, z.parts[0].statistic.places)
    r = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    parts = log_parts(v)
    assert r == pytest.approx(np.exp(parts - logsumexp(parts, axis=1, keepdims=True)))
    b, m = (values.array(p.expected, p.statistic.places) for p in h.parts)
    precision = np.eye(2) + np.einsum("kdi,d,kdj->kij", v["W"], 1 / v["psi"], v["W"])
    assert -2 * m == pytest.approx(np.broadcast_to(precision, (4, 2, 2, 2)))
    centred = v["x"][:, None] - v["mu"]
    assert b == pytest.approx(np.einsum("kdi,d,nkd->nki", v["W"], 1 / v["psi"], centred))


def test_its_expected_log_joint_is_the_mean_over_labels_and_factors():
    model = read_model(MIXTURE_OF_FACTOR_ANALYSERS, "analysers")
    d = derive_model(model, "em")
    rng = np.random.default_rng(5)
    v = analysers(rng)
    r = rng.dirichlet([1, 1], size=4)
    h = rng.normal(size=(2, 4, 2, 2))  # two equally likely values for each row and label
    names = [p.statistic.name for u in d.updates for p in u.block.parts]
    symbols = dict(zip(names, (r, h.mean(0), np.einsum("snki,snkj->nkij", h, h) / 2),
                       strict=True))  # fmt: skip
    want = 0.0
    for n, k, s in product(range(4), range(2), range(2)):
        own = h[s, n, k]
        mean = v["W"][k] @ own + v["mu"][k]
        logp = np.log(v["pi"][k]) + stats.norm.logpdf(own).sum()
        logp += stats.norm.logpdf(v["x"][n], mean, np.sqrt(v["psi"])).sum()
        want += r[n, k] / 2 * logp
    assert Values(v | symbols, SIZES).of(d.expected_joint) == pytest.approx(want, rel=1e-11)


def test_two_labels_on_one_plate_are_enumerated():
    text = """
plate n in N
plate k in K
plate j in J
const m[k] in R
const b[j] in R
z[n] ~ categorical(ones(K)/K)
u[n] ~ categorical(ones(J)/J)
x[n] ~ gaussian(m[z[n]] + b[u[n]], 1)   observed
"""
    rng = np.random.default_rng(6)
    v = {"m": rng.normal(size=2), "b": rng.normal(size=3), "x": rng.normal(size=4)}
    sums = v["m"][:, None] + v["b"]
    want = logsumexp(stats.norm.logpdf(v["x"][:, None, None], sums, 1), axis=(1, 2)) - np.log(6)
    found = log_evidence(text, "z", "u")
    assert Values(v, {"N": 4, "K": 2, "J": 3}).of(found) == pytest.approx(want.sum(), rel=1e-11)


def test_a_binary_label_sums_over_its_two_values():
    case = CASE["zero-inflated"]
    v = case.values(np.random.default_rng(8))
    totals = [case.joint(v | {"s": np.array(s, float)}) for s in product((0, 1), repeat=3)]
    found = values_of(case, v).of(log_evidence(case.text, "s"))
    assert found == pytest.approx(logsumexp(totals), rel=1e-11)


@pytest.mark.parametrize("name", ["hmm-poisson", "switching"])
def test_a_chain_of_labels_by_enumeration(name):
    """Its weights, run forward by hand, give the sum over all paths of the joint by hand."""
    case = CASE[name]
    model = read_model(case.text, name)
    label = "z" if name == "hmm-poisson" else "s"
    block = block_of(table_of(model), log_joint(model), [model.node(label)])
    v = case.values(np.random.default_rng(9))
    values = values_of(case, v)
    single, pair = (values.array(p.coefficient, p.statistic.places) for p in _readable(block))
    steps = case.sizes["T"]
    alpha = single[0]
    for t in range(1, steps):
        alpha = single[t] + logsumexp(pair[t] + alpha, axis=1)
    paths = [case.joint(v | {label: np.eye(2)[list(p)]}) for p in product((0, 1), repeat=steps)]
    here = float(np.sum(single * v[label]))
    here += sum(v[label][t] @ pair[t] @ v[label][t - 1] for t in range(1, steps))
    rest = case.joint(v) - here  # what the block's terms leave out
    assert logsumexp(alpha) + rest == pytest.approx(logsumexp(paths), rel=1e-11)


def _readable(block):
    return sorted(block.parts, key=lambda p: len(p.statistic.places))


def test_a_gaussian_chain_by_its_joint_precision():
    """−2 times the natural parameter is the precision of all elements together."""
    case = CASE["state-space"]
    model = read_model(case.text, "chain")
    block = block_of(table_of(model), log_joint(model), [model.node("x")])
    rng = np.random.default_rng(10)
    v = case.values(rng)
    steps, d = 3, 2
    precision = np.zeros((steps, d, steps, d))
    values = values_of(case, v)
    for part in block.parts:
        s = part.statistic
        if len(s.positions) == 2:
            c = values.array(part.coefficient, s.places)
            for t in range(1, steps):
                precision[t, :, t - 1] -= c[t]
                precision[t - 1, :, t] -= c[t].T
        elif len(s.places) == 3:
            c = values.array(part.coefficient, s.places)
            for t in range(steps):
                precision[t, :, t] -= 2 * c[t]
    one, two = rng.normal(size=(2, steps, d))
    joints = [case.joint(v | {"x": one + s * two}) for s in (1, 0, -1)]
    bend = joints[0] - 2 * joints[1] + joints[2]
    assert -np.einsum("ti,tisj,sj", two, precision, two) == pytest.approx(bend, rel=1e-9)


def test_the_statistics_are_those_of_the_values():
    case = CASE["state-space"]
    v = case.values(np.random.default_rng(0))
    model = read_model(case.text, "chain")
    block = block_of(table_of(model), log_joint(model), [model.node("x")])
    pair = next(p.statistic for p in block.parts if len(p.statistic.positions) == 2)
    found = statistic(values_of(case, v), pair)
    assert found[2] == pytest.approx(np.outer(v["x"][2], v["x"][1]))


def test_a_mixture_of_scale_mixtures_is_a_mixture_of_student_t():
    text = """
plate n in N
plate k in K
param p in simplex(K)
param m[k] in R
param s[k] in (0, oo)
z[n] ~ categorical(p)
u[n] ~ gamma(2, 2)
x[n] ~ gaussian(m[z[n]], s[z[n]]/u[n])   observed
"""
    d = derive_model(read_model(text, "mixture"), "em")
    assert d.schedule == ("z", "u")
    rng = np.random.default_rng(11)
    v = {"p": rng.dirichlet([1, 1]), "m": rng.normal(size=2), "s": rng.gamma(2, size=2),
         "x": rng.normal(size=4)}  # fmt: skip
    logs = stats.t.logpdf(v["x"][:, None], 4, v["m"], np.sqrt(v["s"])) + np.log(v["p"])
    found = Values(v, {"N": 4, "K": 2}).of(log_evidence(text, "u", "z"))
    assert found == pytest.approx(logsumexp(logs, axis=1).sum(), rel=1e-11)


def test_a_label_under_a_label_is_summed_out_first():
    text = """
plate n in N
plate k in K
plate j in J
param p in simplex(K)
param q[k] in simplex(J)
param m[k,j] in R
z[n] ~ categorical(p)
u[n] ~ categorical(q[z[n]])
x[n] ~ gaussian(m[z[n],u[n]], 1)   observed
"""
    rng = np.random.default_rng(12)
    v = {"p": rng.dirichlet([1, 1]), "q": rng.dirichlet([1, 1, 1], size=2),
         "m": rng.normal(size=(2, 3)), "x": rng.normal(size=4)}  # fmt: skip
    logs = stats.norm.logpdf(v["x"][:, None, None], v["m"], 1) + np.log(v["q"])
    want = logsumexp(logs + np.log(v["p"])[:, None], axis=(1, 2)).sum()
    for order in (("u", "z"), ("z", "u")):
        found = log_evidence(text, *order)
        assert Values(v, {"N": 4, "K": 2, "J": 3}).of(found) == pytest.approx(want, rel=1e-11)
