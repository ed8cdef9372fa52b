"""Models with log joints by hand: densities of scipy, plain sums, nothing of the algebra."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A model's text, sizes, values of all its names, and its log joint by hand.

    `q` are the names whose expectations are tried (a variable of a block changes as a whole).
    """

    name: str
    text: str
    sizes: dict[str, int]
    values: Callable[[np.random.Generator], Arrays]
    joint: Callable[[Arrays], float]


def spd(rng, d, *front):
    a = rng.normal(size=(*front, d, d))
    return a @ np.swapaxes(a, -1, -2) + np.eye(d)


def one_hot(rng, k, *front):
    return np.eye(k)[rng.integers(k, size=front)]


def simplex(rng, k, *front):
    return rng.dirichlet(np.ones(k), size=front or None)


def normal(x, m, v):
    return float(np.sum(stats.norm.logpdf(x, m, np.sqrt(v))))


def gamma(x, a, b):
    return float(np.sum(stats.gamma.logpdf(x, a, scale=1 / np.asarray(b))))


def full(x, m, precision):
    """A Gaussian with a precision matrix."""
    return float(stats.multivariate_normal.logpdf(x, m, np.linalg.inv(precision)))


def dirichlet(p, a):
    return float(stats.dirichlet.logpdf(p, a))


def picked(z, table):
    """Σ z·table of a one-hot z."""
    return float(np.sum(z * table))


CASES: list[Case] = []


def case(name: str, text: str, sizes: dict[str, int], values: Callable[..., Arrays]):
    def keep(joint: Callable[[Arrays], float]) -> Callable[[Arrays], float]:
        CASES.append(Case(name, text, sizes, values, joint))
        return joint

    return keep


@case(
    "normal-gamma",
    """
plate n in N
(mu, tau) ~ normal-gamma(1/2, 2, 3, 4)
x[n] ~ gaussian(mu, 1/tau)   observed
""",
    {"N": 3},
    lambda r: {"mu": r.normal(), "tau": r.gamma(2), "x": r.normal(size=3)},
)
def _(v):
    prior = normal(v["mu"], 0.5, 1 / (2 * v["tau"])) + gamma(v["tau"], 3, 4)
    return prior + normal(v["x"], v["mu"], 1 / v["tau"])


@case("mixture-normal-wishart", """
plate n in N
plate k in K
const alpha in (0, oo)^K
const m0 in R^d
const V in SPD(d)
pi ~ dirichlet(alpha)
(mu[k], L[k]) ~ normal-wishart(m0, 2, V, 5)
z[n] ~ categorical(pi)
x[n] ~ gaussian-full(mu[z[n]], L[z[n]])   observed
""", {"N": 3, "K": 2, "d": 2}, lambda r: {
    "alpha": r.gamma(2, size=2), "m0": r.normal(size=2), "V": spd(r, 2), "pi": simplex(r, 2),
    "mu": r.normal(size=(2, 2)), "L": spd(r, 2, 2), "z": one_hot(r, 2, 3),
    "x": r.normal(size=(3, 2))})  # fmt: skip
def _(v):
    total = dirichlet(v["pi"], v["alpha"])
    for m, p in zip(v["mu"], v["L"], strict=True):
        total += stats.wishart.logpdf(p, 5, v["V"]) + full(m, v["m0"], 2 * p)
    for z, x in zip(v["z"], v["x"], strict=True):
        k = int(np.argmax(z))
        total += np.log(v["pi"][k]) + full(x, v["mu"][k], v["L"][k])
    return total


@case("mixture-apart", """
plate n in N
plate k in K
pi ~ dirichlet(2*ones(K))
mu[k] ~ gaussian-full(zeros(d), eye(d)/3)
L[k] ~ wishart(eye(d), d + 2)
z[n] ~ categorical(pi)
x[n] ~ gaussian-full(mu[z[n]], L[z[n]])   observed
""", {"N": 3, "K": 2, "d": 2}, lambda r: {
    "pi": simplex(r, 2), "mu": r.normal(size=(2, 2)), "L": spd(r, 2, 2), "z": one_hot(r, 2, 3),
    "x": r.normal(size=(3, 2))})  # fmt: skip
