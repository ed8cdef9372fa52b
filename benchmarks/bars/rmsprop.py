"""RMSprop: s ← (1 − β) s + β g², m ← m − α g/(√s + c)."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _update(
    start: int,
    stop: int,
    m: Array,
    s: Array,
    g: Array,
    alpha: float,
    beta: float,
    keep: float,
    c: float,
) -> None:
    """One stretch, in place."""
    m = m[start:stop]
    s = s[start:stop]
    g = g[start:stop]
    real = m.dtype.type
    alpha = real(alpha)
    beta = real(beta)
    keep = real(keep)
    c = real(c)
    for i in range(m.size):
        x = keep * s[i] + beta * (g[i] * g[i])
        s[i] = x
        m[i] -= alpha * g[i] / (np.sqrt(x) + c)


@njit(**PARALLEL)
def _update_threads(
    count: int, m: Array, s: Array, g: Array, alpha: float, beta: float, keep: float, c: float
) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = m.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), m, s, g, alpha, beta, keep, c)


def step(m: Array, s: Array, g: Array, alpha: float, beta: float, c: float, threads: int) -> None:
    """One step."""
    keep = 1 - beta
    if wants_threads(m.size, threads):
        _update_threads(threads, m, s, g, alpha, beta, keep, c)
    else:
        _update(0, m.size, m, s, g, alpha, beta, keep, c)
