"""Natural gradient in mean and variance: m ← m − ρ v g, v ← (1 + ρ) v − ρ h v²."""

from __future__ import annotations

from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _update(start: int, stop: int, m: Array, v: Array, g: Array, h: Array, rho: float) -> None:
    """One stretch, in place."""
    m = m[start:stop]
    v = v[start:stop]
    g = g[start:stop]
    h = h[start:stop]
    real = m.dtype.type
    rho = real(rho)
    one = real(1)
    for i in range(m.size):
        x = v[i]
        m[i] -= rho * x * g[i]
        v[i] = x + rho * x * (one - h[i] * x)


@njit(**PARALLEL)
def _update_threads(count: int, m: Array, v: Array, g: Array, h: Array, rho: float) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = m.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), m, v, g, h, rho)


def step(m: Array, v: Array, g: Array, h: Array, rho: float, threads: int) -> None:
    """One step."""
    if wants_threads(m.size, threads):
        _update_threads(threads, m, v, g, h, rho)
    else:
        _update(0, m.size, m, v, g, h, rho)