def _(v):
    total = dirichlet(v["pi"], [2, 2])
    for m, p in zip(v["mu"], v["L"], strict=True):
        total += stats.wishart.logpdf(p, 4, np.eye(2)) + full(m, [0, 0], np.eye(2) / 3)
    for z, x in zip(v["z"], v["x"], strict=True):
        k = int(np.argmax(z))
        total += np.log(v["pi"][k]) + full(x, v["mu"][k], v["L"][k])
    return total


@case("regression", """
plate n in N
const X[n] in R^d
a[j] ~ gamma(2, 1)
tau ~ gamma(1, 2)
w ~ gaussian-full(zeros(d), diag(a[:]))
y[n] ~ gaussian(dot(w, X[n]), 1/tau)   observed
plate j in d
""", {"N": 3, "d": 2}, lambda r: {
    "X": r.normal(size=(3, 2)), "a": r.gamma(2, size=2), "tau": r.gamma(2),
    "w": r.normal(size=2), "y": r.normal(size=3)})  # fmt: skip
def _(v):
    prior = gamma(v["a"], 2, 1) + gamma(v["tau"], 1, 2) + normal(v["w"], 0, 1 / v["a"])
    return prior + normal(v["y"], v["X"] @ v["w"], 1 / v["tau"])


@case("ard-plate", """
plate n in N
plate j in d
const X[n] in R^d
a[j] ~ gamma(2, 1)
tau ~ gamma(1, 2)
w[j] ~ gaussian(0, 1/a[j])
y[n] ~ gaussian(dot(w[:], X[n]), 1/tau)   observed
""", {"N": 3, "d": 2}, lambda r: {
    "X": r.normal(size=(3, 2)), "a": r.gamma(2, size=2), "tau": r.gamma(2),
    "w": r.normal(size=2), "y": r.normal(size=3)})  # fmt: skip
def _(v):
    prior = gamma(v["a"], 2, 1) + gamma(v["tau"], 1, 2) + normal(v["w"], 0, 1 / v["a"])
    return prior + normal(v["y"], v["X"] @ v["w"], 1 / v["tau"])


@case("factor-analysis-points", """
plate n in N
param W in R^(d,q)
param mu in R^d
param psi in (0, oo)^d
h[n] ~ gaussian-full(zeros(q), eye(q))
x[n] ~ gaussian-diag(W*h[n] + mu, 1/psi)   observed
""", {"N": 2, "d": 3, "q": 2}, lambda r: {
    "W": r.normal(size=(3, 2)), "mu": r.normal(size=3), "psi": r.gamma(2, size=3),
    "h": r.normal(size=(2, 2)), "x": r.normal(size=(2, 3))})  # fmt: skip
def _(v):
    return normal(v["h"], 0, 1) + normal(v["x"], v["h"] @ v["W"].T + v["mu"], v["psi"])


@case("factor-analysis-mean-field", """
plate n in N
plate i in d
plate k in q
a[k] ~ gamma(1, 2)
W[i] ~ gaussian-full(zeros(q), diag(a[:]))
psi[i] ~ gamma(2, 1)
h[n] ~ gaussian-full(zeros(q), eye(q))
x[n,i] ~ gaussian(dot(W[i], h[n]), 1/psi[i])   observed
""", {"N": 2, "d": 3, "q": 2}, lambda r: {
    "a": r.gamma(2, size=2), "W": r.normal(size=(3, 2)), "psi": r.gamma(2, size=3),
    "h": r.normal(size=(2, 2)), "x": r.normal(size=(2, 3))})  # fmt: skip
def _(v):
    prior = gamma(v["a"], 1, 2) + normal(v["W"], 0, 1 / v["a"]) + gamma(v["psi"], 2, 1)
    return prior + normal(v["h"], 0, 1) + normal(v["x"], v["h"] @ v["W"].T, 1 / v["psi"])


