"""STE: the gradient at sign λ moves λ."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _place(start: int, stop: int, theta: Array, lam: Array) -> None:
    """One stretch, in place."""
    theta = theta[start:stop]
    lam = lam[start:stop]
    for i in range(theta.size):
        theta[i] = np.sign(lam[i])


@njit(**PARALLEL)
def _place_threads(count: int, theta: Array, lam: Array) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = theta.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _place(start, min(start + stretch, size), theta, lam)


def draw(theta: Array, lam: Array, threads: int) -> None:
    """θ = sign λ."""
    if wants_threads(theta.size, threads):
        _place_threads(threads, theta, lam)
    else:
        _place(0, theta.size, theta, lam)


@njit(**SERIAL)
def _update(start: int, stop: int, lam: Array, g: Array, alpha: float) -> None:
    """One stretch, in place."""
    lam = lam[start:stop]
    g = g[start:stop]
    real = lam.dtype.type
    alpha = real(alpha)
    for i in range(lam.size):
        lam[i] -= alpha * g[i]


@njit(**PARALLEL)
def _update_threads(count: int, lam: Array, g: Array, alpha: float) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = lam.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), lam, g, alpha)


def step(lam: Array, g: Array, alpha: float, threads: int) -> None:
    """λ ← λ − α g."""
    if wants_threads(lam.size, threads):
        _update_threads(threads, lam, g, alpha)
    else:
        _update(0, lam.size, lam, g, alpha)
