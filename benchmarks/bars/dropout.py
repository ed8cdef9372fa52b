"""Dropout at θ = z∘m: m ← m − (α/π) z g."""

from __future__ import annotations

from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _place(start: int, stop: int, theta: Array, m: Array, z: Array) -> None:
    """One stretch, in place."""
    theta = theta[start:stop]
    m = m[start:stop]
    z = z[start:stop]
    for i in range(theta.size):
        theta[i] = m[i] * z[i]


@njit(**PARALLEL)
def _place_threads(count: int, theta: Array, m: Array, z: Array) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = theta.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _place(start, min(start + stretch, size), theta, m, z)


def draw(theta: Array, m: Array, z: Array, threads: int) -> None:
    """θ = z∘m."""
    if wants_threads(theta.size, threads):
        _place_threads(threads, theta, m, z)
    else:
        _place(0, theta.size, theta, m, z)


@njit(**SERIAL)
def _update(start: int, stop: int, m: Array, g: Array, z: Array, rate: float) -> None:
    """One stretch, in place."""
    m = m[start:stop]
    g = g[start:stop]
    z = z[start:stop]
    rate = m.dtype.type(rate)
    for i in range(m.size):
        m[i] -= rate * g[i] * z[i]


@njit(**PARALLEL)
def _update_threads(count: int, m: Array, g: Array, z: Array, rate: float) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = m.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), m, g, z, rate)


def step(m: Array, g: Array, z: Array, alpha: float, pi: float, threads: int) -> None:
    """One step."""
    rate = alpha / pi
    if wants_threads(m.size, threads):
        _update_threads(threads, m, g, z, rate)
    else:
        _update(0, m.size, m, g, z, rate)
