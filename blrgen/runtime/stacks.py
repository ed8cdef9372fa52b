"""Stacks of matrices at once, in whole arrays of any target."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from blrgen.runtime.arrays import Array


def _solved_or_nan(matrices: Array, right: Array) -> Array:
    """Return A⁻¹ b for stacks of matrices, NaN where one has no inverse."""
    try:
        return np.asarray(np.linalg.solve(matrices, right))
    except np.linalg.LinAlgError:
        stack = np.broadcast_shapes(matrices.shape[:-2], right.shape[:-2])
        a = np.broadcast_to(matrices, (*stack, *matrices.shape[-2:]))
        b = np.broadcast_to(right, (*stack, *right.shape[-2:]))
        out = np.full(b.shape, np.nan, b.dtype)
        for place in np.ndindex(*stack):
            with suppress(np.linalg.LinAlgError):
                out[place] = np.linalg.solve(a[place], b[place])
        return out
