"""One of two values for every element, with the probability of that element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from blrgen.runtime.arrays import Array
from blrgen.runtime.compiled import FASTMATH, INLINED
from blrgen.runtime.threads import PORTION
from blrgen.runtime.threefry import WORDS, _random_words


@njit(fastmath=FASTMATH, error_model="numpy")
def _settle(
    out: Array, p: Array, low: Any, high: Any, words: Array, key: Any, stream: int, first: int
) -> None:
    """Compare 64 more bits where the first sixteen say nothing, in one whole portion.

    They are made for such an element alone, in a stream of their own; what is left is 2⁻⁸⁰.
    """
    half, few, scale = PORTION // 2, 64, p.dtype.type(65536)
    more = np.empty(2, np.uint32)
    for begin in (0, half):
        right, chances = np.uint32(0 if begin else 16), p[begin : begin + half]
        for start in range(0, half, few):
            same = 0
            for i in range(start, start + few):
                bits = np.int32((words[i] >> right) & np.uint32(65535))
                same += bits == np.int32(chances[i] * scale)
            for i in range(start, start + few if same else start):
                bits = np.int32((words[i] >> right) & np.uint32(65535))
                if bits == np.int32(chances[i] * scale):
                    _random_words(more, 1, key, stream + 2**23, first + begin + i)
                    scaled = np.float64(chances[i]) * 65536.0
                    rest = np.uint64((scaled - np.floor(scaled)) * 2.0**64)
                    out[begin + i] = high if more.view(np.uint64)[0] < rest else low


@njit(**INLINED)
def _signs_block(
    out: Array, p: Array, low: Any, high: Any, words: Array, key: Any, stream: int, first: int
) -> bool:
    """Choose `high` in one whole portion wherever sixteen random bits are below 2¹⁶ p.

    One half of it after the other: memory is read and written in its own order. Return
    whether these sixteen bits are those of the probability somewhere, so that more must be seen.
    """
    real, half = out.dtype.type, PORTION // 2
    _random_words(words, half // 2, key, stream, first // PORTION * (half // 2))
    scale, nearest = real(65536), np.uint32(65536)
    for j in range(half):
        u = np.int32(np.int32(words[j] >> np.uint32(16)) - np.int32(p[j] * scale))
        nearest = min(nearest, np.uint32(u))
        out[j] = high if u < 0 else low
    for j in range(half):
        u = np.int32(np.int32(words[j] & np.uint32(65535)) - np.int32(p[j + half] * scale))
        nearest = min(nearest, np.uint32(u))
        out[j + half] = high if u < 0 else low
    return bool(nearest == 0)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _signs(out: Array, p: Array, low: Any, high: Any, key: Any, stream: int, first: int) -> None:
    """Fill `out` with `high` with the probability p of each element, else `low`.

    A choice depends on the key, the stream, its place in the stream and its probability, which
    is met within 2⁻⁸⁰; `first`, the place of the first, is a multiple of PORTION.
    """
    low, high = out.dtype.type(low), out.dtype.type(high)
    words, key = np.empty(WORDS, np.uint32), np.uint64(key)
    whole = out.size // PORTION * PORTION
    for start in range(0, whole, PORTION):
        to, chance = out[start : start + PORTION], p[start : start + PORTION]
        if _signs_block(to, chance, low, high, words, key, stream, first + start):
            _settle(to, chance, low, high, words, key, stream, first + start)
    if whole < out.size:
        to, chance = np.empty(PORTION, out.dtype), np.zeros(PORTION, p.dtype)
        for i in range(whole, out.size):
            chance[i - whole] = p[i]
        if _signs_block(to, chance, low, high, words, key, stream, first + whole):
            _settle(to, chance, low, high, words, key, stream, first + whole)
        for i in range(whole, out.size):
            out[i] = to[i - whole]


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _signs_threads(
    out: Array, p: Array, low: Any, high: Any, key: Any, stream: int, stretch: int
) -> None:
    """Fill `out` from the beginning of a stream with threads, or without where `stretch` is 0."""
    if stretch == 0:
        _signs(out, p, low, high, key, stream, 0)
        return
    for part in prange(-(-out.size // stretch)):
        begin, end = part * stretch, (part + 1) * stretch
        _signs(out[begin:end], p[begin:end], low, high, key, stream, begin)
