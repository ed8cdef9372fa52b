"""The rest of the models that ship, each beside a package."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.peers.models import packages, public
from tests.peers.models.cases import Array, Case, Tree, clusters, definite

APART = """
plate n in N
plate k in K
pi ~ dirichlet(ones(K))
mu[k] ~ gaussian-full(zeros(2), eye(2))
L[k] ~ wishart(eye(2), 4)
z[n] ~ categorical(pi)
x[n] ~ gaussian-full(mu[z[n]], L[z[n]]) observed
"""


def exact() -> list[Case]:
    """Evidences."""
    rng = np.random.default_rng(11)
    line, plane = 1 + rng.normal(size=7), rng.normal(size=(9, 2)) @ [[1.0, 0.4], [0, 0.7]]
    X = rng.normal(size=(15, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.6 * rng.normal(size=15)
    flag = "--conjugate"
    return [
        Case("evidence, normal-normal", "normal-normal", flag, "scipy.stats", {"x": line}, {}, 0,
             lambda: packages.normal(line, 100.0, 1.0), {}, 1e-10),
        Case("evidence, inverse-wishart", "inverse-wishart", flag, "scipy.stats", {"x": plane}, {},
             0, lambda: packages.covariance(plane), {"posterior.S.Psi": "Psi"}, 1e-10),
        Case("ridge", "ridge", flag, "sklearn.Ridge", {"X": X, "y": y, "alpha": np.array(0.7),
             "tau": np.array(2.0)}, {}, 0, lambda: packages.ridge(X, y, 0.7, 2.0),
             {"posterior.w.m": "m"}, 1e-10),
    ]  # fmt: skip


def mixtures() -> list[Case]:
    """Mean field of mixtures, every step."""
    rng = np.random.default_rng(12)
    side = rng.random(60) < 0.4
    data: dict[str, Array] = {
        "poisson": rng.poisson(np.where(side, 2.0, 7.0)) * 1.0,
        "exponential": rng.exponential(np.where(side, 0.3, 3.0)),
        "multinomial": np.where(side[:, None], rng.multinomial(6, [0.6, 0.2, 0.2], 60),
                                rng.multinomial(6, [0.1, 0.3, 0.6], 60)) * 1.0,
    }  # fmt: skip
    start = {"pi": np.array([3.0, 5.0]), "a": np.array([3.0, 4.0]), "b": np.array([2.0, 0.8]),
             "phi": np.array([[2.0, 1.0, 1.5], [0.7, 1.0, 2.0]])}  # fmt: skip
    steps, x = 10, clusters(rng)

    def case(kind: str) -> Case:
        own: Tree = {"rate": {"a": start["a"], "b": start["b"]}}
        if kind == "multinomial":
            own = {"phi": {"alpha": start["phi"]}}
        more = {"c": np.full(60, 6.0)} if kind == "multinomial" else {}
        return Case(
            f"mixture, {kind}", f"{kind}-mixture", "--vmp", "bayespy",
            {"x": data[kind], "K": np.array(2)} | more,
            {"pi": {"alpha": start["pi"]}, **own}, steps,
            lambda: packages.mixed(data[kind], start, steps, kind, 6),
            {"posterior.pi.alpha": "pi", "posterior.z.p": "z"},
        )  # fmt: skip

    K = 3
    first: dict[str, Any] = {
        "pi": np.array([40.0, 70.0, 40.0]), "m": 1 + rng.normal(size=(K, 2)),
        "S": definite(rng, K, 2) * 5, "n": np.array([44.0, 74.0, 44.0]),
        "V": definite(rng, K, 2) / 50,
    }  # fmt: skip
    prior: dict[str, Any] = {"alpha": 1.0, "m": np.zeros(2), "S": np.eye(2), "n": 4.0,
                             "V": np.eye(2)}  # fmt: skip
    nodes: Tree = {
        "pi": {"alpha": first["pi"]}, "mu": {"m": first["m"], "S": first["S"]},
        "L": {"n": first["n"], "V": first["V"]},
    }  # fmt: skip
    one = {"pi": first["pi"], "m": first["m"], "S": first["S"], "n": np.array(150.0),
           "V": first["V"][0]}  # fmt: skip
    columns = {"pi": first["pi"], "kappa": np.full((2, K), 30.0), "m": first["m"].T,
               "a": np.full((2, K), 20.0), "b": rng.uniform(15, 30, (2, K))}  # fmt: skip
    each = {k: columns[k].T for k in ("kappa", "m", "a", "b")}
    return [
        *map(case, data),
        Case(
            "mixture, one precision", "gaussian-mixture-tied", "--vmp", "bayespy",
            {"x": x, "K": np.array(K)},
            {"pi": {"alpha": one["pi"]}, "mu": {"m": one["m"], "S": one["S"]},
             "L": {"n": one["n"], "V": one["V"]}}, steps, lambda: packages.tied(x, one, steps),
            {"posterior.pi.alpha": "pi", "posterior.mu.m": "m"},
        ),
        Case(
            "mixture, normal-gamma", "gaussian-mixture-diag", "--vmp", "bayespy",
            {"x": x, "K": np.array(K)}, {"pi": {"alpha": first["pi"]}, "mu,tau": each}, steps,
            lambda: packages.normal_gammas(x, columns, steps), {"posterior.pi.alpha": "pi"},
        ),
        Case(
            "mixture, means and precisions apart", "apart", "--vmp", "bayespy",
            {"x": x, "K": np.array(K)}, nodes, steps,
            lambda: public.wishart_mixture_vmp(x, first, prior, steps),
            {"posterior.pi.alpha": "pi", "posterior.mu.m": "mean"}, source=APART,
        ),
    ]  # fmt: skip


def regressions() -> list[Case]:
    """One precision a coefficient every step; heavy tails at the optimum."""
    rng = np.random.default_rng(13)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 0.0] + 0.7 * rng.normal(size=40)
    start = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([2.0, 1.0, 4.0])}
    few = rng.normal(size=(9, 1))
    far = 1.5 * few[:, 0] + rng.standard_t(4, size=9)
    return [
        Case(
            "regression, relevance", "linear-regression-ard", "--vmp", "bayespy", {"X": X, "y": y},
            {"alpha": dict(start), "tau": {"a": np.array(2.0), "b": np.array(3.0)}}, 10,
            lambda: packages.relevance(X, y, start, 10), {"posterior.w.m": "m"},
        ),
        Case(
            "regression, heavy tails", "student-t-regression", "--vmp", "scipy.optimize",
            {"X": few, "y": far}, {}, 500, lambda: packages.heavy_tails(few, far, 4.0),
            {"posterior.w.m": "m"}, 1e-5,
        ),
    ]  # fmt: skip


def counts() -> list[Case]:
    """Point masses, and a shape without a closed form."""
    rng = np.random.default_rng(14)
    seen = np.where(rng.random(40) < 0.6, rng.poisson(2.5, size=40), 0) * 1.0
    e = rng.uniform(0.5, 2.0, size=40)
    x = np.where(rng.random(80) < 0.5, rng.gamma(2.0, 0.3, 80), rng.gamma(9.0, 0.6, 80))
    start = {"pi": np.array([0.5, 0.5]), "a": np.array([2.0, 8.0]), "b": np.array([3.0, 1.5])}
    return [
        Case(
            "counts, zero-inflated", "zero-inflated-poisson", "--vmp", "scipy.optimize",
            {"x": seen, "e": e}, {}, 300, lambda: packages.inflated(seen, e),
            {"posterior.r.a": "r.a", "posterior.rate.a": "rate.a", "posterior.rate.b": "rate.b"},
            1e-5,
        ),
        Case(
            "counts, hurdle", "hurdle-poisson", "--vmp", "scipy.optimize", {"x": seen}, {}, 50,
            lambda: packages.hurdle(seen), {"points.rate": "rate"}, 1e-7,
        ),
        Case(
            "mixture, gamma", "gamma-mixture", "--em", "scipy.optimize",
            {"x": x, "K": np.array(2)}, dict(start), 3000, lambda: packages.gammas(x, start),
            {"points.a": "a", "points.b": "b"}, 1e-5,
        ),
    ]  # fmt: skip


def factors() -> list[Case]:
    """Principal components at the optimum; factors with pruning, every step."""
    rng = np.random.default_rng(15)
    x = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 5)) + rng.normal(size=(200, 5)) * 0.6
    few, q = x[:30, :4], 3
    W = rng.normal(size=(4, q))
    start: Tree = {
        "W": {"m": W, "S": np.stack([10 * np.eye(q)] * 4)},
        "mu": {"m": np.zeros(4), "v": np.ones(4)},
        "tau": {"a": np.full(4, 2.0), "b": np.full(4, 1.5)},
        "alpha": {"a": np.full(q, 2.0), "b": np.ones(q)},
    }
    return [
        Case(
            "principal components, optimum", "ppca", "--em", "sklearn.PCA",
            {"x": x, "q": np.array(2)}, {}, 2000, lambda: packages.components(x, 2),
            {"points.s": "s"}, 1e-8,
        ),
        Case(
            "factor analysis, pruning", "factor-analysis", "--vmp", "bayespy",
            {"x": few, "q": np.array(q)}, start, 10, lambda: packages.factors(few, {"W": W}, 10),
            {"posterior.W.m": "W", "posterior.h.m": "h"},
        ),
    ]  # fmt: skip


def chains() -> list[Case]:
    """Hidden Markov chains with priors, and several sequences by EM."""
    rng = np.random.default_rng(16)
    z = np.repeat(rng.integers(2, size=20), 5)
    data = {
        "poisson": rng.poisson(np.where(z, 2.0, 6.0)) * 1.0,
        "gaussian": rng.normal(np.where(z, 0.0, 2.0), 0.8),
        "categorical": np.where(rng.random(100) < 0.6, 2 * z, rng.integers(3, size=100)) * 1.0,
    }
    first = {"pi": np.array([0.6, 0.4]), "P": np.array([[0.8, 0.2], [0.3, 0.7]]),
             "rate": np.array([2.0, 5.0]), "mu": np.array([0.5, 2.0]), "v": np.array([1.0, 2.0]),
             "B": np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])}  # fmt: skip
    q = {"pi": np.array([2.0, 1.5]), "P": np.array([[8.0, 2.0], [3.0, 5.0]]),
         "a": np.array([4.0, 5.0]), "b": np.array([2.0, 0.8]),
         "B": np.array([[3.0, 2.0, 1.0], [1.0, 1.5, 4.0]])}  # fmt: skip
    own: dict[str, Tree] = {
        "poisson": {"rate": {"a": q["a"], "b": q["b"]}}, "categorical": {"B": {"alpha": q["B"]}}
    }  # fmt: skip
    held = {"poisson": ["rate"], "gaussian": ["mu", "v"], "categorical": ["B"]}
    lengths, steps = [30, 1, 45, 24], 10

    def sizes(kind: str) -> dict[str, Array]:
        return {"K": np.array(2)} | ({"V": np.array(3)} if kind == "categorical" else {})

    def bayesian(kind: str) -> Case:
        start: Tree = {"pi": {"alpha": q["pi"]}, "P": {"alpha": q["P"]}, **own[kind]}
        return Case(
            f"hidden Markov with priors, {kind}", f"hmm-{kind}", "--vmp", "bayespy",
            {"x": data[kind]} | sizes(kind), start, steps,
            partial(packages.markov, data[kind], q, steps, kind),
            {"posterior.pi.alpha": "pi", "posterior.P.alpha": "P"},
        )  # fmt: skip

    def several(kind: str) -> Case:
        places = ["pi", "P", *held[kind]]
        return Case(
            f"hidden Markov, sequences, {kind}", f"hmm-{kind}-many-em", "--em", "hmmlearn",
            {"x": data[kind], "T": np.array(lengths) * 1.0} | sizes(kind),
            {k: first[k] for k in places}, steps,
            partial(public.markov, data[kind], first, steps, kind, lengths),
            {f"points.{k}": k for k in places} | {"posterior.z.p": "z"},
        )  # fmt: skip

    normal = {"pi": q["pi"], "P": q["P"], "m": np.array([0.5, 2.5]), "kappa": np.array([3.0, 4.0]),
              "a": q["a"], "b": q["b"]}  # fmt: skip
    both = {k: normal[k] for k in ("m", "kappa", "a", "b")}
    return [
        *map(bayesian, own),
        Case(
            "hidden Markov with priors, gaussian", "hmm-gaussian", "--vmp", "bayespy",
            {"x": data["gaussian"]} | sizes("gaussian"),
            {"pi": {"alpha": q["pi"]}, "P": {"alpha": q["P"]}, "mu,tau": both}, steps,
            lambda: packages.normal_gammas(data["gaussian"], normal, steps),
            {"posterior.pi.alpha": "pi"},
        ),
        *map(several, held),
    ]  # fmt: skip


def topics() -> list[Case]:
    """What topics say of documents that were not fitted: within a hundredth."""
    rng = np.random.default_rng(17)
    K, V, D, alpha, eta = 3, 30, 80, 0.4, 0.2
    beta, share = rng.dirichlet(np.full(V, 0.15), K), rng.dirichlet(np.full(K, alpha), D + 20)
    words = np.stack([rng.multinomial(80, p) for p in share @ beta]) * 1.0
    seen, new = words[:D], words[D:]
    there, start = seen > 0, eta + rng.gamma(50.0, 0.02, size=(K, V))
    data = {
        "w": np.concatenate([np.flatnonzero(row) for row in there]) * 1.0, "c": seen[there],
        "L": there.sum(1) * 1.0, "alpha": np.full(K, alpha), "eta": np.full(V, eta),
    }  # fmt: skip

    def level(found: dict[str, Any]) -> dict[str, Any]:
        topics = np.asarray(found["posterior"]["phi"]["alpha"])
        return {"level": packages.held_out(topics, new, alpha)}

    def case(name: str, flag: str, peer: str, theirs: Any, *options: str) -> Case:
        return Case(
            name, "lda", flag, peer, data, {"phi": {"alpha": start}}, 400,
            lambda: theirs(seen, new, alpha, eta, start), {"level": "level"}, 0.01, trace=False,
            options=options, measured=level,
        )  # fmt: skip

    rows = ("--batch", "20")
    return [
        case("topics, new documents", "--vmp", "sklearn.LatentDirichletAllocation",
             packages.sklearn_topics),
        case("topics by rows, new documents", "--svi", "gensim.LdaModel",
             packages.gensim_topics, *rows),
    ]  # fmt: skip


def listed_cases() -> list[Case]:
    """Every comparison."""
    return [*exact(), *mixtures(), *regressions(), *counts(), *factors(), *chains(), *topics()]
