"""Hidden Markov chains: forward, backward and expected transitions, scaled at every step."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from benchmarks.axes.kernels.common import FAST, exp

INLINED = FAST | {"inline": "always"}


@njit(**INLINED)
def forward(pi, A, B, al, scale, K):
    """α_t ∝ (Aᵀ α_{t−1}) B_t with 1/s_t; return Σ log s_t."""
    a, w = np.empty(K), np.empty(K)
    s, p, total = 0.0, 1.0, 0.0
    for k in range(K):
        a[k] = pi[k] * B[0, k]
        s += a[k]
    for t in range(B.shape[0]):
        if t > 0:
            for k in range(K):
                w[k] = 0.0
            for j in range(K):
                u = a[j]
                for k in range(K):
                    w[k] += u * A[j, k]
            s = 0.0
            for k in range(K):
                a[k] = w[k] * B[t, k]
                s += a[k]
        r = 1.0 / s
        scale[t] = r
        for k in range(K):
            a[k] *= r
            al[t, k] = a[k]
        p *= s
        if p > 1e200 or p < 1e-200:
            total += math.log(p)
            p = 1.0
    return total + math.log(p)


def _forward_backward(pi, A, B, L, ga, xi, K):
    T = B.shape[0]
    al, scale = np.empty((T, K)), np.empty(T)
    w, b = np.empty(K), np.ones(K)
    L[()] = forward(pi, A, B, al, scale, K)
    xi[:] = 0.0
    for k in range(K):
        ga[T - 1, k] = al[T - 1, k]
    for t in range(T - 1, 0, -1):
        r = scale[t]
        for k in range(K):
            w[k] = B[t, k] * b[k] * r
        for j in range(K):
            u, v = al[t - 1, j], 0.0
            for k in range(K):
                v += A[j, k] * w[k]
                xi[j, k] += u * w[k]
            b[j] = v
            ga[t - 1, j] = u * v
    for j in range(K):
        for k in range(K):
            xi[j, k] *= A[j, k]


@njit(**INLINED)
def counted(x, pi, A, rate, al, E, scale, K):
    """The same with E_t = exp(l_t − max l_t) for l_t = x_t log λ − λ, made on the way."""
    a, w, lr = np.empty(K), np.empty(K), np.log(rate)
    p, total = 1.0, 0.0
    for t in range(x.size):
        top = -np.inf
        for k in range(K):
            w[k] = x[t] * lr[k] - rate[k]
            top = max(top, w[k])
        total += top
        for k in range(K):
            E[t, k] = exp(w[k] - top)
            w[k] = pi[k] if t == 0 else 0.0
        if t > 0:
            for j in range(K):
                u = a[j]
                for k in range(K):
                    w[k] += u * A[j, k]
        s = 0.0
        for k in range(K):
            a[k] = w[k] * E[t, k]
            s += a[k]
        r = 1.0 / s
        scale[t] = r
        for k in range(K):
            a[k] *= r
            al[t, k] = a[k]
        p *= s
        if p > 1e200 or p < 1e-200:
            total += math.log(p)
            p = 1.0
    return total + math.log(p)


def _poisson_chain(x, pi, A, rate, L, p0, xi, n, sx, K):
    T = x.size
    al, E, scale = np.empty((T, K)), np.empty((T, K)), np.empty(T)
    w, b = np.empty(K), np.ones(K)
    L[()] = counted(x, pi, A, rate, al, E, scale, K)
    xi[:] = 0.0
    for k in range(K):
        n[k] = al[T - 1, k]
        sx[k] = al[T - 1, k] * x[T - 1]
        p0[k] = al[T - 1, k]
    for t in range(T - 1, 0, -1):
        r, y = scale[t], x[t - 1]
        for k in range(K):
            w[k] = E[t, k] * b[k] * r
        for j in range(K):
            u, v = al[t - 1, j], 0.0
            for k in range(K):
                v += A[j, k] * w[k]
                xi[j, k] += u * w[k]
            b[j] = v
            p0[j] = u * v
            n[j] += p0[j]
            sx[j] += p0[j] * y
    for j in range(K):
        for k in range(K):
            xi[j, k] *= A[j, k]


_forward_backward_of = njit(**FAST)(_forward_backward)
_poisson_chain_of = njit(**FAST)(_poisson_chain)


@njit(**FAST)
def forward_backward(pi, A, B, L, ga, xi):
    """Any number of states."""
    _forward_backward_of(pi, A, B, L, ga, xi, pi.size)


@njit(**FAST)
def poisson_chain(x, pi, A, rate, L, p0, xi, n, sx):
    """Any number of states, with Poisson counts; the sums of an EM step."""
    _poisson_chain_of(x, pi, A, rate, L, p0, xi, n, sx, pi.size)


@cache
def fixed(K: int) -> Any:
    """Forward and backward for this number of states."""
    inner = njit(inline="always", **FAST)(_forward_backward)

    @njit(**FAST)
    def forward_backward(pi, A, B, L, ga, xi):
        inner(pi, A, B, L, ga, xi, K)

    return forward_backward


@cache
def fixed_poisson(K: int) -> Any:
    """The chain with counts for this number of states."""
    inner = njit(inline="always", **FAST)(_poisson_chain)

    @njit(**FAST)
    def poisson_chain(x, pi, A, rate, L, p0, xi, n, sx):
        inner(x, pi, A, rate, L, p0, xi, n, sx, K)

    return poisson_chain
