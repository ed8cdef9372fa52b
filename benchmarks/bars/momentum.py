"""Heavy ball: u ← γ u + g, θ ← θ − ρ u."""

from __future__ import annotations

from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _update(start: int, stop: int, m: Array, u: Array, g: Array, rho: float, gamma: float) -> None:
    """One stretch, in place."""
    m = m[start:stop]
    u = u[start:stop]
    g = g[start:stop]
    real = m.dtype.type
    rho = real(rho)
    gamma = real(gamma)
    for i in range(m.size):
        v = gamma * u[i] + g[i]
        u[i] = v
        m[i] -= rho * v


@njit(**PARALLEL)
def _update_threads(count: int, m: Array, u: Array, g: Array, rho: float, gamma: float) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = m.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), m, u, g, rho, gamma)


def step(m: Array, u: Array, g: Array, rho: float, gamma: float, threads: int) -> None:
    """One step."""
    if wants_threads(m.size, threads):
        _update_threads(threads, m, u, g, rho, gamma)
    else:
        _update(0, m.size, m, u, g, rho, gamma)
