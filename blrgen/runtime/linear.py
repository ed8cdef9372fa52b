"""Matrices in NumPy: what is symmetric, factors, triangular systems."""

from __future__ import annotations

import numpy as np

from blrgen.runtime.arrays import Array, _shaped_as


def _symmetric(name: str, matrix: Array, like: Array, finite: bool = False) -> Array:
    """Return the matrix; refuse one of the wrong kind, shape or dtype, or not symmetric."""
    _shaped_as(name, matrix, (len(like), len(like)), like, finite)
    size = np.abs(matrix).max(initial=0)
    if np.abs(matrix - matrix.T).max(initial=0) > size * np.sqrt(np.finfo(matrix.dtype).eps):
        raise ValueError(f"{name} is not symmetric; pass ({name} + {name}.T) / 2")
    return matrix


def _cholesky(name: str, matrix: Array) -> Array:
    """Return L with L Lᵀ = matrix; refuse a matrix that is not positive definite."""
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        factor = np.full_like(matrix, np.nan)
    if not np.isfinite(factor).all():
        raise ValueError(f"{name} is not positive definite; nothing has been changed")
    return factor


def _solve_lower(factor: Array, b: Array, block: int = 64) -> Array:
    """Return L⁻¹ b for a lower triangular L, one diagonal block after the other."""
    x = b.copy()
    for start in range(0, len(x), block):
        rows = slice(start, start + block)
        known = factor[rows, :start] @ x[:start]
        x[rows] = np.linalg.solve(factor[rows, rows], x[rows] - known)
    return x


def _solve_upper(factor: Array, b: Array) -> Array:
    """Return L⁻ᵀ b: read backwards, Lᵀ is lower triangular."""
    return _solve_lower(factor.T[::-1, ::-1], b[::-1])[::-1]


def _solve(factor: Array, b: Array) -> Array:
    """Return (L Lᵀ)⁻¹ b."""
    return _solve_upper(factor, _solve_lower(factor, b))
