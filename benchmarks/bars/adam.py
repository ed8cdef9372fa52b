"""Adam; √(1 − β₂ᵗ) is taken to the numerator: one square root and one division an element."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _update(
    start: int,
    stop: int,
    m: Array,
    u: Array,
    s: Array,
    g: Array,
    beta1: float,
    rest1: float,
    beta2: float,
    rest2: float,
    rate: float,
    floor: float,
) -> None:
    """One stretch, in place."""
    m = m[start:stop]
    u = u[start:stop]
    s = s[start:stop]
    g = g[start:stop]
    real = m.dtype.type
    beta1 = real(beta1)
    rest1 = real(rest1)
    beta2 = real(beta2)
    rest2 = real(rest2)
    rate = real(rate)
    floor = real(floor)
    for i in range(m.size):
        v = beta1 * u[i] + rest1 * g[i]
        x = beta2 * s[i] + rest2 * (g[i] * g[i])
        u[i] = v
        s[i] = x
        m[i] -= rate * v / (np.sqrt(x) + floor)


@njit(**PARALLEL)
def _update_threads(
    count: int,
    m: Array,
    u: Array,
    s: Array,
    g: Array,
    beta1: float,
    rest1: float,
    beta2: float,
    rest2: float,
    rate: float,
    floor: float,
) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = m.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(
            start, min(start + stretch, size), m, u, s, g, beta1, rest1, beta2, rest2, rate, floor
        )


def step(
    m: Array,
    u: Array,
    s: Array,
    g: Array,
    t: int,
    alpha: float,
    beta1: float,
    beta2: float,
    c: float,
    threads: int,
) -> None:
    """Step number t."""
    root = math.sqrt(1 - beta2**t)
    rate, floor = alpha * root / (1 - beta1**t), c * root
    rest1, rest2 = 1 - beta1, 1 - beta2
    if wants_threads(m.size, threads):
        _update_threads(threads, m, u, s, g, beta1, rest1, beta2, rest2, rate, floor)
    else:
        _update(0, m.size, m, u, s, g, beta1, rest1, beta2, rest2, rate, floor)
