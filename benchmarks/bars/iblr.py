"""iBLR, full covariance: S ← S + ρ G + ½ρ² G S⁻¹ G, m ← m − ρ S⁻¹ g with the old S, G = H − S."""

from __future__ import annotations

import numpy as np

from benchmarks.bars.common import Array
from benchmarks.bars.dense import blas, lapack


def step(m: Array, S: Array, g: Array, H: Array, rho: float) -> None:
    """With S = L Lᵀ and Z = L⁻¹ G the last term is ½ρ² Zᵀ Z: one factor for everything."""
    real = S.dtype.type
    factor, info = lapack("potrf", S)(S.T, lower=1, clean=0)
    if info != 0:
        raise ValueError("not positive definite")
    x, _ = lapack("potrs", S)(factor, g, lower=1)
    G = H - S
    Z = blas("trsm", S)(real(1), factor, G.T, lower=1)  # G is symmetric
    S += real(rho) * G
    half = blas("syrk", S)(real(rho * rho / 2), Z, trans=1, lower=1)
    lower = np.tril(half)
    S += lower
    S += np.tril(half, -1).T
    m -= real(rho) * x
