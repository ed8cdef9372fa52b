"""Linear algebra in loops on memory of the caller's; sums of what threads have added up.

Numba puts these where they are called: a size that is a number there reaches the loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.marks import inlined


@inlined
def _factor(a: Array, f: Array, d: int) -> None:
    """Write A = L D Lᵀ: L below the diagonal, where it is 1, and 1/D on it; NaN if D is not > 0.

    Of more than eight rows four at a time, which read those above them together.
    """
    real = a.dtype.type
    for i in range(d):
        start = i // 4 * 4
        known = start if d > 8 and start + 4 <= d else 0
        for j in range(known if i == start else 0):
            t0, t1, t2, t3 = a[start, j], a[start + 1, j], a[start + 2, j], a[start + 3, j]
            for k in range(j):
                weight = f[j, k]
                t0 -= weight * f[start, k]
                t1 -= weight * f[start + 1, k]
                t2 -= weight * f[start + 2, k]
                t3 -= weight * f[start + 3, k]
            f[start, j], f[start + 1, j], f[start + 2, j], f[start + 3, j] = t0, t1, t2, t3
        for j in range(known, i):
            total = a[i, j]
            for k in range(j):
                total -= f[i, k] * f[j, k]
            f[i, j] = total
        pivot = a[i, i]
        for j in range(i):
            total = f[i, j]
            f[i, j] = total * f[j, j]
            pivot -= total * f[i, j]
        f[i, i] = real(1) / pivot if pivot > 0 else real(np.nan)


@inlined
def _solve_matrix(f: Array, b: Array, x: Array, d: int, m: int) -> None:
    """Write x = A⁻¹ b for the m columns of b, by the factor of A, along their rows."""
    for i in range(d):
        for j in range(m):
            x[i, j] = b[i, j]
        for k in range(i):
            weight = f[i, k]
            for j in range(m):
                x[i, j] -= weight * x[k, j]
    for i in range(d - 1, -1, -1):
        weight = f[i, i]
        for j in range(m):
            x[i, j] *= weight
        for k in range(i + 1, d):
            weight = f[k, i]
            for j in range(m):
                x[i, j] -= weight * x[k, j]


@inlined
def _solve_vector(f: Array, b: Array, x: Array, d: int) -> None:
    """Write x = A⁻¹ b, by the factor of A, along its rows both times."""
    for i in range(d):
        total = b[i]
        for k in range(i):
            total -= f[i, k] * x[k]
        x[i] = total
    for i in range(d):
        x[i] *= f[i, i]
    for i in range(d - 1, -1, -1):
        total = x[i]
        for k in range(i):
            x[k] -= total * f[i, k]


@inlined
def _half_matrix(f: Array, b: Array, x: Array, d: int, m: int) -> None:
    """Write x = L⁻¹ b for the m columns of b, by the factor of L D Lᵀ, along their rows."""
    for i in range(d):
        for j in range(m):
            x[i, j] = b[i, j]
        for k in range(i):
            weight = f[i, k]
            for j in range(m):
                x[i, j] -= weight * x[k, j]


@inlined
def _half_vector(f: Array, b: Array, x: Array, d: int) -> None:
    """Write x = L⁻¹ b, by the factor of L D Lᵀ."""
    for i in range(d):
        total = b[i]
        for k in range(i):
            total -= f[i, k] * x[k]
        x[i] = total


@inlined
def _weighed_matrix(f: Array, b: Array, x: Array, d: int, m: int) -> None:
    """Write x = D⁻¹ b for the m columns of b, by the factor of L D Lᵀ."""
    for i in range(d):
        weight = f[i, i]
        for j in range(m):
            x[i, j] = weight * b[i, j]


@inlined
def _weighed_vector(f: Array, b: Array, x: Array, d: int) -> None:
    """Write x = D⁻¹ b, by the factor of L D Lᵀ."""
    for i in range(d):
        x[i] = f[i, i] * b[i]


@inlined
def _logdet(f: Array, d: int) -> Any:
    """Return log |A|, by the factor of A: a log of the product of many pivots."""
    real = f.dtype.type
    total, product = real(0), real(1)
    for i in range(d):
        product *= f[i, i]
        if not real(1e-25) < product < real(1e25):
            total -= np.log(product)
            product = real(1)
    return total - np.log(product)


@inlined
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


@inlined
def _lsolve_matrix(factor: Array, b: Array, x: Array, d: int, m: int) -> None:
    """Write x = L⁻¹ b for the m columns of b."""
    for i in range(d):
        for j in range(m):
            x[i, j] = b[i, j]
        for k in range(i):
            for j in range(m):
                x[i, j] -= factor[i, k] * x[k, j]
        for j in range(m):
            x[i, j] /= factor[i, i]


@inlined
def _ltsolve_matrix(factor: Array, b: Array, x: Array, d: int, m: int) -> None:
    """Write x = L⁻ᵀ b for the m columns of b."""
    for i in range(d - 1, -1, -1):
        for j in range(m):
            x[i, j] = b[i, j]
        for k in range(i + 1, d):
            for j in range(m):
                x[i, j] -= factor[k, i] * x[k, j]
        for j in range(m):
            x[i, j] /= factor[i, i]


@inlined
def _lsolve_vector(factor: Array, b: Array, x: Array, d: int) -> None:
    """Write x = L⁻¹ b."""
    for i in range(d):
        total = b[i]
        for k in range(i):
            total -= factor[i, k] * x[k]
        x[i] = total / factor[i, i]


@inlined
def _ltsolve_vector(factor: Array, b: Array, x: Array, d: int) -> None:
    """Write x = L⁻ᵀ b."""
    for i in range(d - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, d):
            total -= factor[k, i] * x[k]
        x[i] = total / factor[i, i]


@inlined
def _linv(factor: Array, x: Array, d: int) -> None:
    """Write x = L⁻¹; above the diagonal zeros."""
    for j in range(d):
        for i in range(j):
            x[i, j] = factor[i, j] - factor[i, j]
        x[j, j] = (factor[j, j] / factor[j, j]) / factor[j, j]
        for i in range(j + 1, d):
            total = factor[i, j] * x[j, j]
            for k in range(j + 1, i):
                total += factor[i, k] * x[k, j]
            x[i, j] = -total / factor[i, i]


@inlined
def _joined_sum(total: Array, parts: Array) -> None:
    """Add up the chunks' sums in their order."""
    flat = total.reshape(total.size)
    rows = parts.reshape(parts.shape[0], total.size)
    for c in range(rows.shape[0]):
        for i in range(flat.size):
            flat[i] += rows[c, i]


@inlined
def _joined_max(total: Array, parts: Array) -> None:
    """Write the largest of the chunks' numbers."""
    flat = total.reshape(total.size)
    rows = parts.reshape(parts.shape[0], total.size)
    for c in range(rows.shape[0]):
        for i in range(flat.size):
            flat[i] = max(flat[i], rows[c, i])


@inlined
def _longest(pointers: Array) -> int:
    """Return the length of the longest row."""
    most = 0
    for d in range(pointers.size - 1):
        most = max(most, pointers[d + 1] - pointers[d])
    return most