@case("lda", """
plate d in D
plate i in W[d] times c[d,i]
plate k in K
const alpha in (0, oo)^K
const beta in (0, oo)^V
const c[d,i] in (0, oo)
phi[k] ~ dirichlet(beta)
theta[d] ~ dirichlet(alpha)
z[d,i] ~ categorical(theta[d])
w[d,i] ~ categorical(phi[z[d,i]])   observed
""", {"D": 2, "W": 2, "K": 2, "V": 3}, lambda r: {
    "alpha": r.gamma(2, size=2), "beta": r.gamma(2, size=3),
    "c": np.array([[2.0, 3.0], [1.0, 0.0]]), "phi": simplex(r, 3, 2), "theta": simplex(r, 2, 2),
    "z": one_hot(r, 2, 2, 2), "w": one_hot(r, 3, 2, 2)})  # fmt: skip
def _(v):
    total = sum(dirichlet(p, v["beta"]) for p in v["phi"])
    for d, length in enumerate((2, 1)):  # the second document has one word
        total += dirichlet(v["theta"][d], v["alpha"])
        for i in range(length):
            k, word = (int(np.argmax(v[n][d, i])) for n in ("z", "w"))
            total += v["c"][d, i] * np.log(v["theta"][d, k] * v["phi"][k, word])
    return total


@case("hmm-poisson", """
plate t in T
plate k in K
pi ~ dirichlet(ones(K))
P[k] ~ dirichlet(2*ones(K))
rate[k] ~ gamma(2, 1)
z[1] ~ categorical(pi)
z[t] ~ categorical(P[z[t-1]])
y[t] ~ poisson(rate[z[t]])   observed
""", {"T": 3, "K": 2}, lambda r: {
    "pi": simplex(r, 2), "P": simplex(r, 2, 2), "rate": r.gamma(2, size=2),
    "z": one_hot(r, 2, 3), "y": r.poisson(2, size=3)})  # fmt: skip
def _(v):
    z = np.argmax(v["z"], axis=-1)
    total = dirichlet(v["pi"], [1, 1]) + sum(dirichlet(p, [2, 2]) for p in v["P"])
    total += gamma(v["rate"], 2, 1) + np.log(v["pi"][z[0]])
    total += sum(np.log(v["P"][a, b]) for a, b in pairwise(z))
    return total + np.sum(stats.poisson.logpmf(v["y"], v["rate"][z]))


@case("state-space", """
plate t in T
const F in R^(d,d)
const B in R^(d,m)
const H in R^(p,d)
const u[t] in R^m
Q ~ wishart(eye(d), d + 1)
R ~ wishart(eye(p), p + 2)
x[1] ~ gaussian-full(zeros(d), eye(d))
x[t] ~ gaussian-full(F*x[t-1] + B*u[t], Q)
y[t] ~ gaussian-full(H*x[t], R)   observed or missing
""", {"T": 3, "d": 2, "m": 1, "p": 2}, lambda r: {
    "F": r.normal(size=(2, 2)), "B": r.normal(size=(2, 1)), "H": r.normal(size=(2, 2)),
    "u": r.normal(size=(3, 1)), "Q": spd(r, 2), "R": spd(r, 2), "x": r.normal(size=(3, 2)),
    "y": r.normal(size=(3, 2)), "seen:y": np.array([1.0, 0.0, 1.0])})  # fmt: skip
def _(v):
    total = stats.wishart.logpdf(v["Q"], 3, np.eye(2)) + stats.wishart.logpdf(v["R"], 4, np.eye(2))
    total += full(v["x"][0], [0, 0], np.eye(2))
    for t in (1, 2):
        total += full(v["x"][t], v["F"] @ v["x"][t - 1] + v["B"] @ v["u"][t], v["Q"])
    return total + sum(full(v["y"][t], v["H"] @ v["x"][t], v["R"]) for t in (0, 2))


