"""What kernels by hand with a full covariance share: LAPACK called without a detour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from benchmarks.bars.common import SERIAL, Array


@njit(**SERIAL)
def blend(S: Array, H: Array, factor: Array, rho: float) -> None:
    """S ← (1 − ρ) S + ρ H, and a copy of it to be factored, in one pass."""
    real = S.dtype.type
    part, keep = real(rho), real(1 - rho)
    S, H, factor = S.reshape(-1), H.reshape(-1), factor.reshape(-1)
    for i in range(S.size):
        x = keep * S[i] + part * H[i]
        S[i] = x
        factor[i] = x


def lapack(name: str, like: Array) -> Any:
    """The LAPACK routine for the dtype of an array."""
    from scipy.linalg.lapack import get_lapack_funcs

    return get_lapack_funcs((name,), (like,))[0]


def blas(name: str, like: Array) -> Any:
    """The BLAS routine for the dtype of an array."""
    from scipy.linalg.blas import get_blas_funcs

    return get_blas_funcs((name,), (like,))[0]


def solved(factor: Array, b: Array) -> Array:
    """A⁻¹ b for a symmetric positive definite A, which is overwritten; b is kept."""
    _, x, info = lapack("posv", factor)(factor.T, b.copy(), overwrite_a=1, overwrite_b=1)
    if info != 0:
        raise ValueError("not positive definite")
    return x


def online_newton(m: Array, S: Array, g: Array, H: Array, rho: float) -> None:
    """S ← (1 − ρ) S + ρ H, m ← m − ρ S⁻¹ g with the new S."""
    factor = np.empty_like(S)
    blend(S, H, factor, rho)
    m -= solved(factor, g) * m.dtype.type(rho)


def newton(m: Array, S: Array, g: Array, H: Array) -> None:
    """S ← H, m ← m − H⁻¹ g."""
    S[:] = H
    m -= solved(H.copy(), g)
