"""Kalman filter and Rauch–Tung–Striebel smoother in loops; S = C D Cᵀ without roots.

Logarithms of determinants are one running product, whose log is taken before it leaves the
range of doubles.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from benchmarks.axes.kernels.common import FAST

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def _predicted(F, Q, x, P, ahead, FP, Pa, n):
    """x⁻ = F x and P⁻ = F P Fᵀ + Q; F P is kept."""
    for i in range(n):
        s = 0.0
        for e in range(n):
            s += F[i, e] * x[e]
        ahead[i] = s
        for j in range(n):
            s = 0.0
            for e in range(n):
                s += F[i, e] * P[j, e]
            FP[i, j] = s
    for i in range(n):
        for j in range(i + 1):
            s = Q[i, j]
            for e in range(n):
                s += FP[i, e] * F[j, e]
            Pa[i, j] = s
            Pa[j, i] = s


def _factored(S, C, n):
    """C D Cᵀ = S without roots: 1/D on the diagonal of C, the unit factor below it, D C above.

    Return det S.
    """
    det = 1.0
    for i in range(n):
        for j in range(i):
            s = S[i, j]
            for e in range(j):
                s -= C[e, i] * C[j, e]
            C[j, i] = s
            C[i, j] = s * C[j, j]
        s = S[i, i]
        for e in range(i):
            s -= C[e, i] * C[i, e]
        det *= s
        C[i, i] = 1.0 / s
    return det


def _corrected(H, R, y, ahead, Pa, W, S, C, v, x, P, Z, n, m):
    """Condition on one observation, with W = P⁻ Hᵀ C⁻ᵀ and Z = W D⁻¹.

    Return v·S⁻¹ v and det S.
    """
    for i in range(m):
        s = y[i]
        for e in range(n):
            s -= H[i, e] * ahead[e]
        v[i] = s
        for j in range(n):
            s = 0.0
            for e in range(n):
                s += Pa[j, e] * H[i, e]
            W[j, i] = s
    for i in range(m):
        for j in range(i + 1):
            s = R[i, j]
            for e in range(n):
                s += W[e, i] * H[j, e]
            S[i, j] = s
    det, square = factor(S, C, m), 0.0
    for i in range(m):
        u, s = C[i, i], v[i]
        for e in range(i):
            s -= C[i, e] * v[e]
        v[i] = s
        square += s * s * u
        for j in range(n):
            s = W[j, i]
            for e in range(i):
                s -= C[i, e] * W[j, e]
            W[j, i] = s
            Z[j, i] = s * u
    for i in range(n):
        s = ahead[i]
        for e in range(m):
            s += Z[i, e] * v[e]
        x[i] = s
        for j in range(i + 1):
            s = Pa[i, j]
            for e in range(m):
                s -= Z[i, e] * W[j, e]
            P[i, j] = s
            P[j, i] = s
    return square, det


def _gain(FP, Pa, C, G, n):
    """Overwrite F P by (P⁻)⁻¹ F P, the transposed gain, along its rows; then store G."""
    factor(Pa, C, n)
    for i in range(n):
        for e in range(i):
            v = C[i, e]
            for j in range(n):
                FP[i, j] -= v * FP[e, j]
    for i in range(n - 1, -1, -1):
        v = C[i, i]
        for j in range(n):
            FP[i, j] *= v
        for e in range(i + 1, n):
            v = C[e, i]
            for j in range(n):
                FP[i, j] -= v * FP[e, j]
    for i in range(n):
        for j in range(n):
            G[i, j] = FP[j, i]


def _smoothed(G, ahead, Pa, after, Psa, x, P, D, A, n):
    """Overwrite x, P by x + G (x′ − x⁻), P + G (P′ − P⁻) Gᵀ."""
    for i in range(n):
        for j in range(n):
            D[i, j] = Psa[i, j] - Pa[i, j]
    for i in range(n):
        s = x[i]
        for e in range(n):
            s += G[i, e] * (after[e] - ahead[e])
        x[i] = s
        for j in range(n):
            s = 0.0
            for e in range(n):
                s += G[i, e] * D[j, e]
            A[i, j] = s
    for i in range(n):
        for j in range(i + 1):
            s = P[i, j]
            for e in range(n):
                s += A[i, e] * G[j, e]
            P[i, j] = s
            P[j, i] = s


INLINED = FAST | {"inline": "always"}
factor = njit(**INLINED)(_factored)
predict = njit(**INLINED)(_predicted)
correct = njit(**INLINED)(_corrected)
gain = njit(**INLINED)(_gain)
smooth = njit(**INLINED)(_smoothed)


def _kalman(F, H, Q, R, y, m0, P0, means, P, L, n, m):
    x, ahead, FP, Pa = m0.copy(), m0.copy(), np.empty((n, n)), P0.copy()
    W, S, C, v = np.empty((n, m)), np.empty((m, m)), np.empty((m, m)), np.empty(m)
    Z = np.empty((n, m))
    squares, p, logs = 0.0, 1.0, 0.0
    for t in range(y.shape[0]):
        if t > 0:
            predict(F, Q, x, P, ahead, FP, Pa, n)
        square, det = correct(H, R, y[t], ahead, Pa, W, S, C, v, x, P, Z, n, m)
        squares += square
        p *= det
        if p > 1e200 or p < 1e-200:
            logs += math.log(p)
            p = 1.0
        for i in range(n):
            means[t, i] = x[i]
    L[()] = -0.5 * (squares + logs + math.log(p)) - y.size * HALF_LOG_TAU


def _smoother(F, H, Q, R, y, m0, P0, ms, Ps, L, n, m):
    T = y.shape[0]
    aheads, Pas, Gs = np.empty((T, n)), np.empty((T, n, n)), np.empty((T, n, n))
    FP, A = np.empty((n, n)), np.empty((n, n))
    W, S, C, v = np.empty((n, m)), np.empty((m, m)), np.empty((m, m)), np.empty(m)
    Z = np.empty((n, m))
    D = np.empty((n, n))
    squares, p, logs = 0.0, 1.0, 0.0
    aheads[0] = m0
    Pas[0] = P0
    for t in range(T):
        if t > 0:
            predict(F, Q, ms[t - 1], Ps[t - 1], aheads[t], FP, Pas[t], n)
            gain(FP, Pas[t], D, Gs[t], n)
        square, det = correct(H, R, y[t], aheads[t], Pas[t], W, S, C, v, ms[t], Ps[t], Z, n, m)
        squares += square
        p *= det
        if p > 1e200 or p < 1e-200:
            logs += math.log(p)
            p = 1.0
    L[()] = -0.5 * (squares + logs + math.log(p)) - y.size * HALF_LOG_TAU
    for t in range(T - 2, -1, -1):
        u = t + 1
        smooth(Gs[u], aheads[u], Pas[u], ms[u], Ps[u], ms[t], Ps[t], D, A, n)


_kalman_of = njit(**INLINED)(_kalman)
_smoother_of = njit(**INLINED)(_smoother)


@njit(**FAST)
def kalman(F, H, Q, R, y, m0, P0, m, P, L):
    """Any sizes: filtered means, the last covariance, log-likelihood."""
    _kalman_of(F, H, Q, R, y, m0, P0, m, P, L, F.shape[0], H.shape[0])


@njit(**FAST)
def smoother(F, H, Q, R, y, m0, P0, ms, Ps, L):
    """Any sizes: smoothed means and covariances, log-likelihood."""
    _smoother_of(F, H, Q, R, y, m0, P0, ms, Ps, L, F.shape[0], H.shape[0])


@cache
def fixed_kalman(n: int, m: int) -> Any:
    """The filter for these sizes, in loops."""

    @njit(**FAST)
    def kalman(F, H, Q, R, y, m0, P0, means, P, L):
        _kalman_of(F, H, Q, R, y, m0, P0, means, P, L, n, m)

    return kalman


@cache
def fixed_smoother(n: int, m: int) -> Any:
    """The smoother for these sizes, in loops."""

    @njit(**FAST)
    def smoother(F, H, Q, R, y, m0, P0, ms, Ps, L):
        _smoother_of(F, H, Q, R, y, m0, P0, ms, Ps, L, n, m)

    return smoother