@case("student-t", """
plate n in N
const X[n] in R^d
const nu in (0, oo)
tau ~ gamma(1, 2)
w ~ gaussian-full(zeros(d), eye(d))
u[n] ~ gamma(nu/2, nu/2)
y[n] ~ gaussian(dot(w, X[n]), 1/(tau*u[n]))   observed
""", {"N": 3, "d": 2}, lambda r: {
    "X": r.normal(size=(3, 2)), "nu": 3.5, "tau": r.gamma(2), "w": r.normal(size=2),
    "u": r.gamma(2, size=3), "y": r.normal(size=3)})  # fmt: skip
def _(v):
    prior = gamma(v["tau"], 1, 2) + normal(v["w"], 0, 1) + gamma(v["u"], 1.75, 1.75)
    return prior + normal(v["y"], v["X"] @ v["w"], 1 / (v["tau"] * v["u"]))


@case("zero-inflated", """
plate n in N
const e[n] in (0, oo)
r ~ beta(2, 3)
lam ~ gamma(2, 1)
s[n] ~ bernoulli(r)
y[n] ~ choose(s[n], poisson(1/10), poisson(lam*e[n]))   observed
""", {"N": 3}, lambda r: {
    "e": r.gamma(2, size=3), "r": r.uniform(), "lam": r.gamma(2),
    "s": r.integers(2, size=3).astype(float), "y": r.poisson(2, size=3)})  # fmt: skip
def _(v):
    total = stats.beta.logpdf(v["r"], 2, 3) + gamma(v["lam"], 2, 1)
    for s, y, e in zip(v["s"], v["y"], v["e"], strict=True):
        total += np.log(v["r"] if s else 1 - v["r"])
        total += stats.poisson.logpmf(y, v["lam"] * e if s else 0.1)
    return float(total)


@case("shared-shape", """
plate n in N
plate k in K
const a in (0, oo)
pi ~ dirichlet(ones(K))
b[k] ~ gamma(2, 1)
z[n] ~ categorical(pi)
x[n] ~ gamma(a, b[z[n]])   observed
""", {"N": 3, "K": 2}, lambda r: {
    "a": 1.7, "pi": simplex(r, 2), "b": r.gamma(2, size=2), "z": one_hot(r, 2, 3),
    "x": r.gamma(2, size=3)})  # fmt: skip
def _(v):
    z = np.argmax(v["z"], axis=-1)
    total = dirichlet(v["pi"], [1, 1]) + gamma(v["b"], 2, 1) + np.sum(np.log(v["pi"][z]))
    return float(total) + gamma(v["x"], v["a"], v["b"][z])


@case("local-level", """
plate t in T
q ~ gamma(1, 1)
r ~ gamma(2, 1)
x[1] ~ gaussian(0, 10)
x[t] ~ gaussian(x[t-1], 1/q)
y[t] ~ gaussian(x[t], 1/r)   observed
""", {"T": 4}, lambda r: {
    "q": r.gamma(2), "r": r.gamma(2), "x": r.normal(size=4), "y": r.normal(size=4)})  # fmt: skip
def _(v):
    total = gamma(v["q"], 1, 1) + gamma(v["r"], 2, 1) + normal(v["x"][0], 0, 10)
    return (total + normal(v["x"][1:], v["x"][:-1], 1 / v["q"])
            + normal(v["y"], v["x"], 1 / v["r"]))  # fmt: skip


@case("random-effects", """
plate n in N
plate g in G
const f[n] in labels(G)
m ~ gaussian(0, 10)
s ~ gamma(2, 1)
tau ~ gamma(1, 1)
b[g] ~ gaussian(m, 1/s)
y[n] ~ gaussian(b[f[n]], 1/tau)   observed
""", {"N": 4, "G": 2}, lambda r: {
    "f": one_hot(r, 2, 4), "m": r.normal(), "s": r.gamma(2), "tau": r.gamma(2),
    "b": r.normal(size=2), "y": r.normal(size=4)})  # fmt: skip
def _(v):
    total = normal(v["m"], 0, 10) + gamma(v["s"], 2, 1) + gamma(v["tau"], 1, 1)
    total += normal(v["b"], v["m"], 1 / v["s"])
    return total + normal(v["y"], v["f"] @ v["b"], 1 / v["tau"])


