"""Chains that do not ship: lags, several nodes, rows of different lengths, what is missing."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import norm

from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_traces import cls, held_against
from tests.reference.models import chains

R = np.random.default_rng(5)
LAGS = """
plate t in T
const a in R = 0.5
const b in R = 0.3
const q in (0, oo) = 0.4
const r in (0, oo) = 0.7
x[1] ~ gaussian(0, 1)
x[2] ~ gaussian(a*x[1], q)
x[t] ~ gaussian(a*x[t-1] + b*x[t-2], q)
y[t] ~ gaussian(x[t], r) observed or missing
"""
TREND = """
plate t in T
const v in (0, oo) = 0.5
const vl in (0, oo) = 0.2
const vb in (0, oo) = 0.1
l[1] ~ gaussian(0, 2)
b[1] ~ gaussian(0, 1)
l[t] ~ gaussian(l[t-1] + b[t-1], vl)
b[t] ~ gaussian(b[t-1], vb)
y[t] ~ gaussian(l[t], v)   observed or missing
"""
SEASON = """
plate t in T
const v in (0, oo) = 0.5
l[1] ~ gaussian(0, 2)
l[t] ~ gaussian(l[t-1], 0.2)
s[1] ~ gaussian(0, 1)
s[2] ~ gaussian(0, 1)
s[t] ~ gaussian(-s[t-1] - s[t-2], 0.1)
y[t] ~ gaussian(l[t] + s[t], v) observed or missing
"""
COUPLED = """
plate t in T
const F in R^(p,p)
const g in R^p
const Q in SPD(p)
x[1] ~ gaussian-full(zeros(p), eye(p))
x[t] ~ gaussian-full(F*x[t-1], inv(Q))
w[1] ~ gaussian(0, 1)
w[t] ~ gaussian(dot(g, x[t-1]) + 0.3*w[t-1], 0.5)
y[t] ~ gaussian(dot(g, x[t]) + w[t], 0.4) observed or missing
"""
EFFECTS = """
plate n in N
plate j in J
const g[n] in labels(J)
a ~ gaussian(0, 3)
b[j] ~ gaussian(0, 2)
y[n] ~ gaussian(a + b[g[n]], 0.5) observed
"""
MANY = """
plate s in S
plate t in T[s]
const F in R^(p,p)
const h in R^p
const Q in SPD(p)
x[s,1] ~ gaussian-full(zeros(p), eye(p))
x[s,t] ~ gaussian-full(F*x[s,t-1], inv(Q))
y[s,t] ~ gaussian(dot(h, x[s,t]), 0.3)   observed or missing
"""
MISSING = """
plate t in T
plate k in K
const pi in simplex(K)
const P[k] in simplex(K)
const mu[k] in R
z[1] ~ categorical(pi)
z[t] ~ categorical(P[z[t-1]])
x[t] ~ gaussian(mu[z[t]], 0.5)   observed or missing
"""
ROWS = """
plate s in S
plate t in T
plate k in K
const pi in simplex(K)
const P[k] in simplex(K)
const mu[k] in R
z[s,1] ~ categorical(pi)
z[s,t] ~ categorical(P[z[s,t-1]])
x[s,t] ~ gaussian(mu[z[s,t]], 0.5)   observed or missing
"""
MOVING = """
plate t in T
plate k in K
plate c in C
const u[t] in labels(C)
const pi in simplex(K)
const P[c,k] in simplex(K)
const mu[k] in R
z[1] ~ categorical(pi)
z[t] ~ categorical(P[u[t],z[t-1]])
x[t] ~ gaussian(mu[z[t]], 0.5)   observed
"""
F2, Q2 = np.array([[0.9, 0.2], [-0.1, 0.7]]), np.array([[0.5, 0.1], [0.1, 0.3]])
G2 = np.array([0.6, -0.4])
START, MOVES, MIDDLE = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]]), [-1.0, 1.5]


def holed(T: int, *missing: int):
    y = R.normal(size=T)
    y[list(missing)] = np.nan
    return y


@pytest.mark.parametrize("target", ["numpy", "loops"])
@pytest.mark.parametrize(("T", "missing"), [(2, ()), (7, (0, 3)), (8, (7,))])
def test_lags(T, missing, target):
    y = holed(T, *missing)
    model = cls("lags", "conjugate", LAGS, target)(y=y)
    value, m, v, lag = chains.autoregression(y, 0.5, 0.3, 0.4, 0.7)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    q = model.posterior("x")
    np.testing.assert_allclose(q["m"], m, rtol=1e-9)
    np.testing.assert_allclose(q["v"], v, rtol=1e-9)
    np.testing.assert_allclose(model.pairs("x"), lag, rtol=1e-9)


@pytest.mark.parametrize("target", ["numpy", "loops"])
@pytest.mark.parametrize(("T", "missing"), [(1, ()), (7, (0, 3, 4))])
def test_level_and_slope(T, missing, target):
    y = holed(T, *missing)
    model = cls("trend", "conjugate", TREND, target)(y=y)
    value, *known = chains.trend(y, 0.5, 0.2, 0.1)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    for name, (m, v, lag) in zip("lb", known, strict=True):
        q = model.posterior(name)
        np.testing.assert_allclose(q["m"], m, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(q["v"], v, rtol=1e-9)
        np.testing.assert_allclose(model.pairs(name), lag, rtol=1e-9, atol=1e-12)


def test_a_season_beside_a_level():
    y, joint, level, season = holed(7, 2), chains.Joint(), [], []
    for t in range(7):
        level.append(joint.add([(level[-1], 1.0)] if t else [], 0.2 if t else 2.0))
        before = [(season[-1], -1.0), (season[-2], -1.0)] if t > 1 else []
        season.append(joint.add(before, 0.1 if t > 1 else 1.0))
    looks = [([(i, 1.0), (j, 1.0)], 0.5) for i, j in zip(level, season, strict=True)]
    value, m, V = chains.seen(joint, y, looks)
    model = cls("season", "conjugate", SEASON)(y=y)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    for name, x in (("l", level), ("s", season)):
        at = np.array(x)[:, 0]
        np.testing.assert_allclose(model.posterior(name)["m"], m[at], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.posterior(name)["v"], V[at, at], rtol=1e-9)
        np.testing.assert_allclose(model.pairs(name), V[at[:-1], at[1:]], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("target", ["numpy", "loops"])
def test_a_vector_and_a_number_drive_each_other(target):
    y, joint, x, w = holed(5, 1), chains.Joint(), [], []
    for t in range(5):
        before = [(w[-1], 0.3), (x[-1], G2)] if t else []
        new = joint.add([(x[-1], F2)] if t else [], Q2 if t else np.eye(2))
        w.append(joint.add(before, 0.5 if t else 1.0))
        x.append(new)
    looks = [([(i, G2), (j, 1.0)], 0.4) for i, j in zip(x, w, strict=True)]
    value, m, V = chains.seen(joint, y, looks)
    model = cls("coupled", "conjugate", COUPLED, target)(y=y, F=F2, g=G2, Q=Q2)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    q = model.posterior("x")
    np.testing.assert_allclose(q["m"], m[np.array(x)], rtol=1e-9)
    blocks = np.array([V[np.ix_(i, i)] for i in x])
    np.testing.assert_allclose(np.linalg.inv(q["S"]), blocks, rtol=1e-9)
    lag = np.array([V[np.ix_(i, j)] for i, j in pairwise(x)])
    np.testing.assert_allclose(model.pairs("x"), lag, rtol=1e-9)
    np.testing.assert_allclose(model.posterior("w")["m"], m[np.array(w)[:, 0]], rtol=1e-9)


def test_effects_and_their_mean_are_one_gaussian():
    g, y = np.array([0, 2, 1, 1, 0, 2, 2]), R.normal(size=7)
    joint = chains.Joint()
    a, b = joint.add([], 3.0), [joint.add([], 2.0) for _ in range(3)]
    value, m, V = chains.seen(joint, y, [([(a, 1.0), (b[k], 1.0)], 0.5) for k in g])
    model = cls("effects", "conjugate", EFFECTS)(y=y, g=g, J=3)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    np.testing.assert_allclose(model.posterior("a")["m"], m[0], rtol=1e-9)
    np.testing.assert_allclose(model.posterior("b")["m"], m[1:4], rtol=1e-9)
    np.testing.assert_allclose(model.posterior("b")["v"], np.diag(V)[1:4], rtol=1e-9)


@pytest.mark.parametrize("target", ["numpy", "loops"])
def test_chains_of_different_lengths(target):
    lengths, y = [3, 1, 4], holed(8, 1, 3)
    model = cls("many", "conjugate", MANY, target)(y=y, T=lengths, F=F2, h=G2, Q=Q2)
    total, lags, means = 0.0, [], []
    for own in np.split(y, np.cumsum(lengths)[:-1]):
        joint, x = chains.Joint(), []
        for t in range(len(own)):
            x.append(joint.add([(x[-1], F2)] if t else [], Q2 if t else np.eye(2)))
        if np.isnan(own).all():
            value, m, V = 0.0, joint.mean, joint.cov
        else:
            value, m, V = chains.seen(joint, own, [([(i, G2)], 0.3) for i in x])
        total += value
        means += [m[i] for i in x]
        lags += [V[np.ix_(i, j)] for i, j in pairwise(x)]
    np.testing.assert_allclose(model.objective(), total, rtol=1e-10)
    np.testing.assert_allclose(model.posterior("x")["m"], means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.pairs("x"), lags, rtol=1e-9, atol=1e-12)


def own_of(x):
    found = norm(MIDDLE, np.sqrt(0.5)).logpdf(x[:, None])
    return np.where(np.isnan(found), 0.0, found)


@pytest.mark.parametrize(("T", "missing"), [(1, ()), (1, (0,)), (6, (0, 2, 5))])
def test_labels_with_missing_observations(T, missing):
    x = holed(T, *missing)
    model = cls("missing", "conjugate", MISSING)(x=x, pi=START, P=MOVES, mu=MIDDLE)
    value, z, pairs, path = chains.paths(own_of(x), START, MOVES)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(model.posterior("z")["p"], z, rtol=1e-10)
    np.testing.assert_allclose(model.pairs("z"), pairs, rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(model.path("z"), path)


def test_a_state_that_nobody_visits():
    x, P = holed(5, 1), np.array([[0.5, 0.5, 0.0], [0.3, 0.7, 0.0], [0.1, 0.2, 0.7]])
    pi, mu = np.array([0.4, 0.6, 0.0]), np.array([-1.0, 1.0, 0.0])
    own = norm(mu, np.sqrt(0.5)).logpdf(x[:, None])
    value, z, pairs, path = chains.paths(np.where(np.isnan(own), 0.0, own), pi, P)
    model = cls("missing", "conjugate", MISSING)(x=x, pi=pi, P=P, mu=mu)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    np.testing.assert_allclose(model.posterior("z")["p"], z, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(model.pairs("z"), pairs, rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(model.path("z"), path)


@pytest.mark.parametrize("target", ["numpy", "loops", "numba"])
def test_rows_of_labels_have_pairs_and_paths(target):
    x = R.normal(size=(3, 5))
    x[1, 2] = np.nan
    model = cls("rows", "conjugate", ROWS, target)(x=x, pi=START, P=MOVES, mu=MIDDLE)
    each = [chains.paths(own_of(row), START, MOVES) for row in x]
    np.testing.assert_allclose(model.objective(), sum(e[0] for e in each), rtol=1e-10)
    np.testing.assert_allclose(model.pairs("z"), [e[2] for e in each], rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(model.path("z"), [e[3] for e in each])


@pytest.mark.parametrize("target", ["numpy", "loops"])
def test_flat_rows_of_labels_have_pairs_and_paths(target):
    lengths, x = [4, 1, 0, 3], holed(8, 2)
    source = ROWS.replace("t in T", "t in T[s]")
    model = cls("rows", "conjugate", source, target)(x=x, T=lengths, pi=START, P=MOVES, mu=MIDDLE)
    parts = np.split(x, np.cumsum(lengths)[:-1])
    each = [chains.paths(own_of(row), START, MOVES) for row in parts if len(row)]
    np.testing.assert_allclose(model.objective(), sum(e[0] for e in each), rtol=1e-10)
    pairs = np.concatenate([e[2] for e in each])
    np.testing.assert_allclose(model.pairs("z"), pairs, rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(model.path("z"), np.concatenate([e[3] for e in each]))


@pytest.mark.parametrize("target", ["numpy", "loops"])
def test_transitions_that_change_along_the_chain(target):
    x, u = R.normal(size=6), np.array([1, 0, 1, 1, 0, 0])
    P = np.stack([MOVES, MOVES[::-1]])
    model = cls("moving", "conjugate", MOVING, target)(x=x, u=u, pi=START, P=P, mu=MIDDLE)
    value, z, pairs, path = chains.paths(own_of(x), START, P[u])
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    np.testing.assert_allclose(model.posterior("z")["p"], z, rtol=1e-10)
    np.testing.assert_allclose(model.pairs("z"), pairs, rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(model.path("z"), path)


FACTORIAL = """
plate t in T
plate k in K
plate j in J
const pi in simplex(K)
const P[k] in simplex(K)
const rho in simplex(J)
const Q[j] in simplex(J)
const mu[k] in R
const nu[j] in R
z[1] ~ categorical(pi)
z[t] ~ categorical(P[z[t-1]])
s[1] ~ categorical(rho)
s[t] ~ categorical(Q[s[t-1]])
x[t] ~ gaussian(mu[z[t]] + nu[s[t]], 0.5)   observed or missing
"""
WALK = """
plate t in T
tau ~ gamma(2, 1)
x[1] ~ gaussian(0, 1)
x[t] ~ gaussian(x[t-1], 0.3)
y[t] ~ gaussian(x[t], 1/tau)   observed or missing
"""
SWITCHING = """
plate t in T
plate k in K
const pi in simplex(K)
const P[k] in simplex(K)
const q[k] in (0, oo)
x[1] ~ gaussian(0, 1)
x[2] ~ gaussian(x[1], q[z[2]])
x[t] ~ gaussian(x[t-1]/2 + x[t-2]/3, q[z[t]])
z[1] ~ categorical(pi)
z[t] ~ categorical(P[z[t-1]])
y[t] ~ gaussian(x[t], 0.5)   observed or missing
"""


@pytest.mark.parametrize("target", ["numpy", "loops"])
def test_two_chains_of_labels_by_mean_field(target):
    x, z = holed(6, 1), R.dirichlet([1.0, 1.0], size=6)
    first = (START, MOVES, np.array(MIDDLE))
    second = (np.array([0.3, 0.3, 0.4]), R.dirichlet(np.ones(3), 3), np.array([-0.5, 0.0, 0.8]))
    names = dict(zip(("pi", "P", "mu"), first, strict=True))
    names |= dict(zip(("rho", "Q", "nu"), second, strict=True))
    model = cls("two", "vmp", FACTORIAL, target)(x=x, start={"z": {"p": z}}, **names)
    held_against(model, chains.two_chains(x, z, first, second, 0.5))
    saved = model.state_dict()
    other = cls("two", "vmp", FACTORIAL, target)(x=x, seed=3, **names)
    other.load_state_dict(saved)
    assert other.objective() == model.objective()
    np.testing.assert_array_equal(other.pairs("z"), model.pairs("z"))
    assert model.path("z").shape == model.path("s").shape == (6,)


def test_a_chain_beside_a_precision():
    y = holed(7, 0, 4)
    start = {"tau": {"a": 3.0, "b": 2.0}}
    model = cls("walk", "vmp", WALK)(y=y, start=start)
    held_against(model, chains.level_and_precision(y, 0.3, (2.0, 1.0), 3.0, 2.0))


def test_a_gaussian_chain_behind_another_block_begins_with_the_marginals_that_are_said():
    y, known = holed(7, 2), {"pi": START, "P": MOVES, "q": [0.1, 2.0]}
    said = {"m": R.normal(size=7), "v": R.gamma(2.0, size=7)}
    model = cls("switching", "vmp", SWITCHING)(y=y, start={"x": said}, **known)
    for name, value in said.items():
        np.testing.assert_allclose(model.posterior("x")[name], value, rtol=1e-12)
    np.testing.assert_allclose(model.pairs("x"), np.zeros(6), atol=1e-14)
    trace = model.run(steps=8, tol=0.0)["trace"]
    assert min(np.diff(trace)) > -1e-9
    assert (np.abs(model.pairs("x")) > 1e-6).all()


SYMBOLS = """
plate t in T
plate k in K
const pi in simplex(K)
const P[k] in simplex(K)
const B[k] in simplex(V)
z[1] ~ categorical(pi)
z[t] ~ categorical(P[z[t-1]])
x[t] ~ categorical(B[z[t]])   observed or missing
"""
TURNED = ROWS.replace("[s,1]", "[1,s]").replace("[s,t]", "[t,s]").replace("[s,t-1]", "[t-1,s]")
WALKS = """
plate t in T
plate i in D
const g[i] in R
x[1,i] ~ gaussian(0, 1)
x[t,i] ~ gaussian(x[t-1,i], 0.3)
y[t] ~ gaussian(dot(g[:], x[t,:]), 0.5) observed or missing
"""


@pytest.mark.parametrize("hot", [False, True])
def test_symbols_that_are_missing(hot):
    x, B = np.array([0.0, np.nan, 2.0, 1.0]), R.dirichlet(np.ones(3), 2)
    own = np.where(np.isnan(x)[:, None], 0.0, np.log(B.T[np.nan_to_num(x).astype(int)]))
    value, z, _, path = chains.paths(own, START, MOVES)
    rows = np.where(np.isnan(x)[:, None], np.nan, np.eye(3)[np.nan_to_num(x).astype(int)])
    model = cls("symbols", "conjugate", SYMBOLS)(x=rows if hot else x, pi=START, P=MOVES, B=B)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    np.testing.assert_allclose(model.posterior("z")["p"], z, rtol=1e-10)
    np.testing.assert_array_equal(model.path("z"), path)


def test_a_plate_may_stand_behind_the_letter_of_the_chain():
    x, known = R.normal(size=(5, 3)), {"pi": START, "P": MOVES, "mu": MIDDLE}
    turned = cls("turned", "conjugate", TURNED)(x=x, **known)
    plain = cls("rows", "conjugate", ROWS)(x=x.T, **known)
    np.testing.assert_allclose(turned.objective(), plain.objective(), rtol=1e-12)
    z = np.swapaxes(plain.posterior("z")["p"], 0, 1)
    np.testing.assert_allclose(turned.posterior("z")["p"], z)
    np.testing.assert_allclose(turned.pairs("z"), plain.pairs("z"))
    np.testing.assert_array_equal(turned.path("z"), plain.path("z"))


def test_walks_that_are_seen_through_one_sum():
    y, g, joint, x = holed(5, 2), R.normal(size=3), chains.Joint(), []
    for t in range(5):
        before = [(x[-1], np.eye(3))] if t else []
        x.append(joint.add(before, (0.3 if t else 1.0) * np.eye(3)))
    value, m, V = chains.seen(joint, y, [([(i, g)], 0.5) for i in x])
    model = cls("walks", "conjugate", WALKS)(y=y, g=g)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-10)
    np.testing.assert_allclose(model.posterior("x")["m"], m[np.array(x)], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.posterior("x")["v"], np.diag(V)[np.array(x)], rtol=1e-9)


FREE = """
plate t in T
param F in R^(p,p)
param H in R^(r,p)
param Q in SPD(p)
param R in SPD(r)
param m1 in R^p
param S1 in SPD(p)
x[1] ~ gaussian-full(m1, inv(S1))
x[t] ~ gaussian-full(F*x[t-1], inv(Q))
y[t] ~ gaussian-full(H*x[t], inv(R))   observed or missing
"""


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["numpy", "loops"])
def test_what_makes_two_triangles_differ_does_not_grow(target):
    """EM of all matrices: what is not even in S1 would be fourteen times as large each step."""
    rng = np.random.default_rng(4)
    y = np.cumsum(rng.normal(size=(40, 1)), axis=0)
    y[[5, 6, 30]] = np.nan
    start = {
        "F": np.array([[1.0, 0.1], [-0.2, 0.95]]), "H": np.array([[1.0, 0.0]]),
        "Q": np.array([[0.1, 0.02], [0.02, 0.2]]), "R": np.array([[0.5]]),
        "m1": np.array([0.5, -0.5]), "S1": np.array([[1.0, 0.1], [0.1, 2.0]]),
    }  # fmt: skip
    model = cls("free", "em", FREE, target)(y=y, p=2, start=start)
    wanted = chains.state_space_em(y, start)
    for _ in range(15):
        value, state = next(wanted)
        assert np.isclose(model.objective(), value, rtol=1e-11)
        for name, x in state.items():
            np.testing.assert_allclose(model.posterior(name), x, rtol=1e-9, atol=1e-11)
        for name in ("Q", "S1"):
            assert (model.posterior(name) == model.posterior(name).T).all()
        model.step()


PAIRS = """
plate t in T
plate k in K
plate j in J
const last[j] in labels(K)
param P[j] in simplex(J)
param mu[k] in R
z[1] ~ categorical(ones(J)/J)
z[t] ~ categorical(P[z[t-1]])
x[t] ~ gaussian(mu[last[z[t]]], 1) observed
"""
SECOND = """
plate t in T
plate k in K
param P[k,k2] in simplex(K)
param mu[k] in R
plate k2 in K
z[1] ~ categorical(ones(K)/K)
z[2] ~ categorical(ones(K)/K)
z[t] ~ categorical(P[z[t-1],z[t-2]])
x[t] ~ gaussian(mu[z[t]], 1) observed
"""


def test_labels_of_order_two_are_refused_with_pairs_in_their_place_and_those_are_right():
    with pytest.raises(ModelError, match=r"z\[t\] refers to z\[t-2\]") as refusal:
        derive_model(read_model(SECOND, "second"), "em")
    assert "last[z[t]]" in refusal.value.mistakes[0].instead
    rng = np.random.default_rng(2)
    x, last, mu = rng.normal(size=6), np.array([0, 1, 0, 1]), np.array([-1.0, 1.0])
    Q = rng.dirichlet(np.ones(2), size=(2, 2))  # of a, b, and what comes next
    P = np.zeros((2, 2, 2, 2))
    P[:, [0, 1], [0, 1]] = Q
    model = cls("pairs", "em", PAIRS)(x=x, last=last, K=2, start={"P": P.reshape(4, 4), "mu": mu})
    for _ in range(3):
        total, counts, each = 0.0, np.zeros((2, 2, 2)), np.zeros((2, 2))
        for path in product(range(2), repeat=7):
            p = norm(mu[list(path[1:])], 1).pdf(x).prod() / 4
            for place in zip(path, path[1:], path[2:], strict=False):
                p *= Q[place]
            total += p
            for place in zip(path, path[1:], path[2:], strict=False):
                counts[place] += p
            for k, y in zip(path[1:], x, strict=True):
                each[k] += p * y, p
        np.testing.assert_allclose(model.step(), np.log(total), rtol=1e-12)
        Q, mu = counts / counts.sum(-1, keepdims=True), each[:, 0] / each[:, 1]
    np.testing.assert_allclose(model.posterior("mu"), mu, rtol=1e-10)
    found = model.posterior("P").reshape(2, 2, 2, 2)
    np.testing.assert_allclose(found[:, [0, 1], [0, 1]], Q, rtol=1e-10)
    assert (found[:, [0, 1], [1, 0]] == 0).all()
