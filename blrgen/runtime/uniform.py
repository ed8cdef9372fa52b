"""Uniform numbers made of random words, strictly between the ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from blrgen.runtime.arrays import Array
from blrgen.runtime.compiled import CALLED
from blrgen.runtime.threefry import BLOCK, _random_words


def _uniform_single(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """location + scale·u for u in (0, 1), odd multiples of a power of two."""
    real, word, whole = np.float32, np.uint32, words
    location, scale = real(location), real(scale)
    low, high = np.nextafter(location, location + scale), np.nextafter(location + scale, location)
    _random_words(words, BLOCK // 2, key, stream, first // BLOCK * 128)
    for j in range(BLOCK):
        u = real(word(whole[j] | word(1))) * real(2.0**-32)
        out[j] = min(max(location + scale * u, low), high)


def _uniform_double(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """location + scale·u for u in (0, 1), odd multiples of a power of two."""
    real, word, whole = np.float64, np.uint64, words.view(np.uint64)
    location, scale = real(location), real(scale)
    low, high = np.nextafter(location, location + scale), np.nextafter(location + scale, location)
    _random_words(words, BLOCK, key, stream, first // BLOCK * 256)
    for j in range(BLOCK):
        u = real(word(whole[j] | word(1))) * real(2.0**-64)
        out[j] = min(max(location + scale * u, low), high)


def _uniform_block(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """Fill one whole block; what is compiled in its place depends on the dtype."""
    raise NotImplementedError


@overload(_uniform_block, jit_options=CALLED)
def _uniform_chosen(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> Any:
    """Return the function for a dtype."""
    return _uniform_single if out.dtype == types.float32 else _uniform_double
