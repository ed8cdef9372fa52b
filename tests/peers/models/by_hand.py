"""Models that no package has, from the mathematics: sums in logarithms, dense matrices, SciPy.

Where there are steps these take the same ones from the same start; where the model is not
conjugate SciPy's optimiser finds the bound's largest value, which knows nothing of steps.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import digamma, gammaln, logsumexp

from tests.peers.models.public import Run
from tests.reference.models import em, gaussian_bound, number_bound, shares

Array = NDArray[np.float64]
Many = dict[str, Array]


def bernoulli_mixture(x: Array, start: Many, steps: int) -> Run:
    """EM of products of Bernoullis: responsibilities, then shares and means."""
    pi, p, trace = start["pi"], start["p"], []
    for step in range(steps + 1):
        own = np.log(pi) + stats.bernoulli(p).logpmf(x[:, None, :]).sum(2)
        trace.append(float(logsumexp(own, axis=1).sum()))
        if step < steps:
            r = np.exp(own - logsumexp(own, axis=1, keepdims=True))
            pi, p = r.mean(0), r.T @ x / r.sum(0)[:, None]
    return Run(tuple(trace), {"pi": pi, "p": p})


def poisson_mixture(x: Array, start: Many, steps: int) -> Run:
    """EM of counts."""
    made = em.poisson_mixture(x, start["pi"], start["rate"])
    runs = [next(made) for _ in range(steps + 1)]
    return Run(tuple(float(level) for level, _ in runs), dict(runs[-1][1]))


def states_of_many(x: Array, lengths: list[int], start: Many, steps: int) -> Run:
    """Mean field of hidden Markov chains that share flat priors: every path is a sum of logs."""
    alpha, A = start["pi"], start["P"]
    m, kappa, a, b = (start[k] for k in ("m", "kappa", "a", "b"))
    ends, trace = np.cumsum([0, *lengths]), []
    for step in range(steps + 1):
        log_tau, tau = digamma(a) - np.log(b), a / b
        own = (log_tau - np.log(2 * np.pi) - tau * (x[:, None] - m) ** 2 - 1 / kappa) / 2
        log_pi = digamma(alpha) - digamma(alpha.sum())
        log_P = digamma(A) - digamma(A.sum(1, keepdims=True))
        total, r, both, first = 0.0, [], np.zeros_like(A), np.zeros_like(alpha)
        for low, high in itertools.pairwise(ends):
            level, marginal, pairs = _path_sums(own[low:high], log_pi, log_P)
            total, both, first = total + level, both + pairs, first + marginal[0]
            r.append(marginal)
        away = _dirichlet_away(alpha) + sum(map(_dirichlet_away, A))
        away += (tau * m**2 + 1 / kappa - 1 + np.log(kappa)).sum() / 2
        away += ((a - 1) * digamma(a) - gammaln(a) + np.log(b) + a * (1 / b - 1)).sum()
        trace.append(float(total - away))
        if step < steps:
            weight = np.concatenate(r)
            n = weight.sum(0)
            alpha, A, kappa, a = 1 + first, 1 + both, 1 + n, 1 + n / 2
            m = weight.T @ x / kappa
            b = 1 + (weight.T @ x**2 - kappa * m**2) / 2
    end = {"pi": alpha, "P": A, "m": m, "kappa": kappa, "a": a, "b": b}
    return Run(tuple(trace), end)


def _path_sums(own: Array, log_pi: Array, log_P: Array) -> tuple[float, Array, Array]:
    """log Σ over paths, marginals, and how often each goes to each."""
    T, K = own.shape
    forward, backward = np.zeros((T, K)), np.zeros((T, K))
    forward[0] = log_pi + own[0]
    for t in range(1, T):
        forward[t] = logsumexp(forward[t - 1][:, None] + log_P, axis=0) + own[t]
    for t in range(T - 2, -1, -1):
        backward[t] = logsumexp(log_P + own[t + 1] + backward[t + 1], axis=1)
    total = float(logsumexp(forward[-1]))
    pairs = forward[:-1, :, None] + log_P + (own + backward)[1:, None, :] - total
    return total, np.exp(forward + backward - total), np.exp(pairs).sum(0)


def _dirichlet_away(alpha: Array) -> float:
    """KL of a Dirichlet from the flat one."""
    whole, K = alpha.sum(), len(alpha)
    level = gammaln(whole) - gammaln(alpha).sum() - gammaln(K)
    return float(level + ((alpha - 1) * (digamma(alpha) - digamma(whole))).sum())


def controlled_states(y: Array, u: Array, start: Many, steps: int) -> Run:
    """EM of x[t] = F x[t−1] + B u[t] + noise, all elements at once as one dense Gaussian."""
    p, trace = dict(start), []
    T, d = len(y), len(start["m1"])
    for step in range(steps + 1):
        back = np.eye(T * d)
        noise, mean = np.kron(np.eye(T), p["Q"]), (u @ p["B"].T).ravel()
        noise[:d, :d], mean[:d] = p["S1"], p["m1"]
        for t in range(1, T):
            back[t * d : (t + 1) * d, (t - 1) * d : t * d] = -p["F"]
        root = np.linalg.inv(back)
        prior, m = root @ noise @ root.T, root @ mean
        H = np.kron(np.eye(T), p["H"])
        seen = H @ prior @ H.T + np.kron(np.eye(T), p["R"])
        trace.append(float(stats.multivariate_normal(H @ m, seen).logpdf(y.ravel())))
        if step == steps:
            break
        gain = np.linalg.solve(seen, H @ prior).T
        m, V = m + gain @ (y.ravel() - H @ m), prior - gain @ H @ prior
        x = m.reshape(T, d)
        second = (V + np.outer(m, m)).reshape(T, d, T, d)
        p = _refitted(y, u, x, np.stack([second[t, :, t] for t in range(T)]),
                      np.stack([second[t, :, t - 1] for t in range(1, T)]))  # fmt: skip
    return Run(tuple(trace), p)


def _refitted(y: Array, u: Array, x: Array, own: Array, back: Array) -> Many:
    """Regressions on moments: own[t] = E x[t]x[t]ᵀ, back[t] = E x[t+1]x[t]ᵀ."""
    T, d = x.shape
    before = np.block([[own[:-1].sum(0), x[:-1].T @ u[1:]], [u[1:].T @ x[:-1], u[1:].T @ u[1:]]])
    across = np.concatenate([back.sum(0), x[1:].T @ u[1:]], 1)
    FB = np.linalg.solve(before, across.T).T
    Q = (own[1:].sum(0) - FB @ across.T) / (T - 1)
    H = np.linalg.solve(own.sum(0), x.T @ y).T
    return {
        "F": FB[:, :d], "B": FB[:, d:], "H": H, "Q": (Q + Q.T) / 2,
        "R": (y.T @ y - H @ x.T @ y) / T, "m1": x[0], "S1": own[0] - np.outer(x[0], x[0]),
    }  # fmt: skip


def shape_and_rate(x: Array) -> Run:
    """q(shape) q(rate) of gamma data, both priors gamma(1, 1): the bound over a grid."""
    n = len(x)

    def rate(mean: float) -> tuple[float, float]:
        return 1 + n * mean, 1 + float(x.sum())

    def value(a: float, b: float) -> float:
        law, mean = stats.gamma(a, scale=1 / b), a / b
        A, B = rate(mean)
        total = -mean - n * number_bound.mean_of(gammaln, law) + (mean - 1) * np.log(x).sum()
        return float(total + law.entropy() + gammaln(A) - A * np.log(B))

    best, (a, b) = number_bound.best(value, (4.0, 2.0))
    A, B = rate(a / b)
    return Run((float(best),), {"mean": np.array(a / b), "a": np.array(A), "b": np.array(B)})


def shares_of_counts(y: Array) -> Run:
    """Each row apart: one Gaussian over its logits, by quadrature and BFGS."""
    found = [shares.together(row) for row in y]
    return Run((float(sum(x[0] for x in found)),), {"m": np.stack([x[1] for x in found])})


def grouped(X: Array, y: Array, g: Any, groups: int) -> Run:
    """Logistic regression with an intercept a group, whose precision is unknown."""
    value, q = gaussian_bound.hierarchical(X, y, g, groups)
    return Run((float(value),), {"w": q["w"]["m"], "b": q["b"]["m"], "v": q["b"]["v"]})


def counts_on_a_walk(y: Array) -> Run:
    """q(h) one dense Gaussian, q(tau) a gamma: each at its best given the other, to the end."""
    T = len(y)
    D = np.diff(np.eye(T), axis=0)
    first = np.zeros((T, T))
    first[0, 0] = 0.1
    a, b, m, V = 1 + (T - 1) / 2, 1.0, np.log(y + 0.5), np.eye(T)
    for _ in range(400):
        P = first + a / b * D.T @ D

        def slope(x: Array, P: Array = P) -> Array:
            mean, log_v = x[:T], x[T:]
            rates = np.exp(mean + np.exp(log_v) / 2)
            own = np.diag(np.linalg.inv(P + np.diag(rates)))
            return np.concatenate([y - rates - P @ mean, np.log(own) - log_v])

        x = optimize.root(slope, np.concatenate([m, np.log(np.diag(V))]), tol=1e-14).x
        m = x[:T]
        V = np.linalg.inv(P + np.diag(np.exp(m + np.exp(x[T:]) / 2)))
        b = 1 + float(np.trace(D.T @ D @ (V + np.outer(m, m)))) / 2
    tau, log_tau = a / b, digamma(a) - np.log(b)
    level = float((y * m - np.exp(m + np.diag(V) / 2) - gammaln(y + 1)).sum())
    level -= (m[0] ** 2 + V[0, 0]) / 20 + np.log(2 * np.pi * 10) / 2
    level += (T - 1) * (log_tau - np.log(2 * np.pi)) / 2 - tau * (b - 1)
    level += (np.linalg.slogdet(V)[1] + T * np.log(2 * np.pi * np.e)) / 2
    level += float(stats.gamma(a, scale=1 / b).entropy()) - tau
    return Run((level,), {"m": m, "v": np.diag(V), "b": np.array(b)})
