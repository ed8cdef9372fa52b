"""Emitted steps of mixtures over steps by hand, in turns, processor's time.

    python -m benchmarks.mixtures

Prints the ratio for K = 10 and d = 100, and the time of a step against K and d: K·d³ with a
part of K²·d².
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mixtures.kernels import delta_step
from blrgen.api import derive

Array = Any
RHO = 0.01


def problem(K: int, d: int) -> tuple[Array, ...]:
    """Means apart, precisions near I, curvatures near I."""
    rng = np.random.default_rng(0)
    m = rng.standard_normal((K, d))
    S = np.tile(np.eye(d), (K, 1, 1))
    A = rng.standard_normal((K, d, d)) / d
    return (
        m,
        S,
        np.full(K, 1 / K),
        rng.standard_normal((K, d)),
        S + A @ A.swapaxes(1, 2),
        np.ones(K),
    )


def turns(calls: list[Callable[[], object]], rounds: int) -> list[float]:
    """The least processor's time of each, taken in turns."""
    best = [np.inf] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - start)
    return best


def compared(kind: Any, K: int, d: int, rounds: int) -> list[float]:
    """(emitted, by hand) in seconds, after both were held to one another."""
    m, S, pi, *given = problem(K, d)
    opt = kind(m, S=S, pi=pi, rho=RHO)
    opt.step(*given)
    for ours, theirs in zip((opt.m, opt.S, opt.pi), delta_step(m, S, pi, *given, RHO), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    return turns([lambda: opt.step(*given), lambda: delta_step(m, S, pi, *given, RHO)], rounds)


def main() -> None:
    """One row a size."""
    kind = derive("mixture:gaussian-full", ["delta"]).compile("numba")
    print(f"{'K':>4} {'d':>5} {'emitted ms':>11} {'by hand ms':>11} {'ratio':>6}")
    for K, d in ((10, 100), (20, 100), (10, 200), (10, 2)):
        ours, theirs = compared(kind, K, d, 7 if d > 50 else 200)
        print(f"{K:4} {d:5} {1e3 * ours:11.3f} {1e3 * theirs:11.3f} {ours / theirs:6.2f}")


if __name__ == "__main__":
    main()
