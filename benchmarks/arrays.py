"""Arrays that nobody can complain about: aligned to cache lines, for everybody the same.

A vector load that straddles two cache lines costs twice as much, and where `malloc` puts
an array is chance.  Starts differ by odd numbers of cache lines, so that a store to one
array is not taken for a load of another (4 KiB aliasing).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

Array = Any
PAGE, LINE = 4096, 64
_NUMBER = count(1)


def empty(size: int, dtype: str) -> Array:
    """An aligned array; what it holds is not said."""
    bytes_ = size * np.dtype(dtype).itemsize
    raw = np.empty(bytes_ + 2 * PAGE, np.uint8)
    shift = LINE * (5 * next(_NUMBER) % (PAGE // LINE))
    start = (-raw.ctypes.data) % PAGE + shift
    return raw[start : start + bytes_].view(dtype)


def full(size: int, dtype: str, value: float) -> Array:
    """An aligned array of one value; its pages are there."""
    array = empty(size, dtype)
    array[:] = value
    return array


def copied(values: Array) -> Array:
    """An aligned copy."""
    array = empty(values.size, values.dtype.name)
    array[:] = values.reshape(-1)
    return array.reshape(values.shape)


@lru_cache(maxsize=3)
def gradient(size: int, dtype: str, positive: bool = False) -> Array:
    """Normal numbers, or positive ones, the same each time; for all, and not to be written to."""
    array = empty(size, dtype)
    np.random.default_rng(0).standard_normal(size, dtype=np.dtype(dtype).type, out=array)
    if positive:
        np.abs(array, out=array)
        array += 0.1
    return array