@case("bernoulli-mixture", """
plate n in N
plate k in K
plate j in d
pi ~ dirichlet(ones(K))
p[k,j] ~ beta(2, 1)
z[n] ~ categorical(pi)
x[n,j] ~ bernoulli(p[z[n],j])   observed
""", {"N": 2, "K": 2, "d": 2}, lambda r: {
    "pi": simplex(r, 2), "p": r.uniform(0.1, 0.9, size=(2, 2)), "z": one_hot(r, 2, 2),
    "x": r.integers(2, size=(2, 2)).astype(float)})  # fmt: skip
def _(v):
    total = dirichlet(v["pi"], [1, 1]) + np.sum(stats.beta.logpdf(v["p"], 2, 1))
    for z, x in zip(v["z"], v["x"], strict=True):
        k = int(np.argmax(z))
        total += np.log(v["pi"][k]) + np.sum(stats.bernoulli.logpmf(x, v["p"][k]))
    return float(total)


@case("multinomial-mixture", """
plate n in N
plate k in K
const m[n] in integers >= 1
pi ~ dirichlet(ones(K))
phi[k] ~ dirichlet(2*ones(V))
z[n] ~ categorical(pi)
x[n] ~ multinomial(phi[z[n]], m[n])   observed
""", {"N": 2, "K": 2, "V": 3}, lambda r: {
    "m": np.array([4, 6]), "pi": simplex(r, 2), "phi": simplex(r, 3, 2), "z": one_hot(r, 2, 2),
    "x": np.array([r.multinomial(m, [0.2, 0.3, 0.5]) for m in (4, 6)])})  # fmt: skip
def _(v):
    total = dirichlet(v["pi"], [1, 1]) + sum(dirichlet(p, [2, 2, 2]) for p in v["phi"])
    for z, x, m in zip(v["z"], v["x"], v["m"], strict=True):
        k = int(np.argmax(z))
        total += np.log(v["pi"][k]) + stats.multinomial.logpmf(x, m, v["phi"][k])
    return float(total)


@case("tied-mixture", """
plate n in N
plate k in K
pi ~ dirichlet(ones(K))
mu[k] ~ gaussian-full(zeros(d), eye(d))
S ~ inverse-wishart(eye(d), d + 3)
z[n] ~ categorical(pi)
x[n] ~ gaussian-full(mu[z[n]], inv(S))   observed
""", {"N": 2, "K": 2, "d": 2}, lambda r: {
    "pi": simplex(r, 2), "mu": r.normal(size=(2, 2)), "S": spd(r, 2), "z": one_hot(r, 2, 2),
    "x": r.normal(size=(2, 2))})  # fmt: skip
def _(v):
    total = dirichlet(v["pi"], [1, 1]) + stats.invwishart.logpdf(v["S"], 5, np.eye(2))
    total += normal(v["mu"], 0, 1)
    for z, x in zip(v["z"], v["x"], strict=True):
        k = int(np.argmax(z))
        total += np.log(v["pi"][k]) + full(x, v["mu"][k], np.linalg.inv(v["S"]))
    return float(total)


@case("second-order-chain", """
plate t in T
q ~ gamma(1, 1)
a ~ gaussian(0, 1)
b ~ gaussian(0, 2)
x[1] ~ gaussian(0, 10)
x[2] ~ gaussian(1, 5)
x[t] ~ gaussian(a*x[t-1] + b*x[t-2], 1/q)
y[t] ~ gaussian(x[t], 1/2)   observed
""", {"T": 4}, lambda r: {
    "q": r.gamma(2), "a": r.normal(), "b": r.normal(), "x": r.normal(size=4),
    "y": r.normal(size=4)})  # fmt: skip
def _(v):
    x = v["x"]
    total = gamma(v["q"], 1, 1) + normal(v["a"], 0, 1) + normal(v["b"], 0, 2)
    total += normal(x[0], 0, 10) + normal(x[1], 1, 5) + normal(v["y"], x, 0.5)
    return total + normal(x[2:], v["a"] * x[1:-1] + v["b"] * x[:-2], 1 / v["q"])


