"""BayesBiNN: λ ← (1 − ρ) λ − ρ (s g − λ₀), s = (1 − θ²)/(τ(1 − tanh² λ)) = (1 − θ²) cosh² λ / τ."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads
from benchmarks.bars.elementary import expm1


@njit(**SERIAL)
def _place(start: int, stop: int, theta: Array, lam: Array, eps: Array, tau: float) -> None:
    """One stretch, in place."""
    theta = theta[start:stop]
    lam = lam[start:stop]
    eps = eps[start:stop]
    real = theta.dtype.type
    tau = real(tau)
    two = real(2)
    far = real(40)  # where tanh is 1
    for i in range(theta.size):
        x = (lam[i] + eps[i]) / tau
        e = expm1(min(abs(x) + abs(x), far))  # tanh |x| = e/(e + 2)
        theta[i] = np.copysign(e / (e + two), x)


@njit(**PARALLEL)
def _place_threads(count: int, theta: Array, lam: Array, eps: Array, tau: float) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = theta.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _place(start, min(start + stretch, size), theta, lam, eps, tau)


def draw(theta: Array, lam: Array, eps: Array, tau: float, threads: int) -> None:
    """θ = tanh((λ + ε)/τ)."""
    if wants_threads(theta.size, threads):
        _place_threads(threads, theta, lam, eps, tau)
    else:
        _place(0, theta.size, theta, lam, eps, tau)


@njit(**SERIAL)
def _update(
    start: int,
    stop: int,
    lam: Array,
    g: Array,
    theta: Array,
    keep: float,
    rate: float,
    added: float,
) -> None:
    """One stretch, in place."""
    lam = lam[start:stop]
    g = g[start:stop]
    theta = theta[start:stop]
    real = lam.dtype.type
    keep = real(keep)
    rate = real(rate)
    added = real(added)
    one = real(1)
    two = real(2)
    quarter = real(0.25)
    for i in range(lam.size):
        e = expm1(abs(lam[i]) * two) + one
        scale = (one - theta[i] * theta[i]) * (quarter * (e + two + one / e))
        lam[i] = keep * lam[i] - rate * scale * g[i] + added


@njit(**PARALLEL)
def _update_threads(
    count: int, lam: Array, g: Array, theta: Array, keep: float, rate: float, added: float
) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = lam.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), lam, g, theta, keep, rate, added)


def step(
    lam: Array, g: Array, theta: Array, rho: float, tau: float, lam0: float, threads: int
) -> None:
    """One step."""
    keep, rate, added = 1 - rho, rho / tau, rho * lam0
    if wants_threads(lam.size, threads):
        _update_threads(threads, lam, g, theta, keep, rate, added)
    else:
        _update(0, lam.size, lam, g, theta, keep, rate, added)
