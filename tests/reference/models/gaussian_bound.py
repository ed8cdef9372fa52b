"""Gaussian variational bounds maximised by a general optimiser, with a quadrature of its own.

log p(y, θ) = log N(θ; μ₀, P⁻¹) + Σ_n l_n(x_nᵀθ) and q = N(m, V): the bound is
Σ_n E[l_n(u)], u ~ N(x_nᵀm, x_nᵀVx_n), less KL(q ‖ prior).  Nothing here knows of natural
parameters: m and a triangular root of V are moved by BFGS with slopes from differences of u.
"""

import numpy as np
from numpy.polynomial.hermite import hermgauss
from scipy.optimize import minimize
from scipy.special import gammaln, log_ndtr

POINTS, WEIGHTS = hermgauss(120)
Z, W = POINTS * np.sqrt(2), WEIGHTS / np.sqrt(np.pi)


def logistic(y):
    return lambda u: y[:, None] * u - np.logaddexp(0, u)


def probit(y):
    return lambda u: log_ndtr((2 * y[:, None] - 1) * u)


def poisson(y, exposure=1.0):
    e = np.broadcast_to(exposure, y.shape)[:, None]
    return lambda u: y[:, None] * (u + np.log(e)) - e * np.exp(u) - gammaln(y + 1)[:, None]


def volatility(y):
    return lambda u: -(np.log(2 * np.pi) + u + y[:, None] ** 2 * np.exp(-u)) / 2


def bound(m, V, X, level, mean, precision):
    """The objective at N(m, V)."""
    u = (X @ m)[:, None] + np.sqrt(np.einsum("ni,ij,nj->n", X, V, X))[:, None] * Z
    far = m - mean
    kl = np.trace(precision @ V) + far @ precision @ far - len(m)
    kl -= np.linalg.slogdet(precision)[1] + np.linalg.slogdet(V)[1]
    return (level(u) @ W).sum() - kl / 2


def optimum(X, level, mean, precision):
    """(objective, m, V) at the maximum."""
    d = len(mean)
    low = np.tril_indices(d, -1)

    def apart(v):
        L = np.diag(np.exp(v[d : 2 * d]))
        L[low] = v[2 * d :]
        return v[:d], L

    def fall(v):
        m, L = apart(v)
        V = L @ L.T
        spread = np.sqrt(np.einsum("ni,ij,nj->n", X, V, X))[:, None]
        u, h = (X @ m)[:, None] + spread * Z, 1e-4
        by_mean = (level(u + h) - level(u - h)) @ W / (2 * h)  # E[l'], then E[l' z]/s
        by_spread = ((level(u + h) - level(u - h)) * Z) @ W / (2 * h) / spread[:, 0]
        gm = X.T @ by_mean - precision @ (m - mean)
        gL = (X.T * by_spread) @ X @ L - precision @ L + np.linalg.inv(L).T
        g = np.concatenate([gm, np.diag(gL) * np.diag(L), gL[low]])
        return -bound(m, V, X, level, mean, precision), -g

    start = np.concatenate([mean, -np.log(np.diag(precision)) / 2, np.zeros(len(low[0]))])
    found = minimize(fall, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 5000})
    m, L = apart(found.x)
    return -found.fun, m, L @ L.T


def evidence(level, v=1.0):
    """log ∫ exp(l(u)) N(u; 0, v) du, by the trapezoidal rule."""
    u = np.linspace(-12, 12, 20001) * np.sqrt(v)
    p = np.exp(level(u[None, :])[0] - u**2 / (2 * v)) / np.sqrt(2 * np.pi * v)
    return np.log(np.sum(p) * (u[1] - u[0]))


def hierarchical(x, y, g, groups):
    """(objective, {w, b, tau}) of q(w) Π q(b_k) q(tau), by BFGS with differences."""
    from scipy.special import digamma

    d = x.shape[1]
    low = np.tril_indices(d, -1)
    level = logistic(y)
    parts = np.cumsum([d, d, len(low[0]), groups, groups, 1])

    def apart(v):
        m, s, o, b, r, a, c = np.split(v, parts)
        L = np.diag(np.exp(s))
        L[low] = o
        return m, L @ L.T, b, np.exp(r), np.exp(a[0]), np.exp(c[0])

    def fall(v):
        m, V, b, r, a, c = apart(v)
        spread = np.sqrt(np.einsum("ni,ij,nj->n", x, V, x) + r[g])
        u = (x @ m + b[g])[:, None] + spread[:, None] * Z
        log_tau, tau = digamma(a) - np.log(c), a / c
        total = (level(u) @ W).sum() - tau
        total += -(m @ m + np.trace(V)) / 2 + np.linalg.slogdet(V)[1] / 2 + d / 2
        total += (groups * (log_tau + 1) - tau * (b @ b + r.sum()) + np.log(r).sum()) / 2
        return -(total + a - np.log(c) + gammaln(a) + (1 - a) * digamma(a))

    found = minimize(fall, np.zeros(parts[-1] + 1), method="BFGS",
                     options={"gtol": 1e-7, "maxiter": 5000})  # fmt: skip
    m, V, b, r, a, c = apart(found.x)
    w, tau = {"m": m, "S": np.linalg.inv(V)}, {"a": a, "b": c}
    return -found.fun, {"w": w, "b": {"m": b, "v": r}, "tau": tau}
