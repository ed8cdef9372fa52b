"""Functions that emitted files hold when they call them: linear algebra on given memory, sums.

Plain Python that Numba compiles; sizes are those of the arrays.  `work` is the caller's.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


def _chol(a: Array, factor: Array) -> None:
    """Write the lower L of L Lᵀ = a; above the diagonal zeros."""
    d = a.shape[0]
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


def _lsolve(factor: Array, b: Array, x: Array) -> None:
    """Write x = L⁻¹ b for the columns of b."""
    for i in range(factor.shape[0]):
        pivot = factor[i, i]
        for j in range(b.shape[1]):
            total = b[i, j]
            for k in range(i):
                total -= factor[i, k] * x[k, j]
            x[i, j] = total / pivot


def _ltsolve(factor: Array, b: Array, x: Array) -> None:
    """Write x = L⁻ᵀ b for the columns of b; b may be x."""
    d = factor.shape[0]
    for i in range(d - 1, -1, -1):
        pivot = factor[i, i]
        for j in range(b.shape[1]):
            total = b[i, j]
            for k in range(i + 1, d):
                total -= factor[k, i] * x[k, j]
            x[i, j] = total / pivot


def _lsolve_vector(factor: Array, b: Array, x: Array) -> None:
    """Write x = L⁻¹ b."""
    for i in range(factor.shape[0]):
        total = b[i]
        for k in range(i):
            total -= factor[i, k] * x[k]
        x[i] = total / factor[i, i]


def _ltsolve_vector(factor: Array, b: Array, x: Array) -> None:
    """Write x = L⁻ᵀ b; b may be x."""
    d = factor.shape[0]
    for i in range(d - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, d):
            total -= factor[k, i] * x[k]
        x[i] = total / factor[i, i]


def _ldl(a: Array, factor: Array) -> None:
    """Write L of L D Lᵀ = a below the diagonal, 1/D on it; NaN from a pivot that is not positive.

    What is above it stays.
    """
    real = a.dtype.type
    for i in range(a.shape[0]):
        for j in range(i):
            total = a[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = total
        pivot = a[i, i]
        for j in range(i):
            total = factor[i, j]
            factor[i, j] = total * factor[j, j]
            pivot -= total * factor[i, j]
        factor[i, i] = real(1) / pivot if pivot > 0 else real(np.nan)


def _ldlsolve(factor: Array, b: Array, x: Array) -> None:
    """Write x = (L D Lᵀ)⁻¹ b for the columns of b."""
    d, columns = b.shape
    for i in range(d):
        for j in range(columns):
            x[i, j] = b[i, j]
        for k in range(i):
            weight = factor[i, k]
            for j in range(columns):
                x[i, j] -= weight * x[k, j]
    for i in range(d - 1, -1, -1):
        weight = factor[i, i]
        for j in range(columns):
            x[i, j] *= weight
        for k in range(i + 1, d):
            weight = factor[k, i]
            for j in range(columns):
                x[i, j] -= weight * x[k, j]


def _ldlsolve_vector(factor: Array, b: Array, x: Array) -> None:
    """Write x = (L D Lᵀ)⁻¹ b."""
    d = b.shape[0]
    for i in range(d):
        total = b[i]
        for k in range(i):
            total -= factor[i, k] * x[k]
        x[i] = total
    for i in range(d):
        x[i] *= factor[i, i]
    for i in range(d - 1, -1, -1):
        total = x[i]
        for k in range(i):
            x[k] -= total * factor[i, k]


def _solve(a: Array, b: Array, x: Array, work: Array) -> None:
    """Write x = a⁻¹ b for the columns of b, by the factor of a, which is left in work."""
    _ldl(a, work)
    _ldlsolve(work, b, x)


def _solve_vector(a: Array, b: Array, x: Array, work: Array) -> None:
    """Write x = a⁻¹ b, by the factor of a, which is left in work."""
    _ldl(a, work)
    _ldlsolve_vector(work, b, x)


def _linv(factor: Array, x: Array) -> None:
    """Write x = L⁻¹; above the diagonal zeros."""
    d = factor.shape[0]
    for j in range(d):
        for i in range(j):
            x[i, j] = factor[i, j] - factor[i, j]
        x[j, j] = factor[j, j] / (factor[j, j] * factor[j, j])
        for i in range(j + 1, d):
            total = factor[i, j] * x[j, j]
            for k in range(j + 1, i):
                total += factor[i, k] * x[k, j]
            x[i, j] = -total / factor[i, i]


def _logdet(a: Array, work: Array) -> Any:
    """Return log |a|, by the factor of a, which is left in work."""
    _ldl(a, work)
    total = np.log(work[0, 0])
    for i in range(1, a.shape[0]):
        total += np.log(work[i, i])
    return -total


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
