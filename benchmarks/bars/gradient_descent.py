"""Gradient descent: θ ← θ − ρ g."""

from __future__ import annotations

from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _update(start: int, stop: int, m: Array, g: Array, rho: float) -> None:
    """One stretch, in place."""
    m = m[start:stop]
    g = g[start:stop]
    real = m.dtype.type
    rho = real(rho)
    for i in range(m.size):
        m[i] -= rho * g[i]


@njit(**PARALLEL)
def _update_threads(count: int, m: Array, g: Array, rho: float) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = m.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), m, g, rho)


def step(m: Array, g: Array, rho: float, threads: int) -> None:
    """One step."""
    if wants_threads(m.size, threads):
        _update_threads(threads, m, g, rho)
    else:
        _update(0, m.size, m, g, rho)