@case("switching", """
plate t in T
plate k in K
const A[k] in R
P[k] ~ dirichlet(ones(K))
s[1] ~ categorical(ones(K)/K)
s[t] ~ categorical(P[s[t-1]])
x[1] ~ gaussian(0, 1)
x[t] ~ gaussian(A[s[t]]*x[t-1], 1)
y[t] ~ gaussian(x[t], 1)   observed
""", {"T": 3, "K": 2}, lambda r: {
    "A": r.normal(size=2), "P": simplex(r, 2, 2), "s": one_hot(r, 2, 3), "x": r.normal(size=3),
    "y": r.normal(size=3)})  # fmt: skip
def _(v):
    s, x = np.argmax(v["s"], axis=-1), v["x"]
    total = sum(dirichlet(p, [1, 1]) for p in v["P"]) - np.log(2)
    total += sum(np.log(v["P"][a, b]) for a, b in pairwise(s))
    total += normal(x[0], 0, 1) + normal(x[1:], v["A"][s[1:]] * x[:-1], 1)
    return float(total) + normal(v["y"], x, 1)


@case("label-of-a-label", """
plate n in N
plate k in K
plate g in G
const f[n] in labels(G)
const p in simplex(K)
m[k] ~ gaussian(0, 1)
z[g] ~ categorical(p)
x[n] ~ gaussian(m[z[f[n]]], 1/2)   observed
""", {"N": 3, "K": 2, "G": 2}, lambda r: {
    "f": one_hot(r, 2, 3), "p": simplex(r, 2), "m": r.normal(size=2), "z": one_hot(r, 2, 2),
    "x": r.normal(size=3)})  # fmt: skip
def _(v):
    z = np.argmax(v["z"], axis=-1)
    f = np.argmax(v["f"], axis=-1)
    total = normal(v["m"], 0, 1) + np.sum(np.log(v["p"][z]))
    return float(total) + normal(v["x"], v["m"][z[f]], 0.5)


@case("two-labels", """
plate n in N
plate k in K
plate j in J
m[k] ~ gaussian(0, 1)
b[j] ~ gaussian(0, 3)
z[n] ~ categorical(ones(K)/K)
u[n] ~ categorical(ones(J)/J)
x[n] ~ gaussian(m[z[n]] + b[u[n]], 1)   observed
""", {"N": 3, "K": 2, "J": 3}, lambda r: {
    "m": r.normal(size=2), "b": r.normal(size=3), "z": one_hot(r, 2, 3),
    "u": one_hot(r, 3, 3), "x": r.normal(size=3)})  # fmt: skip
def _(v):
    total = normal(v["m"], 0, 1) + normal(v["b"], 0, 3) - 3 * np.log(2) - 3 * np.log(3)
    return float(total) + normal(v["x"], v["z"] @ v["m"] + v["u"] @ v["b"], 1)


@case("hierarchical-counts", """
plate g in G
plate n in N
b ~ gamma(2, 1)
rate[g] ~ gamma(3, b)
y[g,n] ~ poisson(rate[g])   observed
""", {"G": 2, "N": 2}, lambda r: {
    "b": r.gamma(2), "rate": r.gamma(2, size=2), "y": r.poisson(2, size=(2, 2))})  # fmt: skip
def _(v):
    total = gamma(v["b"], 2, 1) + gamma(v["rate"], 3, v["b"])
    y, rate = v["y"], v["rate"][:, None]
    return total + float(np.sum(y * np.log(rate) - rate - gammaln(y + 1)))


@case("links-of-labels", """
plate n in N
plate k in K
a ~ gaussian(0, 1)
b[k] ~ gamma(1, 1)
s[n] ~ bernoulli(1/3)
z[n] ~ categorical(ones(K)/K)
y[n] ~ gaussian(a, 1/(1 + 3*s[n]))   observed
w[n] ~ poisson(exp(2*s[n])*dot(z[n], b[:]))   observed
""", {"N": 2, "K": 3}, lambda r: {
    "a": r.normal(), "b": r.gamma(2, size=3), "s": r.integers(2, size=2).astype(float),
    "z": one_hot(r, 3, 2), "y": r.normal(size=2), "w": r.poisson(2, size=2)})  # fmt: skip
