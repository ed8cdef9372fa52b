"""Models beside SciPy's laws and optimiser, and topics beside scikit-learn's."""

from __future__ import annotations

import numpy as np

from tests.peers.models import elsewhere
from tests.peers.models.cases import Case
from tests.reference.models import gaussian_bound


def conjugate() -> list[Case]:
    """Evidences."""
    rng = np.random.default_rng(7)
    toss = (rng.random(12) < 0.3) * 1.0
    seen, e = rng.poisson(3.0, size=8) * 1.0, rng.uniform(0.5, 2, size=8)
    several = rng.multinomial(6, [0.2, 0.5, 0.3], size=5) * 1.0
    line, plane = 1 + rng.normal(size=7), rng.normal(size=(9, 2)) @ [[1.0, 0.4], [0, 0.7]]

    def case(model, data, theirs):  # type: ignore[no-untyped-def]
        return Case(f"evidence, {model}", model, "--conjugate", "scipy.stats", data, {}, 0,
                    theirs, {}, 1e-10)  # fmt: skip

    return [
        case("beta-bernoulli", {"x": toss}, lambda: elsewhere.tosses(toss)),
        case("gamma-poisson", {"x": seen, "e": e}, lambda: elsewhere.counts(seen, e)),
        case("dirichlet-multinomial", {"x": several, "n": np.full(5, 6.0)},
             lambda: elsewhere.outcomes(several)),
        case("normal-gamma", {"x": line}, lambda: elsewhere.normals(line)),
        case("normal-wishart", {"x": plane}, lambda: elsewhere.vectors(plane)),
    ]  # fmt: skip


def without_conjugacy() -> list[Case]:
    """Optima, by an optimiser that knows nothing of natural parameters."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(30, 2))
    u = X @ [0.9, -1.1]
    yes = (rng.random(30) < 1 / (1 + np.exp(-u))) * 1.0
    counts = rng.poisson(np.exp(u)) * 1.0
    t = np.linspace(0, 2, 8)
    S = np.linalg.inv(1.5 * np.exp(-((t[:, None] - t) ** 2) / 0.5) + 0.01 * np.eye(8))
    signs = (np.sin(3 * t) > 0) * 1.0
    T, phi, v = 6, 0.95, 0.05
    returns = rng.normal(size=T)
    F = np.eye(T) - np.diag(np.full(T - 1, phi), -1)
    chain = F.T @ np.diag([(1 - phi**2) / v] + [1 / v] * (T - 1)) @ F
    by = gaussian_bound
    rows = [
        ("logistic-regression", ("--ncvmp", "--cvi"), {"X": X, "y": yes}, X, by.logistic(yes),
         np.eye(2), {"posterior.w.m": "m", "posterior.w.S": "S"}),
        ("probit-regression", ("--ncvmp",), {"X": X, "y": yes}, X, by.probit(yes), np.eye(2),
         {"posterior.w.m": "m", "posterior.w.S": "S"}),
        ("poisson-regression", ("--ncvmp",), {"X": X, "y": counts}, X, by.poisson(counts),
         np.eye(2), {"posterior.w.m": "m", "posterior.w.S": "S"}),
        ("gaussian-process-classification", ("--ncvmp",), {"S": S, "y": signs}, np.eye(8),
         by.logistic(signs), S, {"posterior.f.m": "m"}),
        ("stochastic-volatility", ("--ncvmp", "--cvi"), {"y": returns}, np.eye(T),
         by.volatility(returns), chain, {"posterior.h.m": "m", "posterior.h.v": "v"}),
    ]  # fmt: skip

    def case(model, flag, data, X, level, precision, places):  # type: ignore[no-untyped-def]
        return Case(f"optimum, {model} {flag}", model, flag, "scipy.optimize", data, {}, 200,
                    lambda: elsewhere.optimum(X, level, precision), places, 2e-5)  # fmt: skip

    return [case(row[0], flag, *row[2:]) for row in rows for flag in row[1]]


def topics() -> list[Case]:
    """LDA online, every step of all documents."""
    rng = np.random.default_rng(9)
    K, V, D = 2, 6, 10
    words = rng.poisson(np.where(rng.random(D)[:, None] < 0.5, [4, 3, 2, 0.2, 0.2, 0.2],
                                 [0.2, 0.2, 0.2, 2, 3, 4])) * 1.0  # fmt: skip
    words[:, 0] += 1  # no empty document
    start = rng.gamma(20.0, 0.1, size=(K, V))
    seen = words > 0
    data = {
        "w": np.concatenate([np.flatnonzero(row) for row in seen]) * 1.0,
        "c": words[seen], "L": seen.sum(1) * 1.0, "alpha": np.full(K, 0.5),
        "eta": np.full(V, 0.3),
    }  # fmt: skip
    return [
        Case(
            "topics, online", "lda", "--svi", "sklearn.LatentDirichletAllocation", data,
            {"phi": {"alpha": start}}, 4,
            lambda: elsewhere.topics(words, start, 0.5, 0.3, 4),
            {"posterior.phi.alpha": "phi"}, 1e-8, trace=False, options=("--batch", str(D)),
        ),
    ]  # fmt: skip


def more_cases() -> list[Case]:
    """Every comparison."""
    return [*conjugate(), *without_conjugacy(), *topics()]
