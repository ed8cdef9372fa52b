"""EM step of factor analysis from the scatter matrix: two small systems, one product with S."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.axes.kernels.common import FAST
from benchmarks.axes.kernels.newton import factored


@njit(**FAST)
def solved(L, B):
    """B ← L⁻ᵀ L⁻¹ B, along rows of B."""
    for i in range(L.shape[0]):
        for e in range(i):
            v = L[i, e]
            for j in range(B.shape[1]):
                B[i, j] -= v * B[e, j]
        v = 1.0 / L[i, i]
        for j in range(B.shape[1]):
            B[i, j] *= v
    for i in range(L.shape[0] - 1, -1, -1):
        v = 1.0 / L[i, i]
        for j in range(B.shape[1]):
            B[i, j] *= v
        for e in range(i):
            v = L[i, e]
            for j in range(B.shape[1]):
                B[e, j] -= v * B[i, j]


@njit(**FAST)
def products(A, B, out):
    """Out = A Bᵀ: rows of both lie together."""
    for a in range(A.shape[0]):
        left = A[a]
        for b in range(B.shape[0]):
            right, s = B[b], 0.0
            for i in range(left.size):
                s += left[i] * right[i]
            out[a, b] = s


@njit(**FAST)
def factor(S, W, psi, N, W_next, psi_next):
    """G = I + Wᵀ Ψ⁻¹ W, β = G⁻¹ Wᵀ Ψ⁻¹, C = β S, W ← Cᵀ (N G⁻¹ + C βᵀ)⁻¹."""
    d, q = W.shape
    beta, G, L, inverse = np.empty((q, d)), np.empty((q, q)), np.empty((q, q)), np.zeros((q, q))
    scatter, columns = np.empty((q, d)), np.empty((q, d))
    for i in range(d):
        v = 1.0 / psi[i]
        for a in range(q):
            columns[a, i] = W[i, a]
            beta[a, i] = W[i, a] * v
    products(beta, columns, G)
    for a in range(q):
        G[a, a] += 1.0
        inverse[a, a] = N
    factored(G, L)
    solved(L, beta)
    solved(L, inverse)
    products(beta, S, scatter)
    products(scatter, beta, G)
    for a in range(q):
        for b in range(q):
            G[a, b] += inverse[a, b]
    factored(G, L)
    columns[:] = scatter
    solved(L, columns)
    for i in range(d):
        s = S[i, i]
        for a in range(q):
            s -= columns[a, i] * scatter[a, i]
            W_next[i, a] = columns[a, i]
        psi_next[i] = s / N
