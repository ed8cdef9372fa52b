"""A step of stochastic inference for topics: documents to their rounds, then the topics' own λ."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.axes.kernels.common import FAST, exp, psi
from benchmarks.axes.kernels.documents import some


@njit(**FAST)
def table(lam, eb):
    """exp(ψ(λ) − ψ(Σ_v λ)), word by word."""
    V, K = lam.shape
    total = np.zeros(K)
    for v in range(V):
        for k in range(K):
            total[k] += lam[v, k]
    for k in range(K):
        total[k] = psi(total[k])
    for v in range(V):
        for k in range(K):
            eb[v, k] = exp(psi(lam[v, k]) - total[k])


@njit(**FAST)
def step(ptr, word, count, first, last, rounds, alpha, eta, rho, lam, eb, g0, gam, ss):
    """One batch: documents from the first to before the last."""
    table(lam, eb)
    ss[:] = 0.0
    some(ptr, word, count, eb, g0, alpha, rounds, 0.0, first, last, gam, ss)
    scale = (ptr.size - 1) / (last - first)
    V, K = lam.shape
    for v in range(V):
        for k in range(K):
            lam[v, k] = (1 - rho) * lam[v, k] + rho * (eta + scale * ss[v, k])
