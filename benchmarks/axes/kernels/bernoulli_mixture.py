"""Mixture of Bernoulli vectors: responsibilities and their sums, in transposed blocks of rows."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.axes.kernels.common import BLOCK, FAST, THREADS, normalised, parts, transposed


@njit(**FAST)
def densities(xb, W, c, q):
    """q_b = c + Σ_j W_j x_bj, four j in one loop over rows."""
    d, block = xb.shape
    q[:] = c
    whole = d // 4 * 4
    for j in range(0, whole, 4):
        w0, w1, w2, w3 = W[j], W[j + 1], W[j + 2], W[j + 3]
        x0, x1, x2, x3 = xb[j], xb[j + 1], xb[j + 2], xb[j + 3]
        for b in range(block):
            q[b] += w0 * x0[b] + w1 * x1[b] + w2 * x2[b] + w3 * x3[b]
    for j in range(whole, d):
        w, t = W[j], xb[j]
        for b in range(block):
            q[b] += w * t[b]


@njit(**FAST)
def moments(r, xb, s1):
    """Add Σ_b r x, four components in one loop over rows; return Σ_b r."""
    d, block = xb.shape
    s0 = 0.0
    for b in range(block):
        s0 += r[b]
    whole = d // 4 * 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = xb[j], xb[j + 1], xb[j + 2], xb[j + 3]
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for b in range(block):
            t0 += r[b] * x0[b]
            t1 += r[b] * x1[b]
            t2 += r[b] * x2[b]
            t3 += r[b] * x3[b]
        s1[j] += t0
        s1[j + 1] += t1
        s1[j + 2] += t2
        s1[j + 3] += t3
    for j in range(whole, d):
        t, s = xb[j], 0.0
        for b in range(block):
            s += r[b] * t[b]
        s1[j] += s
    return s0


@njit(**FAST)
def rows(x, W, c, first, last, nk, s1):
    """Add the sums of these rows; return their log-likelihood."""
    K, d = W.shape
    xb, lp, mx, total = (
        np.empty((d, BLOCK)),
        np.empty((K, BLOCK)),
        np.empty(BLOCK),
        np.empty(BLOCK),
    )
    L = 0.0
    for n in range(first, last, BLOCK):
        m = min(BLOCK, last - n)
        transposed(x, n, m, xb)
        for k in range(K):
            densities(xb, W[k], c[k], lp[k])
        L += normalised(lp, m, mx, total)
        for k in range(K):
            nk[k] += moments(lp[k], xb, s1[k])
    return L


@njit(**FAST)
def bernoulli_mixture(x, W, c, nk, s1, L):
    """Sums over all rows, one thread."""
    nk[:], s1[:] = 0.0, 0.0
    L[()] = rows(x, W, c, 0, x.shape[0], nk, s1)


@njit(**THREADS)
def _threads(x, W, c, nk, s1, L, C):
    N, d = x.shape
    K = c.size
    each = ((N + C - 1) // C + BLOCK - 1) // BLOCK * BLOCK
    nks, s1s, Ls = np.zeros((C, K)), np.zeros((C, K, d)), np.zeros(C)
    for p in prange(C):
        Ls[p] = rows(x, W, c, p * each, min(N, (p + 1) * each), nks[p], s1s[p])
    nk[:], s1[:], L[()] = nks.sum(0), s1s.sum(0), Ls.sum()


def bernoulli_mixture_threads(x, W, c, nk, s1, L):
    """Sums over all rows, in parts."""
    _threads(x, W, c, nk, s1, L, parts(len(x)))
