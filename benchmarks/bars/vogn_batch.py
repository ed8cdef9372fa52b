"""VOGN in means: OGN in means at θ = m + ε/√(N(s + δ))."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _place(
    start: int, stop: int, theta: Array, m: Array, s: Array, eps: Array, delta: float, N: float
) -> None:
    """One stretch, in place."""
    theta = theta[start:stop]
    m = m[start:stop]
    s = s[start:stop]
    eps = eps[start:stop]
    delta, n = m.dtype.type(delta), m.dtype.type(N)
    for i in range(theta.size):
        theta[i] = m[i] + eps[i] / np.sqrt(n * (s[i] + delta))


@njit(**PARALLEL)
def _place_threads(
    count: int, theta: Array, m: Array, s: Array, eps: Array, delta: float, N: float
) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = theta.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _place(start, min(start + stretch, size), theta, m, s, eps, delta, N)


def draw(
    theta: Array, m: Array, s: Array, eps: Array, delta: float, N: float, threads: int
) -> None:
    """θ = m + ε/√(N(s + δ))."""
    if wants_threads(theta.size, threads):
        _place_threads(threads, theta, m, s, eps, delta, N)
    else:
        _place(0, theta.size, theta, m, s, eps, delta, N)


@njit(**SERIAL)
def _update(
    start: int,
    stop: int,
    m: Array,
    s: Array,
    g: Array,
    h: Array,
    rho: float,
    keep: float,
    delta: float,
) -> None:
    """One stretch, in place."""
    m = m[start:stop]
    s = s[start:stop]
    g = g[start:stop]
    h = h[start:stop]
    real = m.dtype.type
    rho = real(rho)
    keep = real(keep)
    delta = real(delta)
    for i in range(m.size):
        x = keep * s[i] + rho * h[i]
        s[i] = x
        m[i] -= rho * (g[i] + delta * m[i]) / (x + delta)


@njit(**PARALLEL)
def _update_threads(
    count: int, m: Array, s: Array, g: Array, h: Array, rho: float, keep: float, delta: float
) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = m.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), m, s, g, h, rho, keep, delta)


def step(m: Array, s: Array, g: Array, h: Array, rho: float, delta: float, threads: int) -> None:
    """One step."""
    keep = 1 - rho
    if wants_threads(m.size, threads):
        _update_threads(threads, m, s, g, h, rho, keep, delta)
    else:
        _update(0, m.size, m, s, g, h, rho, keep, delta)
