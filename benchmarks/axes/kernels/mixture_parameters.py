"""M-step of a Gaussian mixture: a Cholesky factor and its inverse for each component."""

from __future__ import annotations

import math

from numba import njit

from benchmarks.axes.kernels.common import FAST


@njit(**FAST)
def inverse_factor(S, P):
    """Overwrite the lower half of S by L with L Lᵀ = S, and P by L⁻¹; return log det S."""
    d, logdet = S.shape[0], 0.0
    for i in range(d):
        for j in range(i):
            s = S[i, j]
            for e in range(j):
                s -= S[i, e] * S[j, e]
            S[i, j] = s / S[j, j]
        s = S[i, i]
        for e in range(i):
            s -= S[i, e] * S[i, e]
        S[i, i] = math.sqrt(s)
        logdet += 2.0 * math.log(S[i, i])
    for i in range(d):
        inverse = 1.0 / S[i, i]
        P[i, : i + 1] = 0.0
        for j in range(i):
            w = S[i, j]
            for e in range(j + 1):
                P[i, e] -= w * P[j, e]
        for e in range(i):
            P[i, e] *= inverse
        P[i, i] = inverse
        P[i, i + 1 :] = 0.0
    return logdet


@njit(**FAST)
def mixture_parameters(nk, s1, s2, reg, mu, P, lc):
    """μ = s₁/n, Σ = s₂/n − μ μᵀ + reg I, P = chol(Σ)⁻¹, and the constant of the log density."""
    K, d = s1.shape
    N = nk.sum()
    S = s2[0].copy()
    for k in range(K):
        weight = 1.0 / nk[k]
        for i in range(d):
            mu[k, i] = weight * s1[k, i]
            for j in range(i + 1):
                S[i, j] = weight * s2[k, i, j] - mu[k, i] * mu[k, j]
            S[i, i] += reg
        logdet = inverse_factor(S, P[k])
        lc[k] = math.log(nk[k] / N) - 0.5 * (d * math.log(2.0 * math.pi) + logdet)
