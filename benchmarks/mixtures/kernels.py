"""Steps by hand, in Numba: what the emitted ones are held against.

The ensemble of Newton methods takes factors of all precisions once, LAPACK's; log q and its
derivatives at every mean by log-sum-exp; the new precisions, their factors, and the means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = Any


@njit(fastmath=True)  # type: ignore[untyped-decorator]
def _solved(L: Array, b: Array) -> Array:
    d = len(b)
    x = b.copy()
    for i in range(d):
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]
    for i in range(d - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]
    return x


@njit(fastmath=True)  # type: ignore[untyped-decorator]
def delta_step(
    m: Array, S: Array, pi: Array, g: Array, H: Array, loss: Array, rho: float
) -> tuple[Array, Array, Array]:
    """S, m and π of all components after a step, all of the old q."""
    K, d = m.shape
    volume = np.empty(K)
    for k in range(K):
        L = np.linalg.cholesky(S[k])
        volume[k] = 0.0
        for i in range(d):
            volume[k] += np.log(L[i, i])
    S_next, m_next, level = np.empty_like(S), np.empty_like(m), np.empty(K)
    pulls, logs = np.empty((K, d)), np.empty(K)
    for k in range(K):
        for j in range(K):
            off = m[k] - m[j]
            pulls[j] = S[j] @ off
            logs[j] = np.log(pi[j]) + volume[j] - (off @ pulls[j]) / 2
        top = logs.max()
        shares = np.exp(logs - top)
        total = shares.sum()
        level[k] = top + np.log(total) - d * np.log(2 * np.pi) / 2
        shares /= total
        slope = np.zeros(d)
        for j in range(K):
            for i in range(d):
                slope[i] -= shares[j] * pulls[j, i]
        new = S_next[k]
        for i in range(d):
            for c in range(d):
                new[i, c] = S[k, i, c] + rho * (H[k, i, c] - slope[i] * slope[c])
        for j in range(K):
            share = rho * shares[j]
            for i in range(d):
                for c in range(d):
                    new[i, c] += share * (pulls[j, i] * pulls[j, c] - S[j, i, c])
        m_next[k] = m[k] - rho * _solved(np.linalg.cholesky(new), g[k] + slope)
    w = pi * np.exp(-rho * (level + loss - (level + loss).min()))
    return m_next, S_next, w / w.sum()
