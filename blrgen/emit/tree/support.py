"""Functions that emitted files hold when they call them: linear algebra on given memory, sums.

Plain Python that Numba compiles and puts where it is called: a size that is a number there
reaches the loops.  All memory is the caller's.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


def _factor(a: Array, f: Array, d: int) -> None:
    """Write A = L D Lᵀ: L below the diagonal, where it is 1, and 1/D on it; NaN if D is not > 0."""
    one = f.dtype.type(1)
    for j in range(d):
        for i in range(j, d):
            total = a[i, j]
            for k in range(j):
                total -= f[i, k] * f[k, j]
            f[i, j] = total
        pivot = f[j, j]
        if not pivot > 0:
            pivot = (pivot - pivot) / (pivot - pivot)
        f[j, j] = one / pivot
        for i in range(j + 1, d):
            f[j, i] = f[i, j]
            f[i, j] = f[i, j] * f[j, j]


def _solve(f: Array, b: Array, x: Array, d: int, m: int) -> None:
    """Write x = A⁻¹ b for the m columns of b, by the factor of A."""
    for j in range(m):
        for i in range(d):
            total = b[i, j]
            for k in range(i):
                total -= f[i, k] * x[k, j]
            x[i, j] = total
        for i in range(d - 1, -1, -1):
            total = x[i, j] * f[i, i]
            for k in range(i + 1, d):
                total -= f[k, i] * x[k, j]
            x[i, j] = total


def _solve_vector(f: Array, b: Array, x: Array, d: int) -> None:
    """Write x = A⁻¹ b, by the factor of A."""
    for i in range(d):
        total = b[i]
        for k in range(i):
            total -= f[i, k] * x[k]
        x[i] = total
    for i in range(d - 1, -1, -1):
        total = x[i] * f[i, i]
        for k in range(i + 1, d):
            total -= f[k, i] * x[k]
        x[i] = total


def _logdet(f: Array, d: int) -> Any:
    """Return log |A|, by the factor of A."""
    total = -np.log(f[0, 0])
    for i in range(1, d):
        total -= np.log(f[i, i])
    return total


def _chol(a: Array, factor: Array, d: int) -> None:
    """Write the lower L of L Lᵀ = a; above the diagonal zeros."""
    for j in range(d):
        for i in range(j):
            factor[i, j] = a[i, j] - a[i, j]
        total = a[j, j]
        for k in range(j):
            total -= factor[j, k] * factor[j, k]
        root = np.sqrt(total)
        factor[j, j] = root
        for i in range(j + 1, d):
            total = a[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = total / root


def _lsolve(factor: Array, b: Array, x: Array, d: int, m: int) -> None:
    """Write x = L⁻¹ b for the m columns of b."""
    for j in range(m):
        for i in range(d):
            total = b[i, j]
            for k in range(i):
                total -= factor[i, k] * x[k, j]
            x[i, j] = total / factor[i, i]


def _ltsolve(factor: Array, b: Array, x: Array, d: int, m: int) -> None:
    """Write x = L⁻ᵀ b for the m columns of b."""
    for j in range(m):
        for i in range(d - 1, -1, -1):
            total = b[i, j]
            for k in range(i + 1, d):
                total -= factor[k, i] * x[k, j]
            x[i, j] = total / factor[i, i]


def _lsolve_vector(factor: Array, b: Array, x: Array, d: int) -> None:
    """Write x = L⁻¹ b."""
    for i in range(d):
        total = b[i]
        for k in range(i):
            total -= factor[i, k] * x[k]
        x[i] = total / factor[i, i]


def _ltsolve_vector(factor: Array, b: Array, x: Array, d: int) -> None:
    """Write x = L⁻ᵀ b."""
    for i in range(d - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, d):
            total -= factor[k, i] * x[k]
        x[i] = total / factor[i, i]


def _linv(factor: Array, x: Array, d: int) -> None:
    """Write x = L⁻¹; above the diagonal zeros."""
    one = x.dtype.type(1)
    for j in range(d):
        for i in range(j):
            x[i, j] = factor[i, j] - factor[i, j]
        x[j, j] = one / factor[j, j]
        for i in range(j + 1, d):
            total = factor[i, j] * x[j, j]
            for k in range(j + 1, i):
                total += factor[i, k] * x[k, j]
            x[i, j] = -total / factor[i, i]


def _joined_sum(total: Array, parts: Array) -> None:
    """Add up the chunks' sums in their order."""
    flat = total.reshape(total.size)
    rows = parts.reshape(parts.shape[0], total.size)
    for c in range(rows.shape[0]):
        for i in range(flat.size):
            flat[i] += rows[c, i]


def _joined_max(total: Array, parts: Array) -> None:
    """Write the largest of the chunks' numbers."""
    flat = total.reshape(total.size)
    rows = parts.reshape(parts.shape[0], total.size)
    for c in range(rows.shape[0]):
        for i in range(flat.size):
            flat[i] = max(flat[i], rows[c, i])


def _longest(pointers: Array) -> int:
    """Return the length of the longest row."""
    most = 0
    for d in range(pointers.size - 1):
        most = max(most, pointers[d + 1] - pointers[d])
    return most
