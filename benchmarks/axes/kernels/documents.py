"""Topics of ragged documents by fixed-point rounds, and the expected counts of words.

The topics of a document's words are gathered once, into rows padded to whole vectors.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.axes.kernels.common import FAST, THREADS, exp, psi

VECTOR = 8  # numbers


@njit(**FAST)
def expected(g, K, theta):
    """θ = exp(ψ(γ) − ψ(Σ γ)) for the first K, and 0 behind them."""
    s = 0.0
    for k in range(K):
        s += g[k]
    p = psi(s)
    for k in range(theta.size):
        theta[k] = exp(psi(g[k]) - p)
    theta[K:] = 0.0


@njit(**FAST)
def weighted(beta, c, theta, q):
    """q_w = c_w/(θ·β_w)."""
    for i in range(q.size):
        row, z = beta[i], 0.0
        for k in range(theta.size):
            z += row[k] * theta[k]
        q[i] = c[i] / z


@njit(**FAST)
def round_(beta, c, theta, alpha, K, g, new):
    """One round of the fixed point; return the sum of changes of γ."""
    new[:] = 0.0
    for i in range(c.size):
        row, z = beta[i], 0.0
        for k in range(theta.size):
            z += row[k] * theta[k]
        q = c[i] / z
        for k in range(theta.size):
            new[k] += q * row[k]
    change = 0.0
    for k in range(K):
        v = alpha + theta[k] * new[k]
        change += abs(v - g[k])
        g[k] = v
    expected(g, K, theta)
    return change


@njit(**FAST)
def some(ptr, word, count, eb, g0, alpha, rounds, tol, first, last, gam, ss):
    """Documents from the first to before the last; their expected counts are added."""
    K = eb.shape[1]
    padded = (K + VECTOR - 1) // VECTOR * VECTOR
    most = 0
    for d in range(first, last):
        most = max(most, ptr[d + 1] - ptr[d])
    rows, q = np.zeros((most, padded)), np.empty(most)
    g, theta, new = np.ones(padded), np.empty(padded), np.empty(padded)
    for d in range(first, last):
        lo, hi = ptr[d], ptr[d + 1]
        c, beta = count[lo:hi], rows[: hi - lo]
        for i in range(hi - lo):
            beta[i, :K] = eb[word[lo + i]]
        g[:K] = g0[d]
        expected(g, K, theta)
        for _ in range(rounds):
            if round_(beta, c, theta, alpha, K, g, new) < tol * K:
                break
        gam[d] = g[:K]
        weighted(beta, c, theta, q[: hi - lo])
        for i in range(hi - lo):
            out, row, v = ss[word[lo + i]], beta[i], q[i]
            for k in range(K):
                out[k] += v * row[k] * theta[k]


@njit(**FAST)
def documents(ptr, word, count, eb, g0, alpha, rounds, tol, gam, ss):
    """All documents, one thread."""
    ss[:] = 0.0
    some(ptr, word, count, eb, g0, alpha, rounds, tol, 0, ptr.size - 1, gam, ss)


@njit(**THREADS)
def _threads(ptr, word, count, eb, g0, alpha, rounds, tol, gam, ss, C):
    D = ptr.size - 1
    sums = np.zeros((C, eb.shape[0], eb.shape[1]))
    for c in prange(C):
        first, last = c * D // C, (c + 1) * D // C
        some(ptr, word, count, eb, g0, alpha, rounds, tol, first, last, gam, sums[c])
    ss[:] = sums[0]
    for c in range(1, C):
        ss += sums[c]


def documents_threads(ptr, word, count, eb, g0, alpha, rounds, tol, gam, ss):
    """All documents, in four parts: each has expected counts of its own."""
    _threads(ptr, word, count, eb, g0, alpha, rounds, tol, gam, ss, min(4, len(ptr) - 1))
