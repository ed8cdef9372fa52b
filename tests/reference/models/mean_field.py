"""Mean field by hand: each generator gives the ELBO before every step, then parameters of q."""

import numpy as np
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import gamma, norm


def mean_and_precision(x, m, v):
    """mu ~ N(0, 10), tau ~ gamma(1, 1), x ~ N(mu, 1/tau); tau first, then mu."""
    n = len(x)
    while True:
        a, b = 1 + n / 2, 1 + ((x - m) ** 2).sum() / 2 + n * v / 2
        log_tau, tau = digamma(a) - np.log(b), a / b
        value = n / 2 * (log_tau - np.log(2 * np.pi)) - tau * (((x - m) ** 2).sum() + n * v) / 2
        value += -np.log(20 * np.pi) / 2 - (m**2 + v) / 20 + norm(m, np.sqrt(v)).entropy()
        value += -tau + gamma(a, scale=1 / b).entropy()
        yield value, {"mu": {"m": m, "v": v}, "tau": {"a": a, "b": b}}
        v = 1 / (1 / 10 + n * tau)
        m = v * tau * x.sum()


def poisson_mixture(x, a, b, alpha, a0=1.0, b0=1.0):
    """pi ~ dirichlet(1), rate ~ gamma(a0, b0); the labels first, then rate, then pi."""
    K = len(a)
    while True:
        log_pi = digamma(alpha) - digamma(alpha.sum())
        log_rate, rate = digamma(a) - np.log(b), a / b
        lp = log_pi + x[:, None] * log_rate - rate - gammaln(x + 1)[:, None]
        value = logsumexp(lp, axis=1).sum() + gammaln(K)
        value -= (gammaln(alpha.sum()) - gammaln(alpha).sum()) + ((alpha - 1) * log_pi).sum()
        value += (a0 * np.log(b0) - gammaln(a0) + (a0 - 1) * log_rate - b0 * rate).sum()
        value += gamma(a, scale=1 / b).entropy().sum()
        yield value, {"rate": {"a": a, "b": b}, "pi": {"alpha": alpha}}
        r = np.exp(lp - logsumexp(lp, axis=1, keepdims=True))
        a, b = a0 + r.T @ x, b0 + r.sum(0)
        alpha = 1 + r.sum(0)


def topics(documents, lam, alpha, eta, rho, scale):
    """One step of stochastic variational inference; documents are lists of (word, count)."""
    K, V = lam.shape
    log_phi = digamma(lam) - digamma(lam.sum(1, keepdims=True))
    counts = np.zeros((K, V))
    for document in documents:
        g = np.ones(K)
        for _ in range(1000):
            log_theta = digamma(g) - digamma(g.sum())
            new = np.full(K, alpha)
            for w, c in document:
                lp = log_theta + log_phi[:, w]
                new = new + c * np.exp(lp - logsumexp(lp))
            moved, g = np.abs(new - g).sum(), new
            if moved < 1e-12:
                break
        log_theta = digamma(g) - digamma(g.sum())
        for w, c in document:
            lp = log_theta + log_phi[:, w]
            counts[:, w] += c * np.exp(lp - logsumexp(lp))
    return (1 - rho) * lam + rho * (eta + scale * counts)
