"""Logistic loss over rows: value, gradient, squares, Hessian; by labels; on a minibatch.

Rows stay as they lie in memory.  Some hundreds of them are taken together, so that exp and log
run over a vector of rows while both products with the rows find them in the nearest cache.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.axes.kernels.common import BLOCK, FAST, THREADS, exp, log1p, mirrored, transposed

TOGETHER = BLOCK


@njit(**FAST)
def losses(z, y, e):
    """Put σ(z) − y into e; return Σ softplus(z) − y z."""
    f = 0.0
    for b in range(z.size):
        small = exp(-abs(z[b]))
        p = (1.0 if z[b] >= 0.0 else small) / (1.0 + small)
        e[b] = p - y[b]
        f += max(z[b], 0.0) + log1p(small) - y[b] * z[b]
    return f


@njit(**FAST)
def products(X, w, z):
    """z = X w."""
    for b in range(z.size):
        row, s = X[b], 0.0
        for j in range(w.size):
            s += row[j] * w[j]
        z[b] = s


@njit(**FAST)
def gradients(X, e, g, q):
    """Add Σ_b e x and Σ_b (e x)²."""
    for b in range(e.size):
        row, t = X[b], e[b]
        for j in range(g.size):
            v = t * row[j]
            g[j] += v
            q[j] += v * v


@njit(**FAST)
def rows(X, y, w, first, last, g, q):
    """Add the sums of these rows; return their loss."""
    z, e, f = np.empty(TOGETHER), np.empty(TOGETHER), 0.0
    for n in range(first, last, TOGETHER):
        m = min(TOGETHER, last - n)
        products(X[n : n + m], w, z[:m])
        f += losses(z[:m], y[n : n + m], e[:m])
        gradients(X[n : n + m], e[:m], g, q)
    return f


@njit(**FAST)
def logistic(X, y, w, f, g, q):
    """Sums over all rows, one thread."""
    g[:], q[:] = 0.0, 0.0
    f[()] = rows(X, y, w, 0, y.size, g, q)


@njit(**THREADS)
def _threads(X, y, w, f, g, q, C):
    N, d = X.shape
    fs, gs, qs = np.zeros(C), np.zeros((C, d)), np.zeros((C, d))
    for c in prange(C):
        fs[c] = rows(X, y, w, c * N // C, (c + 1) * N // C, gs[c], qs[c])
    f[()], g[:], q[:] = fs.sum(), gs.sum(0), qs.sum(0)


def logistic_threads(X, y, w, f, g, q):
    """Sums over all rows, in parts."""
    _threads(X, y, w, f, g, q, max(1, min(16, len(y) // 4096)))


@njit(**FAST)
def logistic_rows(X, y, w, rows, f, g, q):
    """Sums over the rows with these numbers."""
    z, e, yb = np.empty(TOGETHER), np.empty(TOGETHER), np.empty(TOGETHER)
    g[:], q[:] = 0.0, 0.0
    total = 0.0
    for n in range(0, rows.size, TOGETHER):
        m = min(TOGETHER, rows.size - n)
        for b in range(m):
            row, s = X[rows[n + b]], 0.0
            for j in range(w.size):
                s += row[j] * w[j]
            z[b], yb[b] = s, y[rows[n + b]]
        total += losses(z[:m], yb[:m], e[:m])
        for b in range(m):
            gradients(X[rows[n + b] : rows[n + b] + 1], e[b : b + 1], g, q)
    f[()] = total


@njit(**FAST)
def effects(X, y, lab, w, u, f, gw, gu):
    """The row's label has an effect of its own: z = X w + u[label]."""
    z, e = np.empty(TOGETHER), np.empty(TOGETHER)
    gw[:], gu[:] = 0.0, 0.0
    total = 0.0
    for n in range(0, y.size, TOGETHER):
        m = min(TOGETHER, y.size - n)
        products(X[n : n + m], w, z[:m])
        for b in range(m):
            z[b] += u[lab[n + b]]
        total += losses(z[:m], y[n : n + m], e[:m])
        for b in range(m):
            row, t = X[n + b], e[b]
            gu[lab[n + b]] += t
            for j in range(w.size):
                gw[j] += t * row[j]
    f[()] = total


@njit(**FAST)
def curvature(xb, h, hx, H):
    """Add Σ_b h x xᵀ below the diagonal, four columns in one loop over rows."""
    d, block = xb.shape
    for i in range(d):
        t = xb[i]
        for b in range(block):
            hx[b] = h[b] * t[b]
        whole = (i + 1) // 4 * 4
        for j in range(0, whole, 4):
            x0, x1, x2, x3 = xb[j], xb[j + 1], xb[j + 2], xb[j + 3]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for b in range(block):
                s0 += hx[b] * x0[b]
                s1 += hx[b] * x1[b]
                s2 += hx[b] * x2[b]
                s3 += hx[b] * x3[b]
            H[i, j] += s0
            H[i, j + 1] += s1
            H[i, j + 2] += s2
            H[i, j + 3] += s3
        for j in range(whole, i + 1):
            t, s = xb[j], 0.0
            for b in range(block):
                s += hx[b] * t[b]
            H[i, j] += s


@njit(**FAST)
def columns(xb, w, z):
    """z = X w from columns."""
    z[:] = 0.0
    for j in range(w.size):
        t, v = xb[j], w[j]
        for b in range(z.size):
            z[b] += v * t[b]


@njit(**FAST)
def column_gradients(xb, e, g, q):
    """Add Σ_b e x and Σ_b (e x)² from columns."""
    for j in range(g.size):
        t, s, s2 = xb[j], 0.0, 0.0
        for b in range(e.size):
            v = e[b] * t[b]
            s += v
            s2 += v * v
        g[j] += s
        q[j] += s2


@njit(**FAST)
def hessian_rows(X, y, w, first, last, g, q, H):
    """Add the sums of these rows, the Hessian below its diagonal; return their loss."""
    d, f = w.size, 0.0
    xb = np.empty((d, BLOCK))
    z, e, h, hx = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for n in range(first, last, BLOCK):
        m = min(BLOCK, last - n)
        transposed(X, n, m, xb)
        columns(xb, w, z)
        f += losses(z[:m], y[n : n + m], e[:m])
        for b in range(m):
            p = e[b] + y[n + b]
            h[b] = p * (1.0 - p)
        e[m:], h[m:] = 0.0, 0.0
        column_gradients(xb, e, g, q)
        curvature(xb, h, hx, H)
    return f


@njit(**FAST)
def logistic_hessian(X, y, w, f, g, q, H):
    """Sums over all rows, one thread."""
    g[:], q[:], H[:] = 0.0, 0.0, 0.0
    f[()] = hessian_rows(X, y, w, 0, y.size, g, q, H)
    mirrored(H)


@njit(**THREADS)
def _hessian_threads(X, y, w, f, g, q, H, C):
    N, d = X.shape
    fs, gs, qs, Hs = np.zeros(C), np.zeros((C, d)), np.zeros((C, d)), np.zeros((C, d, d))
    for c in prange(C):
        fs[c] = hessian_rows(X, y, w, c * N // C, (c + 1) * N // C, gs[c], qs[c], Hs[c])
    f[()], g[:], q[:], H[:] = fs.sum(), gs.sum(0), qs.sum(0), Hs.sum(0)
    mirrored(H)


def logistic_hessian_threads(X, y, w, f, g, q, H):
    """Sums over all rows, in parts."""
    _hessian_threads(X, y, w, f, g, q, H, max(1, min(16, len(y) // 1024)))
