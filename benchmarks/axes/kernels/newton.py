"""A step of Newton's method: loops for small matrices, LAPACK's factor for large ones."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from benchmarks.axes.kernels.common import FAST

LARGE = 24


@njit(**FAST)
def factored(A, L):
    """L Lᵀ = A, row by row."""
    for i in range(A.shape[0]):
        for j in range(i):
            s = A[i, j]
            for e in range(j):
                s -= L[i, e] * L[j, e]
            L[i, j] = s / L[j, j]
        s = A[i, i]
        for e in range(i):
            s -= L[i, e] * L[i, e]
        L[i, i] = math.sqrt(s)


@njit(**FAST)
def substituted(L, x):
    """x ← L⁻ᵀ L⁻¹ x, along rows of L both times."""
    for i in range(x.size):
        s = x[i]
        for e in range(i):
            s -= L[i, e] * x[e]
        x[i] = s / L[i, i]
    for i in range(x.size - 1, -1, -1):
        v = x[i] / L[i, i]
        x[i] = v
        for e in range(i):
            x[e] -= v * L[i, e]


@njit(**FAST)
def newton(g, H, w, w_next):
    """w − H⁻¹ g."""
    d = w.size
    if d >= LARGE:
        L = np.linalg.cholesky(H)
    else:
        L = np.empty((d, d))
        factored(H, L)
    x = g.copy()
    substituted(L, x)
    for i in range(d):
        w_next[i] = w[i] - x[i]
