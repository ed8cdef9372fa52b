"""EM by hand: each generator gives the log-likelihood before every step, then its points."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def mixture(x, pi, mu, S):
    """Gaussians with full covariances S."""
    while True:
        lp = np.stack([np.log(p) + multivariate_normal(m, s).logpdf(x)
                       for p, m, s in zip(pi, mu, S, strict=True)], 1)  # fmt: skip
        yield logsumexp(lp, axis=1).sum(), {"pi": pi, "mu": mu, "S": S}
        r = np.exp(lp - logsumexp(lp, axis=1, keepdims=True))
        n = r.sum(0)
        pi, mu = n / n.sum(), r.T @ x / n[:, None]
        S = np.stack([(r[:, k, None] * (x - mu[k])).T @ (x - mu[k]) / n[k] for k in range(len(n))])


def hidden_markov(x, pi, P, mu, v):
    """Normal emissions; sums over paths in logarithms."""
    T, K = len(x), len(pi)
    while True:
        own = -((x[:, None] - mu) ** 2) / (2 * v) - np.log(2 * np.pi * v) / 2
        forward, backward = np.zeros((T, K)), np.zeros((T, K))
        with np.errstate(divide="ignore"):
            log_pi = np.log(pi)
        forward[0] = log_pi + own[0]
        for t in range(1, T):
            forward[t] = logsumexp(forward[t - 1][:, None] + np.log(P), axis=0) + own[t]
        for t in range(T - 2, -1, -1):
            backward[t] = logsumexp(np.log(P) + own[t + 1] + backward[t + 1], axis=1)
        total = logsumexp(forward[-1])
        r = np.exp(forward + backward - total)
        yield total, {"pi": pi, "P": P, "mu": mu, "v": v}
        both = np.exp(forward[:-1, :, None] + np.log(P) + (own + backward)[1:, None, :] - total)
        pi, P = r[0], both.sum(0) / both.sum((0, 2))[:, None]
        mu = r.T @ x / r.sum(0)
        v = (r * (x[:, None] - mu) ** 2).sum(0) / r.sum(0)


def factors(x, W, mu, psi):
    """Factor analysis: W and mu from one regression on (h, 1), then psi."""
    n = len(x)
    q = W.shape[1]
    while True:
        whole = W @ W.T + np.diag(psi)
        yield multivariate_normal(mu, whole).logpdf(x).sum(), {"W": W, "mu": mu, "psi": psi}
        C = np.linalg.inv(np.eye(q) + W.T @ (W / psi[:, None]))
        h = (x - mu) / psi @ W @ C
        one = np.concatenate([h, np.ones((n, 1))], 1)
        second = one.T @ one
        second[:q, :q] += n * C
        both = np.linalg.solve(second, one.T @ x).T
        W, mu = both[:, :q], both[:, q]
        psi = (np.einsum("ni,ni->i", x, x) - np.einsum("ij,jk,ik->i", both, second, both)) / n


def poisson_mixture(x, pi, rate):
    """Counts; their factorials too."""
    from scipy.stats import poisson

    while True:
        lp = np.log(pi) + poisson(rate).logpmf(x[:, None])
        yield logsumexp(lp, axis=1).sum(), {"pi": pi, "rate": rate}
        r = np.exp(lp - logsumexp(lp, axis=1, keepdims=True))
        pi, rate = r.mean(0), r.T @ x / r.sum(0)


def gamma_mixture(x, pi, a, b):
    """Shapes where log a − ψ(a) is log E[x] − E[log x]."""
    from scipy.optimize import brentq
    from scipy.special import digamma
    from scipy.stats import gamma

    while True:
        lp = np.log(pi) + gamma(a, scale=1 / b).logpdf(x[:, None])
        yield logsumexp(lp, axis=1).sum(), {"pi": pi, "a": a, "b": b}
        r = np.exp(lp - logsumexp(lp, axis=1, keepdims=True))
        mean, mean_log = r.T @ x / r.sum(0), r.T @ np.log(x) / r.sum(0)
        gap = np.log(mean) - mean_log
        a = np.array([brentq(lambda y, g=g: np.log(y) - digamma(y) - g, 1e-3, 1e4, xtol=1e-13)
                      for g in gap])  # fmt: skip
        pi, b = r.mean(0), a / mean