def _(v):
    total = normal(v["a"], 0, 1) + gamma(v["b"], 1, 1) - 2 * np.log(3)
    total += np.sum(stats.bernoulli.logpmf(v["s"], 1 / 3))
    total += normal(v["y"], v["a"], 1 / (1 + 3 * v["s"]))
    rate = np.exp(2 * v["s"]) * (v["z"] @ v["b"])
    return float(total + np.sum(stats.poisson.logpmf(v["w"], rate)))


@case("matrix-normal", """
plate n in N
const U in SPD(p)
const M0 in R^(p,q)
S ~ wishart(eye(q), q + 2)
M ~ matrix-normal(M0, S, U)
X[n] ~ matrix-normal(M, S, U)   observed
""", {"N": 2, "p": 2, "q": 3}, lambda r: {
    "U": spd(r, 2), "M0": r.normal(size=(2, 3)), "S": spd(r, 3), "M": r.normal(size=(2, 3)),
    "X": r.normal(size=(2, 2, 3))})  # fmt: skip
def _(v):
    columns = np.linalg.inv(v["S"])
    total = stats.wishart.logpdf(v["S"], 5, np.eye(3))
    total += stats.matrix_normal.logpdf(v["M"], v["M0"], v["U"], columns)
    rows = [stats.matrix_normal.logpdf(x, v["M"], v["U"], columns) for x in v["X"]]
    return float(total + sum(rows))


@case("matrix-factorisation", """
plate u in U
plate i in I
a[u] ~ gaussian-full(zeros(q), eye(q))
b[i] ~ gaussian-full(zeros(q), 2*eye(q))
tau ~ gamma(1, 1)
r[u,i] ~ gaussian(dot(a[u], b[i]), 1/tau)   observed or missing
""", {"U": 2, "I": 3, "q": 2}, lambda r: {
    "a": r.normal(size=(2, 2)), "b": r.normal(size=(3, 2)), "tau": r.gamma(2),
    "r": r.normal(size=(2, 3)), "seen:r": np.array([[1.0, 0, 1], [1, 1, 0]])})  # fmt: skip
def _(v):
    seen = v["seen:r"] == 1
    total = normal(v["a"], 0, 1) + normal(v["b"], 0, 0.5) + gamma(v["tau"], 1, 1)
    return total + normal(v["r"][seen], (v["a"] @ v["b"].T)[seen], 1 / v["tau"])


@case("unknown-rows", """
plate t in T
plate i in d
F[i] ~ gaussian-full(zeros(d), eye(d))
s[i] ~ gamma(1, 1)
x[1] ~ gaussian-full(zeros(d), eye(d))
x[t] ~ gaussian-diag(F[:]*x[t-1], s[:])
y[t] ~ gaussian-full(x[t], eye(d))   observed
""", {"T": 3, "d": 2}, lambda r: {
    "F": r.normal(size=(2, 2)), "s": r.gamma(2, size=2), "x": r.normal(size=(3, 2)),
    "y": r.normal(size=(3, 2))})  # fmt: skip
def _(v):
    x = v["x"]
    total = normal(v["F"], 0, 1) + gamma(v["s"], 1, 1) + normal(x[0], 0, 1) + normal(v["y"], x, 1)
    return total + normal(x[1:], x[:-1] @ v["F"].T, 1 / v["s"])


@case("many-sequences", """
plate b in B
plate t in T
plate k in K
pi ~ dirichlet(ones(K))
P[k] ~ dirichlet(ones(K))
m[k] ~ gaussian(0, 10)
z[b,1] ~ categorical(pi)
z[b,t] ~ categorical(P[z[b,t-1]])
y[b,t] ~ gaussian(m[z[b,t]], 1)   observed
""", {"B": 2, "T": 3, "K": 2}, lambda r: {
    "pi": simplex(r, 2), "P": simplex(r, 2, 2), "m": r.normal(size=2),
    "z": one_hot(r, 2, 2, 3), "y": r.normal(size=(2, 3))})  # fmt: skip
