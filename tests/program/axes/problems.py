"""Problems of any size for programs over axes: what each is given, as arrays by name.

One function an algorithm; its arguments are sizes.  Numbers are drawn from a seeded generator,
so that a problem is the same on every run.
"""

from __future__ import annotations

import numpy as np

Given = dict[str, "np.ndarray | float"]


def _rng() -> np.random.Generator:
    return np.random.default_rng(20260731)


def _definite(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Positive definite matrices, well conditioned."""
    d = shape[-1]
    a = rng.normal(size=(*shape[:-1], d, 2 * d))
    return np.asarray(a @ a.swapaxes(-1, -2) / (2 * d) + 0.5 * np.eye(d))


def adam(n: int) -> Given:
    rng = _rng()
    m, u, g = rng.normal(size=(3, n))
    return {
        **{"m": m, "u": u, "s": rng.uniform(0.1, 1, n), "g": g, "t": 7.0},
        **{"alpha": 1e-3, "beta1": 0.9, "beta2": 0.999, "c": 1e-8},
    }


def rmsprop(n: int) -> Given:
    rng = _rng()
    m, g = rng.normal(size=(2, n))
    return {"m": m, "s": rng.uniform(0.1, 1, n), "g": g, "alpha": 1e-3, "beta": 0.1, "c": 1e-8}


def momentum(n: int) -> Given:
    m, u, g = _rng().normal(size=(3, n))
    return {"m": m, "u": u, "g": g, "alpha": 1e-3, "beta": 0.9}


def mixture(N: int, d: int, K: int) -> Given:
    rng = _rng()
    mu = 2 * rng.normal(size=(K, d))
    x = mu[rng.integers(0, K, N)] + rng.normal(size=(N, d))
    P = np.linalg.inv(np.linalg.cholesky(_definite(rng, K, d)))
    return {"x": x, "mu": mu, "P": np.ascontiguousarray(np.tril(P)), "lc": rng.normal(size=K)}


def mixture_parameters(d: int, K: int) -> Given:
    rng = _rng()
    nk, mu = rng.uniform(10, 100, K), rng.normal(size=(K, d))
    s2 = nk[:, None, None] * (_definite(rng, K, d) + mu[:, :, None] * mu[:, None, :])
    return {"nk": nk, "s1": nk[:, None] * mu, "s2": s2, "reg": 1e-6}


def line_mixture(N: int, K: int) -> Given:
    rng = _rng()
    mu = np.linspace(-3, 3, K)
    x = mu[rng.integers(0, K, N)] + 0.5 * rng.normal(size=N)
    return {"x": x, "mu": mu, "tau": rng.uniform(1, 4, K), "lc": rng.normal(size=K)}


def bernoulli_mixture(N: int, d: int, K: int) -> Given:
    rng = _rng()
    x = (rng.random((N, d)) < rng.random((K, d))[rng.integers(0, K, N)]).astype(np.float64)
    return {"x": x, "W": rng.normal(size=(K, d)), "c": rng.normal(size=K)}


def logistic(N: int, d: int) -> Given:
    rng = _rng()
    X, w = rng.normal(size=(N, d)), rng.normal(size=d) / np.sqrt(d)
    y = (rng.random(N) < 1 / (1 + np.exp(-X @ w))).astype(np.float64)
    return {"X": X, "y": y, "w": w + 0.1}


logistic_hessian = logistic


def logistic_rows(N: int, d: int, b: int) -> Given:
    return {**logistic(N, d), "rows": _rng().integers(0, N, b)}


def effects(N: int, d: int, V: int) -> Given:
    rng = np.random.default_rng(1)
    given = logistic(N, d)
    w = given.pop("w")
    return {**given, "lab": rng.integers(0, V, N), "w": w, "u": rng.normal(size=V)}


def newton(d: int) -> Given:
    rng = _rng()
    g, w = rng.normal(size=(2, d))
    return {"g": g, "H": _definite(rng, d), "w": w}


def forward_backward(T: int, K: int) -> Given:
    rng = _rng()
    A = rng.dirichlet(np.ones(K), K) * 0.2 + 0.8 * np.eye(K)
    return {"pi": rng.dirichlet(np.ones(K)), "A": A, "B": rng.random((T, K)) + 0.01}


def poisson_chain(T: int, K: int) -> Given:
    rng = _rng()
    chain, rate = forward_backward(1, K), np.linspace(1, 30, K)
    states = np.repeat(rng.integers(0, K, T // 5 + 1), 5)[:T]
    x = rng.poisson(rate[states]).astype(np.float64)
    return {"x": x, "pi": chain["pi"], "A": chain["A"], "rate": rate}


def kalman(T: int, n: int, m: int) -> Given:
    rng = _rng()
    F = np.linalg.qr(rng.normal(size=(n, n)))[0] * 0.98
    H = rng.normal(size=(m, n))
    y = np.cumsum(rng.normal(size=(T, m)), axis=0) / np.sqrt(1 + np.arange(T))[:, None]
    return {
        **{"F": F, "H": H, "Q": 0.1 * _definite(rng, n), "R": _definite(rng, m), "y": y},
        **{"m0": rng.normal(size=n), "P0": _definite(rng, n)},
    }


smoother = kalman


def documents(D: int, V: int, K: int, L: int) -> Given:
    """Counts of words, ragged: document d has the words `word[ptr[d]:ptr[d + 1]]`."""
    rng = _rng()
    topics = rng.dirichlet(np.full(V, 0.05), K)
    mixed = rng.dirichlet(np.full(K, 0.1), D) @ topics
    rows = [rng.multinomial(L, p) for p in mixed]
    words = [np.flatnonzero(r) for r in rows]
    ptr = np.concatenate([[0], np.cumsum([len(w) for w in words])])
    count = np.concatenate([r[w] for r, w in zip(rows, words, strict=True)])
    eb = np.exp(rng.normal(size=(V, K)) - 3)
    return {
        **{"ptr": ptr, "word": np.concatenate(words), "count": count.astype(np.float64)},
        **{"eb": eb, "g0": rng.gamma(100, 0.01, (D, K)), "alpha": 0.1},
    }


def factor(d: int, q: int) -> Given:
    rng = _rng()
    X = rng.normal(size=(20 * d, q)) @ rng.normal(size=(q, d)) + rng.normal(size=(20 * d, d))
    W = rng.normal(size=(d, q))
    return {"S": X.T @ X, "W": W, "psi": rng.uniform(0.5, 2, d), "N": 20.0 * d}
