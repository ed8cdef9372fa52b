"""Kalman filter with four states and two observations, every entry a number of its own.

Vectors are tuples and matrices tuples of rows, so that nothing of a step is in memory but the
observation and the mean; of symmetric matrices one half is computed.
"""

from __future__ import annotations

import math

from numba import njit

from benchmarks.axes.kernels.common import FAST
from benchmarks.axes.kernels.states import HALF_LOG_TAU

INLINED = FAST | {"inline": "always"}


@njit(**INLINED)
def vector(a):
    """Four entries of an array."""
    return a[0], a[1], a[2], a[3]


@njit(**INLINED)
def dot(a, b):
    """a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@njit(**INLINED)
def rows(A, x):
    """A x, also for the rows of a symmetric matrix."""
    return dot(A[0], x), dot(A[1], x), dot(A[2], x), dot(A[3], x)


@njit(**INLINED)
def symmetric(a00, a10, a11, a20, a21, a22, a30, a31, a32, a33):
    """The rows of a symmetric matrix from its lower half."""
    return (
        (a00, a10, a20, a30),
        (a10, a11, a21, a31),
        (a20, a21, a22, a32),
        (a30, a31, a32, a33),
    )


@njit(**INLINED)
def sandwiched(A, F, Q):
    """A Fᵀ + Q, where it is symmetric."""
    return symmetric(
        Q[0][0] + dot(A[0], F[0]),
        Q[1][0] + dot(A[1], F[0]),
        Q[1][1] + dot(A[1], F[1]),
        Q[2][0] + dot(A[2], F[0]),
        Q[2][1] + dot(A[2], F[1]),
        Q[2][2] + dot(A[2], F[2]),
        Q[3][0] + dot(A[3], F[0]),
        Q[3][1] + dot(A[3], F[1]),
        Q[3][2] + dot(A[3], F[2]),
        Q[3][3] + dot(A[3], F[3]),
    )


@njit(**INLINED)
def lowered(P, k, e, g, h):
    """P − k gᵀ − e hᵀ, where it is symmetric."""
    return symmetric(
        P[0][0] - k[0] * g[0] - e[0] * h[0],
        P[1][0] - k[1] * g[0] - e[1] * h[0],
        P[1][1] - k[1] * g[1] - e[1] * h[1],
        P[2][0] - k[2] * g[0] - e[2] * h[0],
        P[2][1] - k[2] * g[1] - e[2] * h[1],
        P[2][2] - k[2] * g[2] - e[2] * h[2],
        P[3][0] - k[3] * g[0] - e[3] * h[0],
        P[3][1] - k[3] * g[1] - e[3] * h[1],
        P[3][2] - k[3] * g[2] - e[3] * h[2],
        P[3][3] - k[3] * g[3] - e[3] * h[3],
    )


@njit(**INLINED)
def mixed(a, g, b, h):
    """a g + b h."""
    return a * g[0] + b * h[0], a * g[1] + b * h[1], a * g[2] + b * h[2], a * g[3] + b * h[3]


@njit(**INLINED)
def matrix(A):
    """Four rows of an array."""
    return vector(A[0]), vector(A[1]), vector(A[2]), vector(A[3])


@njit(**FAST)
def kalman(F, H, Q, R, y, m0, P0, means, last, L):
    """Filtered means, the last covariance, log-likelihood."""
    f, q, h0, h1 = matrix(F), matrix(Q), vector(H[0]), vector(H[1])
    r00, r10, r11 = R[0, 0], R[1, 0], R[1, 1]
    x, P = vector(m0), matrix(P0)
    squares, p, logs = 0.0, 1.0, 0.0
    for t in range(y.shape[0]):
        if t > 0:
            x = rows(f, x)
            A = rows(P, f[0]), rows(P, f[1]), rows(P, f[2]), rows(P, f[3])
            P = sandwiched(A, f, q)
        g0, g1 = rows(P, h0), rows(P, h1)
        v0, v1 = y[t, 0] - dot(h0, x), y[t, 1] - dot(h1, x)
        s00, s10, s11 = r00 + dot(h0, g0), r10 + dot(h1, g0), r11 + dot(h1, g1)
        det = s00 * s11 - s10 * s10
        i = 1.0 / det
        i00, i10, i11 = s11 * i, -s10 * i, s00 * i
        k0, k1 = mixed(i00, g0, i10, g1), mixed(i10, g0, i11, g1)
        move = mixed(v0, k0, v1, k1)
        x = x[0] + move[0], x[1] + move[1], x[2] + move[2], x[3] + move[3]
        P = lowered(P, k0, k1, g0, g1)
        squares += v0 * (i00 * v0 + i10 * v1) + v1 * (i10 * v0 + i11 * v1)
        p *= det
        if p > 1e200 or p < 1e-200:
            logs += math.log(p)
            p = 1.0
        means[t, 0], means[t, 1], means[t, 2], means[t, 3] = x
    for i in range(4):
        for j in range(4):
            last[i, j] = P[i][j]
    L[()] = -0.5 * (squares + logs + math.log(p)) - y.size * HALF_LOG_TAU
