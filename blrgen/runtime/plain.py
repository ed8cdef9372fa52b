"""What NumPy says in words of its own: choices, the bits of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array


def _where(condition: Any, yes: Array, no: Array) -> Array:
    """Return one of two numbers for every element."""
    return np.where(condition, yes, no)


def _real_of(x: Any) -> Callable[[Any], Array]:
    """Return the type of the elements of an array of floats."""
    real: Callable[[Any], Array] = x.dtype.type
    return real


def _whole_of(x: Any) -> Callable[[Any], Array]:
    """Return the type of integers as wide as the floats of an array."""
    return _integer_of(x).dtype.type


def _largest_of(width: Any) -> Any:
    """Return the largest of several numbers, 0 where there are none."""
    return float(np.max(width, initial=0))


def _integer_of(x: Array) -> Array:
    """Return the bits of a float as an integer of its width."""
    return x.view(np.int32 if x.dtype == np.float32 else np.int64)


def _float_of(k: Array) -> Array:
    """Return the float that has these bits."""
    return k.view(np.float32 if k.dtype == np.int32 else np.float64)
