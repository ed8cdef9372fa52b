"""Matrices in compiled loops where they are small and by LAPACK where they are large."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from blrgen.runtime.arrays import Array, _shaped_as
from blrgen.runtime.compiled import FASTMATH


def _lapack(name: str, like: Array) -> Any:
    """Return a routine of LAPACK or BLAS; None for what is small, and without SciPy."""
    if len(like) < 32:
        return None
    try:
        from scipy.linalg import blas, lapack
    except ImportError:
        return None
    typed = ("s" if like.dtype == np.float32 else "d") + name
    return getattr(lapack, typed, None) or getattr(blas, typed)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _equals_transpose(matrix: Array) -> bool:
    """Whether every entry equals its mirror image."""
    for i in range(len(matrix)):
        row, column = matrix[i], matrix[:, i]
        for j in range(i):
            if row[j] != column[j]:
                return False
    return True


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _asymmetry(matrix: Array) -> tuple[float, float]:
    """Return the largest entry and the largest difference of mirror images, in size."""
    largest = gap = matrix.dtype.type(0)
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            size, difference = abs(matrix[i, j]), abs(matrix[i, j] - matrix[j, i])
            if size > largest:
                largest = size
            if difference > gap:
                gap = difference
    return largest, gap


def _symmetric(name: str, matrix: Array, like: Array, finite: bool = False) -> Array:
    """Return the matrix by rows; refuse one of the wrong kind, shape or dtype, or not symmetric."""
    _shaped_as(name, matrix, (len(like), len(like)), like, finite)
    matrix = np.ascontiguousarray(matrix)
    if not _equals_transpose(matrix):
        largest, gap = _asymmetry(matrix)
        if gap > largest * np.sqrt(np.finfo(matrix.dtype).eps):
            raise ValueError(f"{name} is not symmetric; pass ({name} + {name}.T) / 2")
    return matrix


def _cholesky(name: str, matrix: Array) -> Array:
    """Return L with L Lᵀ = matrix; refuse a matrix that is not positive definite."""
    potrf = _lapack("potrf", matrix)
    try:
        if potrf is None:
            factor, failed = np.linalg.cholesky(matrix), 0
        else:
            factor, failed = potrf(matrix.T, lower=1)
    except np.linalg.LinAlgError:
        failed = 1
    if failed or not np.isfinite(factor).all():
        raise ValueError(f"{name} is not positive definite; nothing has been changed")
    return factor


def _solve_lower(factor: Array, b: Array, block: int = 64) -> Array:
    """Return L⁻¹ b for a lower triangular L, one diagonal block after the other without LAPACK."""
    trtrs = _lapack("trtrs", factor)
    if trtrs is not None and b.ndim == 1:
        x: Array = _lapack("trsv", factor)(factor, b, lower=1)
        return x
    if trtrs is not None:
        x = trtrs(factor, b, lower=1)[0]
        return x
    x = b.copy()
    for start in range(0, len(x), block):
        rows = slice(start, start + block)
        known = factor[rows, :start] @ x[:start]
        x[rows] = np.linalg.solve(factor[rows, rows], x[rows] - known)
    return x


def _solve_upper(factor: Array, b: Array) -> Array:
    """Return L⁻ᵀ b: read backwards, Lᵀ is lower triangular."""
    trtrs = _lapack("trtrs", factor)
    if trtrs is not None and b.ndim == 1:
        x: Array = _lapack("trsv", factor)(factor, b, lower=1, trans=1)
        return x
    if trtrs is not None:
        x = trtrs(factor, b, lower=1, trans=1)[0]
        return x
    return _solve_lower(factor.T[::-1, ::-1], b[::-1])[::-1]


def _solve(factor: Array, b: Array) -> Array:
    """Return (L Lᵀ)⁻¹ b."""
    potrs = _lapack("potrs", factor)
    if potrs is not None and b.ndim > 1:  # for one vector it takes three times as long
        x: Array = potrs(factor, b, lower=1)[0]
        return x
    return _solve_upper(factor, _solve_lower(factor, b))


LARGE = 256  # from this size on LAPACK is faster than a loop


@njit(cache=True, fastmath=FASTMATH | {"reassoc"}, error_model="numpy")
def _eliminate(a: Array, x: Array) -> bool:
    """Overwrite the upper triangle of a = L Lᵀ by Lᵀ, and x by a⁻¹x; say whether a is definite.

    Four rows of Lᵀ at a time are made and taken off the rows below them, four in one pass.
    """
    d = len(x)
    for start in range(0, d, 4):
        stop = min(start + 4, d)
        for k in range(start, stop):
            row = a[k]
            pivot = row[k]
            if not 0 < pivot < np.inf:
                return False
            scale = np.sqrt(pivot) / pivot
            right = row[k:]
            for j in range(right.size):
                right[j] *= scale
            x[k] *= scale
            for i in range(k + 1, stop):
                c, above, below = row[i], row[i:], a[i, i:]
                x[i] -= c * x[k]
                for j in range(below.size):
                    below[j] -= c * above[j]
        if stop == d:
            break
        r0, r1, r2, r3 = a[start], a[start + 1], a[start + 2], a[start + 3]
        x0, x1, x2, x3 = x[start], x[start + 1], x[start + 2], x[start + 3]
        whole = d - (d - stop) % 4
        for i in range(stop, whole, 4):
            c0, c1, c2, c3 = r0[i], r1[i], r2[i], r3[i]
            e0, e1, e2, e3 = r0[i + 1], r1[i + 1], r2[i + 1], r3[i + 1]
            f0, f1, f2, f3 = r0[i + 2], r1[i + 2], r2[i + 2], r3[i + 2]
            h0, h1, h2, h3 = r0[i + 3], r1[i + 3], r2[i + 3], r3[i + 3]
            x[i] -= c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
            x[i + 1] -= e0 * x0 + e1 * x1 + e2 * x2 + e3 * x3
            x[i + 2] -= f0 * x0 + f1 * x1 + f2 * x2 + f3 * x3
            x[i + 3] -= h0 * x0 + h1 * x1 + h2 * x2 + h3 * x3
            s0, s1, s2, s3 = r0[i:], r1[i:], r2[i:], r3[i:]
            t0, t1, t2, t3 = a[i, i:], a[i + 1, i:], a[i + 2, i:], a[i + 3, i:]
            for j in range(t0.size):
                u0, u1, u2, u3 = s0[j], s1[j], s2[j], s3[j]
                t0[j] -= c0 * u0 + c1 * u1 + c2 * u2 + c3 * u3
                t1[j] -= e0 * u0 + e1 * u1 + e2 * u2 + e3 * u3
                t2[j] -= f0 * u0 + f1 * u1 + f2 * u2 + f3 * u3
                t3[j] -= h0 * u0 + h1 * u1 + h2 * u2 + h3 * u3
        for i in range(whole, d):
            c0, c1, c2, c3 = r0[i], r1[i], r2[i], r3[i]
            x[i] -= c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
            s0, s1, s2, s3 = r0[i:], r1[i:], r2[i:], r3[i:]
            t0 = a[i, i:]
            for j in range(t0.size):
                t0[j] -= c0 * s0[j] + c1 * s1[j] + c2 * s2[j] + c3 * s3[j]
    if d % 2:
        x[d - 1] /= a[d - 1, d - 1]
    for k in range(d - 1 - d % 2, 0, -2):
        right, above, known = a[k, k + 1 :], a[k - 1, k + 1 :], x[k + 1 :]
        rest, more = x[k], x[k - 1]
        for j in range(known.size):
            rest -= right[j] * known[j]
            more -= above[j] * known[j]
        x[k] = rest / a[k, k]
        x[k - 1] = (more - a[k - 1, k] * x[k]) / a[k - 1, k - 1]
    return True


def _solved(name: str, matrix: Array, b: Array) -> Array:
    """Return matrix⁻¹ b from its upper triangle, which is overwritten; refuse an indefinite one."""
    x = b.copy()
    potrf = _lapack("potrf", x) if len(x) >= LARGE else None
    if potrf is None:
        definite = _eliminate(matrix, x)
    else:  # what is upper by rows is lower by columns, as LAPACK reads it
        factor, failed = potrf(matrix.T, lower=1, overwrite_a=1, clean=0)
        definite = failed == 0 and np.isfinite(factor.diagonal()).all()
    if not definite:
        raise ValueError(f"{name} is not positive definite; nothing has been changed")
    return x if potrf is None else _solve(factor, x)


def _definite(name: str, matrix: Array) -> None:
    """Refuse an indefinite matrix, told by its upper triangle, which is overwritten."""
    _solved(name, matrix, matrix[0])


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _is_known(matrix: Array, work: Array, diagonal: Array) -> bool:
    """Whether a matrix has this diagonal, which is not 0, and below it what `work` has there."""
    for i in range(len(matrix)):
        differ = diagonal[i] == 0 or diagonal[i] != matrix[i, i]
        row, known = matrix[i, :i], work[i, :i]
        for j in range(row.size):
            differ |= row[j] != known[j]
        if differ:
            return False
    return True


def _known_factor(name: str, matrix: Array, work: Array, diagonal: Array) -> Array:
    """Return L with L Lᵀ = matrix, without a factorisation if `_look` saw this matrix last.

    It is good until `work` is written; what is above its diagonal is of something else.
    """
    large = len(matrix) >= LARGE and _lapack("potrf", matrix) is not None
    known = large and _is_known(matrix, work, diagonal)
    diagonal[:] = 0
    return work.T if known else _cholesky(name, matrix)


def _look(name: str, matrix: Array, work: Array, diagonal: Array) -> None:
    """Refuse an indefinite matrix; `work` is equal to it, and above its diagonal becomes Lᵀ."""
    _solved(name, work, work[0])
    diagonal[:] = matrix.diagonal()


NARROW = 128  # columns up to which a loop is faster than BLAS
PANEL = 2048  # bytes of a column, when rows are turned to columns


@njit(cache=True, fastmath=FASTMATH | {"reassoc"}, error_model="numpy")
def _add_squares(X: Array, panel: Array, total: Array) -> None:
    """Add Xᵀ X to `total` on and above the diagonal, four columns by four at a time.

    A panel of rows is turned, so that sums run along memory; what X does not fill of it is 0.
    """
    size = panel.shape[1]
    for first in range(0, len(X), size):
        for i in range(X.shape[1]):
            column, source = panel[i], X[first : first + size, i]
            for k in range(source.size):
                column[k] = source[k]
            for k in range(source.size, size):
                column[k] = 0
        for i in range(0, len(panel), 4):
            a, b, c, e = panel[i], panel[i + 1], panel[i + 2], panel[i + 3]
            for j in range(i, len(panel), 4):
                f, g, h, o = panel[j], panel[j + 1], panel[j + 2], panel[j + 3]
                p0 = p1 = p2 = p3 = q0 = q1 = q2 = q3 = total.dtype.type(0)
                r0 = r1 = r2 = r3 = s0 = s1 = s2 = s3 = total.dtype.type(0)
                for k in range(a.size):
                    w, x, y, z = a[k], b[k], c[k], e[k]
                    p0, q0, r0, s0 = p0 + w * f[k], q0 + x * f[k], r0 + y * f[k], s0 + z * f[k]
                    p1, q1, r1, s1 = p1 + w * g[k], q1 + x * g[k], r1 + y * g[k], s1 + z * g[k]
                    p2, q2, r2, s2 = p2 + w * h[k], q2 + x * h[k], r2 + y * h[k], s2 + z * h[k]
                    p3, q3, r3, s3 = p3 + w * o[k], q3 + x * o[k], r3 + y * o[k], s3 + z * o[k]
                for row, sums in (
                    (total[i], (p0, p1, p2, p3)),
                    (total[i + 1], (q0, q1, q2, q3)),
                    (total[i + 2], (r0, r1, r2, r3)),
                    (total[i + 3], (s0, s1, s2, s3)),
                ):
                    for k in range(4):
                        row[j + k] += sums[k]


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _mirror(matrix: Array) -> None:
    """Write what is above the diagonal below it, too, in squares that a cache holds."""
    d = len(matrix)
    for start in range(0, d, 32):
        for i in range(start, d):
            row, stop = matrix[i], min(i, start + 32)
            for j in range(start, stop):
                row[j] = matrix[j, i]


def _gram(X: Array) -> Array:
    """Return Xᵀ X, of which half is computed."""
    d = X.shape[1]
    if d <= NARROW and X.flags.c_contiguous:
        whole = -(-d // 4) * 4
        product = np.zeros((whole, whole), X.dtype)
        _add_squares(X, np.zeros((whole, PANEL // X.itemsize), X.dtype), product)
        product = np.ascontiguousarray(product[:d, :d])
    elif (syrk := _lapack("syrk", X)) is None:
        product = X.T @ X
    elif X.flags.c_contiguous:  # its rows are the columns of Xᵀ
        product = syrk(1, X.T, lower=1).T
    else:
        product = syrk(1, X, trans=1, lower=1).T
    _mirror(product)
    return product


STRETCH = 400_000  # entries of a matrix that a cache holds
SHARED = 32  # stretches at a time that threads take, each with sums of its own


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _weighted_rows(X: Array, y: Array) -> Array:
    """Return Xᵀ y, four rows of X at a time."""
    total = np.zeros(X.shape[1], X.dtype)
    whole = len(X) - len(X) % 4
    for i in range(0, whole, 4):
        a, b, c, e = X[i], X[i + 1], X[i + 2], X[i + 3]
        p, q, r, s = y[i], y[i + 1], y[i + 2], y[i + 3]
        for j in range(total.size):
            total[j] += p * a[j] + q * b[j] + (r * c[j] + s * e[j])
    for i in range(whole, len(X)):
        row, p = X[i], y[i]
        for j in range(total.size):
            total[j] += p * row[j]
    return total


def _product(X: Array, A: Array) -> Array:
    """Return Xᵀ A."""
    return _weighted_rows(X, A) if A.ndim == 1 and X.flags.c_contiguous else X.T @ A


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _add_stretches(
    X: Array, y: Array, rows: int, panel: Array, squares: Array, sums: Array
) -> None:
    """Add Xᵀ X and Xᵀ y of every stretch of rows to a total of its own, with threads."""
    for k in prange(len(squares)):
        part = X[k * rows : (k + 1) * rows]
        _add_squares(part, np.zeros_like(panel), squares[k])
        sums[k] += _weighted_rows(part, y[k * rows : (k + 1) * rows])


def _shared(X: Array, y: Array, rows: int) -> tuple[Array, Array]:
    """Return Xᵀ X and Xᵀ y; stretches are added in their order, whatever thread made them."""
    d = X.shape[1]
    whole = -(-d // 4) * 4
    panel = np.zeros((whole, PANEL // X.itemsize), X.dtype)
    square, right = np.zeros((whole, whole), X.dtype), np.zeros(d, X.dtype)
    for start in range(0, len(X), SHARED * rows):
        part = X[start : start + SHARED * rows]
        count = -(-len(part) // rows)
        squares, sums = np.zeros((count, *square.shape), X.dtype), np.zeros((count, d), X.dtype)
        _add_stretches(part, y[start : start + SHARED * rows], rows, panel, squares, sums)
        for k in range(count):
            square += squares[k]
            right += sums[k]
    square = np.ascontiguousarray(square[:d, :d])
    _mirror(square)
    return square, right


def _products(X: Array, *others: Array) -> list[Array]:
    """Return Xᵀ A for every A, a stretch of rows at a time: X is read from memory once."""
    rows = max(1, STRETCH // max(1, X.shape[1]))
    vectors = [A for A in others if A.ndim == 1]
    squares = sum(A is X for A in others)
    narrow = X.shape[1] <= NARROW and X.flags.c_contiguous
    if narrow and len(X) > rows and squares == len(vectors) == 1 == len(others) - 1:
        square, right = _shared(X, vectors[0], rows)
        return [square if A is X else right for A in others]
    totals: list[Any] = [0] * len(others)
    for start in range(0, max(1, len(X)), rows):
        part = X[start : start + rows]
        for k, A in enumerate(others):
            more = _gram(part) if A is X else _product(part, A[start : start + rows])
            totals[k] = totals[k] + more if start else more
    return totals
