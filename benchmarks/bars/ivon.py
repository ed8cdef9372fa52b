"""IVON at θ = m + ε/√(N(h + δ)), curvature by parts: ĥ = √(N(h + δ)) ε g."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _place(
    start: int, stop: int, theta: Array, m: Array, h: Array, eps: Array, delta: float, root: float
) -> None:
    """One stretch, in place."""
    theta = theta[start:stop]
    m = m[start:stop]
    h = h[start:stop]
    eps = eps[start:stop]
    real = theta.dtype.type
    delta = real(delta)
    root = real(root)
    for i in range(theta.size):
        theta[i] = m[i] + root * eps[i] / np.sqrt(h[i] + delta)


@njit(**PARALLEL)
def _place_threads(
    count: int, theta: Array, m: Array, h: Array, eps: Array, delta: float, root: float
) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = theta.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _place(start, min(start + stretch, size), theta, m, h, eps, delta, root)


def draw(
    theta: Array, m: Array, h: Array, eps: Array, delta: float, N: float, threads: int
) -> None:
    """θ = m + ε/√(N(h + δ))."""
    root = 1 / math.sqrt(N)
    if wants_threads(theta.size, threads):
        _place_threads(threads, theta, m, h, eps, delta, root)
    else:
        _place(0, theta.size, theta, m, h, eps, delta, root)


@njit(**SERIAL)
def _update(
    start: int,
    stop: int,
    m: Array,
    u: Array,
    h: Array,
    g: Array,
    eps: Array,
    beta1: float,
    rest1: float,
    beta2: float,
    rest2: float,
    second: float,
    debias: float,
    rate: float,
    delta: float,
    root: float,
    c: float,
) -> None:
    """One stretch, in place."""
    m = m[start:stop]
    u = u[start:stop]
    h = h[start:stop]
    g = g[start:stop]
    eps = eps[start:stop]
    real = m.dtype.type
    beta1 = real(beta1)
    rest1 = real(rest1)
    beta2 = real(beta2)
    rest2 = real(rest2)
    second = real(second)
    debias = real(debias)
    rate = real(rate)
    delta = real(delta)
    root = real(root)
    c = real(c)
    for i in range(m.size):
        before = h[i] + delta
        seen = root * np.sqrt(before) * eps[i] * g[i]
        v = beta1 * u[i] + rest1 * g[i]
        gap = h[i] - seen
        x = beta2 * h[i] + rest2 * seen + second * (gap * gap) / before
        u[i] = v
        h[i] = x
        m[i] -= rate * max(-c, min(c, (debias * v + delta * m[i]) / (x + delta)))


@njit(**PARALLEL)
def _update_threads(
    count: int,
    m: Array,
    u: Array,
    h: Array,
    g: Array,
    eps: Array,
    beta1: float,
    rest1: float,
    beta2: float,
    rest2: float,
    second: float,
    debias: float,
    rate: float,
    delta: float,
    root: float,
    c: float,
) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = m.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(
            start,
            min(start + stretch, size),
            m,
            u,
            h,
            g,
            eps,
            beta1,
            rest1,
            beta2,
            rest2,
            second,
            debias,
            rate,
            delta,
            root,
            c,
        )


def step(
    m: Array,
    u: Array,
    h: Array,
    g: Array,
    eps: Array,
    t: int,
    alpha: float,
    beta1: float,
    beta2: float,
    delta: float,
    N: float,
    c: float,
    h0: float,
    threads: int,
) -> None:
    """Step number t."""
    rest1, rest2 = 1 - beta1, 1 - beta2
    second, debias, rate = rest2 * rest2 / 2, 1 / (1 - beta1**t), alpha * (h0 + delta)
    root = math.sqrt(N)
    if wants_threads(m.size, threads):
        _update_threads(
            threads,
            m,
            u,
            h,
            g,
            eps,
            beta1,
            rest1,
            beta2,
            rest2,
            second,
            debias,
            rate,
            delta,
            root,
            c,
        )
    else:
        _update(
            0,
            m.size,
            m,
            u,
            h,
            g,
            eps,
            beta1,
            rest1,
            beta2,
            rest2,
            second,
            debias,
            rate,
            delta,
            root,
            c,
        )
