"""The exact rule for a sign: λ ← (1 − ρ) λ − ½ρ (ℓ₊ − ℓ₋)."""

from __future__ import annotations

from numba import njit, prange

from benchmarks.bars.common import PARALLEL, SERIAL, Array, wants_threads


@njit(**SERIAL)
def _update(
    start: int, stop: int, lam: Array, lplus: Array, lminus: Array, keep: float, half: float
) -> None:
    """One stretch, in place."""
    lam = lam[start:stop]
    lplus = lplus[start:stop]
    lminus = lminus[start:stop]
    real = lam.dtype.type
    keep = real(keep)
    half = real(half)
    for i in range(lam.size):
        lam[i] = keep * lam[i] - half * (lplus[i] - lminus[i])


@njit(**PARALLEL)
def _update_threads(
    count: int, lam: Array, lplus: Array, lminus: Array, keep: float, half: float
) -> None:
    """A stretch for each thread, whole cache lines in each."""
    size = lam.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        _update(start, min(start + stretch, size), lam, lplus, lminus, keep, half)


def step(lam: Array, lplus: Array, lminus: Array, rho: float, threads: int) -> None:
    """One step."""
    keep, half = 1 - rho, rho / 2
    if wants_threads(lam.size, threads):
        _update_threads(threads, lam, lplus, lminus, keep, half)
    else:
        _update(0, lam.size, lam, lplus, lminus, keep, half)
