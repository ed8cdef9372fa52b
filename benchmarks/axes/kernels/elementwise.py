"""Adam, RMSprop and momentum: in place, one pass over memory."""

from __future__ import annotations

import math

from numba import njit, prange

from benchmarks.axes.kernels.common import FAST, THREADS


def _adam(m, u, s, g, t, alpha, beta1, beta2, c):
    step, scale = alpha / (1.0 - beta1**t), 1.0 / (1.0 - beta2**t)
    keep1, keep2 = 1.0 - beta1, 1.0 - beta2
    for i in prange(m.size):
        u_i = beta1 * u[i] + keep1 * g[i]
        s_i = beta2 * s[i] + keep2 * g[i] * g[i]
        u[i] = u_i
        s[i] = s_i
        m[i] -= step * u_i / (math.sqrt(s_i * scale) + c)


def _rmsprop(m, s, g, alpha, beta, c):
    for i in prange(m.size):
        s_i = (1.0 - beta) * s[i] + beta * g[i] * g[i]
        s[i] = s_i
        m[i] -= alpha * g[i] / (math.sqrt(s_i) + c)


def _momentum(m, u, g, alpha, beta):
    for i in prange(m.size):
        u_i = beta * u[i] + (1.0 - beta) * g[i]
        u[i] = u_i
        m[i] -= alpha * u_i


adam, adam_threads = njit(**FAST)(_adam), njit(**THREADS)(_adam)
rmsprop, rmsprop_threads = njit(**FAST)(_rmsprop), njit(**THREADS)(_rmsprop)
momentum, momentum_threads = njit(**FAST)(_momentum), njit(**THREADS)(_momentum)
