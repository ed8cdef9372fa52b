"""OGN in means: s ← (1 − ρ) s + ρ h, m ← m − ρ (g + δ m)/(s + δ) with the new s."""

from __future__ import annotations

from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


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
