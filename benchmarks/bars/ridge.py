"""Ridge regression: S = XᵀX + δI, m = S⁻¹ Xᵀ y."""

from __future__ import annotations

import numpy as np

from benchmarks.bars.common import Array
from benchmarks.bars.dense import solved


def step(m: Array, S: Array, X: Array, y: Array, delta: float) -> None:
    """The normal equations, then the solver."""
    np.matmul(X.T, X, out=S)
    S.reshape(-1)[:: len(m) + 1] += S.dtype.type(delta)
    m[:] = solved(S.copy(), y @ X)
