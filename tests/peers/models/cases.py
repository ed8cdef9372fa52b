"""Which model, flag, data and start stand beside which package, and how close they must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.peers.models import public

Array = NDArray[np.float64]
Tree = dict[str, "Array | dict[str, Array]"]


@dataclass(frozen=True)
class Case:
    """One comparison: `theirs` gives the trace (None: not compared) and arrays by place.

    A place is "points.mu" or "posterior.pi.alpha" of the JSON of `blrgen fit`, or "pairs.x" or
    "path.z" of the emitted class.  Traces of objectives that drop constants are compared by their
    differences.  A model that does not ship has its text in `source`.
    """

    name: str
    model: str
    flag: str
    peer: str
    data: dict[str, Array]
    start: Tree
    steps: int
    theirs: Callable[[], public.Run]
    places: dict[str, str] = field(default_factory=dict)
    limit: float = 1e-9
    trace: bool = True
    options: tuple[str, ...] = ()
    source: str = ""
    measured: Callable[[dict[str, Any]], dict[str, Any]] | None = None


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
LAGS = """
plate t in T
x[1] ~ gaussian(0, 1)
x[2] ~ gaussian(x[1]/2, 0.4)
x[t] ~ gaussian(x[t-1]/2 + 0.3*x[t-2], 0.4)
y[t] ~ gaussian(x[t], 0.7)   observed or missing
"""


def clusters(rng: np.random.Generator, N: int = 150) -> Array:
    """Three clouds in the plane."""
    centres = np.array([[0.0, 0.0], [3.0, 2.0], [-2.0, 3.0]])
    return centres[rng.integers(3, size=N)] + rng.normal(size=(N, 2)) * [1.0, 0.6]


def definite(rng: np.random.Generator, K: int, d: int) -> Array:
    """K definite matrices of condition below ten."""
    A = rng.normal(size=(K, d, d)) * 0.3
    return A @ A.swapaxes(1, 2) + np.eye(d)


def gaussian_mixtures() -> list[Case]:
    """EM with full, diagonal and tied covariances."""
    rng = np.random.default_rng(1)
    x, K, d = clusters(rng), 3, 2
    pi, mu, S = np.array([0.2, 0.5, 0.3]), rng.normal(size=(K, d)), definite(rng, K, d)
    v, steps = np.array([[1.0, 2.0], [0.5, 1.0], [2.0, 1.5]]), 12
    kinds: dict[str, tuple[Tree, Array]] = {
        "full": ({"S": S}, np.linalg.inv(S)),
        "diag": ({"v": v}, 1 / v),
        "tied": ({"S": S[0]}, np.linalg.inv(S[0])),
    }

    def run(kind: str, precision: Array) -> Callable[[], public.Run]:
        start = {"pi": pi, "mu": mu, "precision": precision}
        return lambda: public.gaussian_mixture(x, start, steps, kind)

    return [
        Case(
            f"mixture {kind}", f"gaussian-mixture-{kind}-em", "--em", "sklearn.GaussianMixture",
            {"x": x, "K": np.array(K)}, {"pi": pi, "mu": mu} | spread, steps, run(kind, precision),
            {"points.pi": "pi", "points.mu": "mu"}, 1e-10,
        )
        for kind, (spread, precision) in kinds.items()
    ]  # fmt: skip


def bayesian_mixtures() -> list[Case]:
    """Mean field: normal-Wishart against scikit-learn, products of Bernoullis against bayespy."""
    rng = np.random.default_rng(2)
    x, K, d, steps = clusters(rng), 3, 2, 8
    V = definite(rng, K, d)
    start = {"alpha": np.array([40.0, 70.0, 40.0]), "kappa": np.array([40.0, 70.0, 40.0]),
             "m": 1 + rng.normal(size=(K, d)), "n": np.array([44.0, 74.0, 44.0]),
             "V": V * 40}  # fmt: skip
    # V is scikit-learn's here: the inverse of a normal-Wishart's scale
    prior = {"alpha": 1.0, "m": np.zeros(d), "kappa": 1.0, "V": np.eye(d), "n": 4.0}
    nodes: Tree = {
        "pi": {"alpha": start["alpha"]},
        "mu,L": {
            "m": start["m"],
            "kappa": start["kappa"],
            "V": np.linalg.inv(start["V"]),
            "n": start["n"],
        },
    }
    seen = (rng.random((120, 5)) < np.where(rng.random(120) < 0.4, 0.2, 0.7)[:, None]) * 1.0
    ab = {"a": 1 + rng.random((2, 5)), "b": 1 + rng.random((2, 5)), "pi": np.array([3.0, 5.0])}
    bernoulli: Tree = {"pi": {"alpha": ab["pi"]}, "p": {"a": ab["a"], "b": ab["b"]}}
    return [
        Case(
            "mixture, normal-Wishart", "gaussian-mixture-full", "--vmp",
            "sklearn.BayesianGaussianMixture",
            {"x": x, "nu0": np.array(4.0), "K": np.array(K)}, nodes, steps,
            lambda: public.bayesian_mixture(x, start, prior, steps),
            {"posterior.pi.alpha": "alpha", "posterior.mu,L.m": "m",
             "posterior.mu,L.kappa": "kappa", "posterior.mu,L.n": "n"}, trace=False,
        ),
        Case(
            "mixture of Bernoullis", "bernoulli-mixture", "--vmp", "bayespy",
            {"x": seen, "K": np.array(2)},
            bernoulli, steps,
            lambda: public.bernoulli_vmp(seen, ab, {"alpha": 1.0, "a": 1.0, "b": 1.0}, steps),
            {"posterior.pi.alpha": "pi", "posterior.p.a": "a", "posterior.p.b": "b",
             "posterior.z.p": "z"},
        ),
    ]  # fmt: skip


def chains() -> list[Case]:
    """Hidden Markov chains by EM against hmmlearn."""
    rng = np.random.default_rng(3)
    z = np.repeat(rng.integers(2, size=30), 6)
    start: dict[str, Array] = {
        "pi": np.array([0.5, 0.5]), "P": np.array([[0.9, 0.1], [0.2, 0.8]]),
        "rate": np.array([2.0, 5.0]), "mu": np.array([0.5, 2.0]), "v": np.array([1.0, 2.0]),
        "B": np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]),
    }  # fmt: skip
    data = {
        "poisson": rng.poisson(np.where(z, 2.0, 6.0)).astype(float),
        "gaussian": rng.normal(np.where(z, 0.0, 2.0), np.where(z, 1.0, 0.5)),
        "categorical": np.where(rng.random(z.size) < 0.6, 2 * z, rng.integers(3, size=z.size))
        * 1.0,
    }
    own = {"poisson": ["rate"], "gaussian": ["mu", "v"], "categorical": ["B"]}

    def run(kind: str) -> Callable[[], public.Run]:
        return lambda: public.markov(data[kind], start, 10, kind)

    return [
        Case(
            f"hidden Markov, {kind}", f"hmm-{kind}-em", "--em", "hmmlearn",
            {"x": x, "K": np.array(2), "V": np.array(3)} if kind == "categorical"
            else {"x": x, "K": np.array(2)},
            {name: start[name] for name in ("pi", "P", *own[kind])}, 10, run(kind),
            {f"points.{n}": n for n in ("pi", "P", *own[kind])}
            | {"posterior.z.p": "z", "path.z": "path"},
        )
        for kind, x in data.items()
    ]  # fmt: skip


def gaussian_chains() -> list[Case]:
    """Kalman and RTS against pykalman and, one at a time, filterpy."""
    rng = np.random.default_rng(4)
    p: dict[str, Array] = {
        "F": np.array([[1.0, 0.1], [-0.2, 0.95]]), "H": np.array([[1.0, 0.0]]),
        "Q": np.array([[0.1, 0.02], [0.02, 0.2]]), "R": np.array([[0.5]]),
        "m0": np.array([0.5, -0.5]), "P0": np.array([[1.0, 0.1], [0.1, 2.0]]),
    }  # fmt: skip
    T = 60
    y = np.cumsum(rng.normal(size=(T, 1)), axis=0)
    gaps = y.copy()
    gaps[[5, 6, 30]] = np.nan
    known = {"F": p["F"], "H": p["H"], "Q": p["Q"], "R": p["R"], "m1": p["m0"], "S1": p["P0"],
             "B": np.zeros((2, 1)), "u": np.zeros((T, 1))}  # fmt: skip
    free = {k: p[k] for k in ("F", "H", "Q", "R")} | {"m1": p["m0"], "S1": p["P0"]}
    trend = {"v": np.array(0.5), "vl": np.array(0.3), "vb": np.array(0.05)}
    as_states = {
        "F": np.array([[1.0, 1.0], [0.0, 1.0]]), "H": np.array([[1.0, 0.0]]),
        "Q": np.diag([0.3, 0.05]), "R": np.array([[0.5]]), "m0": np.zeros(2),
        "P0": 100.0 * np.eye(2),
    }  # fmt: skip
    lags = {
        "F": np.array([[0.5, 0.3], [1.0, 0.0]]), "H": np.array([[1.0, 0.0]]),
        "Q": np.diag([0.4, 0.0]), "R": np.array([[0.7]]), "m0": np.zeros(2),
        "P0": np.array([[0.65, 0.5], [0.5, 1.0]]),
    }  # fmt: skip
    smooth = {"posterior.x.m": "mean", "pairs.x": "pairs"}
    return [
        Case(
            "smoother, gaps", "state-space", "--conjugate", "pykalman", known | {"y": gaps}, {}, 0,
            lambda: public.state_space(gaps, p), smooth,
        ),
        Case(
            "evidence of a chain", "state-space", "--conjugate", "filterpy", known | {"y": y}, {},
            0, lambda: public.one_at_a_time(y, p), {}, 1e-10,
        ),
        Case(
            "filter, every element", "state-space", "--filter", "filterpy", known | {"y": y}, {},
            T, lambda: public.one_at_a_time(y, p, True), {"posterior.x.m": "last"}, 1e-10,
        ),
        Case(
            "filter, gaps", "state-space", "--filter", "pykalman", known | {"y": gaps}, {}, T,
            lambda: public.state_space(gaps, p), {"posterior.x.m": "last"}, 1e-10,
        ),
        Case(
            "state space, EM, gaps", "free", "--em", "pykalman",
            {"y": gaps, "p": np.array(2)}, free, 10,
            lambda: public.state_space_em(gaps, p, 10),
            {f"points.{x}": x for x in free}, source=FREE,
        ),
        Case(
            "level and slope, gaps", "local-linear-trend", "--em", "pykalman",
            {"y": gaps[:, 0], "s1": np.array(100.0)}, trend, 0,
            lambda: public.state_space(gaps, as_states),
            {"posterior.l.m": "first", "posterior.b.m": "second"},
        ),
        Case(
            "lag 2, gaps", "lags", "--conjugate", "pykalman",
            {"y": np.concatenate([[np.nan], gaps[1:, 0]])}, {}, 0,
            lambda: public.state_space(gaps[1:], lags), {"posterior.x.m": "lagged"}, source=LAGS,
        ),
    ]  # fmt: skip


def regressions() -> list[Case]:
    """A linear regression with unknown noise against bayespy."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.7 * rng.normal(size=40)
    start = {"m": np.zeros(3), "S": np.eye(3)}
    prior = {"a": 1.0, "b": 1.0, "s": 0.1}
    return [
        Case(
            "regression", "linear-regression", "--vmp", "bayespy",
            {"X": X, "y": y, "alpha": np.array(0.1)}, {"w": dict(start)}, 6,
            lambda: public.regression_vmp(X, y, start, prior, 6), {"posterior.w.m": "m"},
            options=("--schedule", "tau,w"),
        ),
    ]  # fmt: skip


def factors() -> list[Case]:
    """Factor analysis: the optimum of scikit-learn, whose own steps are another algorithm's."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(300, 6)) * 0.7
    return [
        Case(
            "factor analysis, optimum", "factor-analysis-em", "--em", "sklearn.FactorAnalysis",
            {"x": x, "q": np.array(2)}, {}, 3000,
            lambda: public.Run((public.factor_analysis(x, 2),), {}), {}, 1e-6,
        ),
    ]  # fmt: skip


def all_cases() -> list[Case]:
    """Every comparison."""
    return [
        *gaussian_mixtures(), *bayesian_mixtures(), *chains(), *gaussian_chains(), *regressions(),
        *factors(),
    ]  # fmt: skip
