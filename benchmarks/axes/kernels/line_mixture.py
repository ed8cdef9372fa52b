"""Mixture of Gaussians on the line: responsibilities and their sums, in blocks of rows."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.axes.kernels.common import BLOCK, FAST, THREADS, normalised, parts


@njit(**FAST)
def rows(x, mu, tau, lc, first, last, nk, s1, s2):
    """Add the sums of these rows; return their log-likelihood."""
    K, L = mu.size, 0.0
    xb, lp, mx, total = np.empty(BLOCK), np.empty((K, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    for n in range(first, last, BLOCK):
        m = min(BLOCK, last - n)
        xb[:m], xb[m:] = x[n : n + m], 0.0
        for k in range(K):
            q, centre, scale, constant = lp[k], mu[k], -0.5 * tau[k], lc[k]
            for b in range(BLOCK):
                dx = xb[b] - centre
                q[b] = constant + scale * dx * dx
        L += normalised(lp, m, mx, total)
        for k in range(K):
            q, t0, t1, t2 = lp[k], 0.0, 0.0, 0.0
            for b in range(BLOCK):
                z = q[b] * xb[b]
                t0 += q[b]
                t1 += z
                t2 += z * xb[b]
            nk[k] += t0
            s1[k] += t1
            s2[k] += t2
    return L


@njit(**FAST)
def line_mixture(x, mu, tau, lc, nk, s1, s2, L):
    """Sums over all rows, one thread."""
    nk[:], s1[:], s2[:] = 0.0, 0.0, 0.0
    L[()] = rows(x, mu, tau, lc, 0, x.size, nk, s1, s2)


@njit(**THREADS)
def _threads(x, mu, tau, lc, nk, s1, s2, L, C):
    N, K = x.size, mu.size
    each = ((N + C - 1) // C + BLOCK - 1) // BLOCK * BLOCK
    nks, s1s, s2s, Ls = np.zeros((C, K)), np.zeros((C, K)), np.zeros((C, K)), np.zeros(C)
    for c in prange(C):
        last = min(N, (c + 1) * each)
        Ls[c] = rows(x, mu, tau, lc, c * each, last, nks[c], s1s[c], s2s[c])
    nk[:], s1[:], s2[:], L[()] = nks.sum(0), s1s.sum(0), s2s.sum(0), Ls.sum()


def line_mixture_threads(x, mu, tau, lc, nk, s1, s2, L):
    """Sums over all rows, in parts."""
    _threads(x, mu, tau, lc, nk, s1, s2, L, parts(len(x)))