def _(v):
    total = dirichlet(v["pi"], [1, 1]) + sum(dirichlet(p, [1, 1]) for p in v["P"])
    total += normal(v["m"], 0, 10) + normal(v["y"], v["z"] @ v["m"], 1)
    for z in np.argmax(v["z"], axis=-1):
        total += np.log(v["pi"][z[0]]) + sum(np.log(v["P"][a, b]) for a, b in pairwise(z))
    return float(total)


@case("level-and-season", """
plate t in T
l[1] ~ gaussian(0, 10)
l[t] ~ gaussian(l[t-1], 1)
s[1] ~ gaussian(0, 10)
s[2] ~ gaussian(0, 10)
s[t] ~ gaussian(-s[t-1] - s[t-2], 1)
m[t] = l[t] + s[t]
y[t] ~ gaussian(m[t], 1)   observed
""", {"T": 4}, lambda r: {
    "l": r.normal(size=4), "s": r.normal(size=4), "y": r.normal(size=4)})  # fmt: skip
def _(v):
    s, level = v["s"], v["l"]
    total = normal(level[0], 0, 10) + normal(level[1:], level[:-1], 1) + normal(s[:2], 0, 10)
    return total + normal(s[2:], -s[1:-1] - s[:-2], 1) + normal(v["y"], level + s, 1)


@case("links", """
plate n in N
plate k in K
const X[n] in R
const C in R^(d,q)
a[k] ~ gaussian(0, 1)
b ~ gaussian(0, 2)
z[n] ~ categorical(ones(K)/K)
h[n] ~ gaussian-full(zeros(q), eye(q))
line[n] = a[z[n]] + b*X[n]
twice[n] = 2*line[n] - 1
f[n] = C*h[n]
x[n] ~ gaussian(twice[n], 3)   observed
y[n] ~ gaussian-diag(f[n], ones(d)/2)   observed
s[1] ~ gaussian(0, 1)
s[n] ~ gaussian(s[n-1]/2, 1)
u[n] ~ gaussian(s[n] + line[n], 1)   observed
""", {"N": 3, "K": 2, "d": 3, "q": 2}, lambda r: {
    "X": r.normal(size=3), "C": r.normal(size=(3, 2)), "a": r.normal(size=2), "b": r.normal(),
    "z": one_hot(r, 2, 3), "h": r.normal(size=(3, 2)), "x": r.normal(size=3),
    "y": r.normal(size=(3, 3)), "s": r.normal(size=3), "u": r.normal(size=3)})  # fmt: skip
def _(v):
    line = v["z"] @ v["a"] + v["b"] * v["X"]
    total = normal(v["a"], 0, 1) + normal(v["b"], 0, 2) - 3 * np.log(2) + normal(v["h"], 0, 1)
    total += normal(v["x"], 2 * line - 1, 3) + normal(v["y"], v["h"] @ v["C"].T, 2)
    total += normal(v["s"][0], 0, 1) + normal(v["s"][1:], v["s"][:-1] / 2, 1)
    return float(total) + normal(v["u"], v["s"] + line, 1)


@case("choices-of-a-latent-count", """
plate n in N
p ~ dirichlet(2*ones(3))
a ~ gamma(1, 1)
b ~ gamma(2, 1)
z[n] ~ categorical(p)
x[n] ~ choose(z[n], exponential(a), gamma(2, b), gamma(3, 1))   observed
""", {"N": 3}, lambda r: {
    "p": simplex(r, 3), "a": r.gamma(2), "b": r.gamma(2), "z": one_hot(r, 3, 3),
    "x": r.gamma(2, size=3)})  # fmt: skip
def _(v):
    total = dirichlet(v["p"], [2, 2, 2]) + gamma(v["a"], 1, 1) + gamma(v["b"], 2, 1)
    for z, x in zip(np.argmax(v["z"], axis=-1), v["x"], strict=True):
        total += np.log(v["p"][z]) + (gamma(x, 1, v["a"]), gamma(x, 2, v["b"]), gamma(x, 3, 1))[z]
    return float(total)
