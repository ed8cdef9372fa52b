"""Inverted dropout at θ = z∘w/π: w ← w − (α/π) z g."""

from __future__ import annotations

from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _place(start: int, stop: int, theta: Array, w: Array, z: Array, pi: float) -> None:
    """One stretch, in place."""
    theta = theta[start:stop]
    w = w[start:stop]
    z = z[start:stop]
    part = theta.dtype.type(1 / pi)
    for i in range(theta.size):
        theta[i] = w[i] * z[i] * part


@njit(**PARALLEL)
def _place_threads(count: int, theta: Array, w: Array, z: Array, pi: float) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = theta.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _place(start, min(start + stretch, size), theta, w, z, pi)


def draw(theta: Array, w: Array, z: Array, pi: float, threads: int) -> None:
    """θ = z∘w/π."""
    if wants_threads(theta.size, threads):
        _place_threads(threads, theta, w, z, pi)
    else:
        _place(0, theta.size, theta, w, z, pi)


@njit(**SERIAL)
def _update(start: int, stop: int, w: Array, g: Array, z: Array, rate: float) -> None:
    """One stretch, in place."""
    w = w[start:stop]
    g = g[start:stop]
    z = z[start:stop]
    rate = w.dtype.type(rate)
    for i in range(w.size):
        w[i] -= rate * g[i] * z[i]


@njit(**PARALLEL)
def _update_threads(count: int, w: Array, g: Array, z: Array, rate: float) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = w.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), w, g, z, rate)


def step(w: Array, g: Array, z: Array, alpha: float, pi: float, threads: int) -> None:
    """One step."""
    rate = alpha / pi
    if wants_threads(w.size, threads):
        _update_threads(threads, w, g, z, rate)
    else:
        _update(0, w.size, w, g, z, rate)
