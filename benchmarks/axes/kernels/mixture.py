"""Gaussian mixture with full covariances: responsibilities and their sums in one pass.

Rows are taken in blocks, transposed, so that the innermost loop runs over rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.axes.kernels.common import (
    BLOCK,
    FAST,
    THREADS,
    mirrored,
    normalised,
    parts,
    transposed,
)


@njit(**FAST)
def densities(xb, mu, P, lc, dx, y, q):
    """q_b = lc − ½ |P (x_b − μ)|² with P lower."""
    d, block = xb.shape
    q[:] = lc
    for i in range(d):
        t, s, centre = dx[i], xb[i], mu[i]
        for b in range(block):
            t[b] = s[b] - centre
    for i in range(d):
        y[:] = 0.0
        whole = (i + 1) // 4 * 4
        for j in range(0, whole, 4):
            w0, w1, w2, w3 = P[i, j], P[i, j + 1], P[i, j + 2], P[i, j + 3]
            t0, t1, t2, t3 = dx[j], dx[j + 1], dx[j + 2], dx[j + 3]
            for b in range(block):
                y[b] += w0 * t0[b] + w1 * t1[b] + w2 * t2[b] + w3 * t3[b]
        for j in range(whole, i + 1):
            w, t = P[i, j], dx[j]
            for b in range(block):
                y[b] += w * t[b]
        for b in range(block):
            q[b] -= 0.5 * y[b] * y[b]


@njit(**FAST)
def moments(r, xb, rx, s1, s2):
    """Add Σ_b r x and, below the diagonal, Σ_b r x xᵀ; return Σ_b r."""
    d, block = xb.shape
    s0 = 0.0
    for b in range(block):
        s0 += r[b]
    for i in range(d):
        t, s = xb[i], 0.0
        for b in range(block):
            z = r[b] * t[b]
            rx[b] = z
            s += z
        s1[i] += s
        whole = (i + 1) // 4 * 4
        for j in range(0, whole, 4):
            x0, x1, x2, x3 = xb[j], xb[j + 1], xb[j + 2], xb[j + 3]
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for b in range(block):
                t0 += rx[b] * x0[b]
                t1 += rx[b] * x1[b]
                t2 += rx[b] * x2[b]
                t3 += rx[b] * x3[b]
            s2[i, j] += t0
            s2[i, j + 1] += t1
            s2[i, j + 2] += t2
            s2[i, j + 3] += t3
        for j in range(whole, i + 1):
            t, s = xb[j], 0.0
            for b in range(block):
                s += rx[b] * t[b]
            s2[i, j] += s
    return s0


@njit(**FAST)
def rows(x, mu, P, lc, first, last, nk, s1, s2):
    """Add the sums of these rows below the diagonal; return their log-likelihood."""
    K, d = mu.shape
    xb, dx, lp = np.empty((d, BLOCK)), np.empty((d, BLOCK)), np.empty((K, BLOCK))
    y, mx, total = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    L = 0.0
    for n in range(first, last, BLOCK):
        m = min(BLOCK, last - n)
        transposed(x, n, m, xb)
        for k in range(K):
            densities(xb, mu[k], P[k], lc[k], dx, y, lp[k])
        L += normalised(lp, m, mx, total)
        for k in range(K):
            nk[k] += moments(lp[k], xb, y, s1[k], s2[k])
    return L


@njit(**FAST)
def mixture(x, mu, P, lc, nk, s1, s2, L):
    """Sums over all rows, one thread."""
    nk[:], s1[:], s2[:] = 0.0, 0.0, 0.0
    L[()] = rows(x, mu, P, lc, 0, x.shape[0], nk, s1, s2)
    for k in range(nk.size):
        mirrored(s2[k])


@njit(**THREADS)
def _threads(x, mu, P, lc, nk, s1, s2, L, C):
    N, d = x.shape
    K = nk.size
    each = ((N + C - 1) // C + BLOCK - 1) // BLOCK * BLOCK
    nks, s1s, s2s = np.zeros((C, K)), np.zeros((C, K, d)), np.zeros((C, K, d, d))
    Ls = np.zeros(C)
    for c in prange(C):
        last = min(N, (c + 1) * each)
        Ls[c] = rows(x, mu, P, lc, c * each, last, nks[c], s1s[c], s2s[c])
    nk[:], s1[:], s2[:], L[()] = nks.sum(0), s1s.sum(0), s2s.sum(0), Ls.sum()
    for k in range(K):
        mirrored(s2[k])


def mixture_threads(x, mu, P, lc, nk, s1, s2, L):
    """Sums over all rows, in parts."""
    _threads(x, mu, P, lc, nk, s1, s2, L, parts(len(x)))
