"""Random words by Threefry2x32-20, a cipher of counters (Salmon et al., 2011)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from blrgen.runtime.arrays import Array
from blrgen.runtime.compiled import INLINED

BLOCK = 256  # numbers that are made at once, of words that stay in the fastest cache
WORDS = 1024  # of 32 bits, as many as are made at once


@njit(**INLINED)
def _round(x: Any, y: Any, left: Any) -> Any:
    """Return x + y and rotl(y, left) ⊕ (x + y)."""
    word = np.uint32
    right = word(32 - left)
    left = word(left)
    x = word(x + y)
    return x, word(word(word(y << left) | word(y >> right)) ^ x)


@njit(**INLINED)
def _rounds(x: Any, y: Any, lefts: tuple[int, ...], k: Any, other: Any) -> Any:
    """Return a pair of words after four rounds, with a part of the key added to each."""
    a, b, c, d = lefts
    x, y = _round(x, y, a)
    x, y = _round(x, y, b)
    x, y = _round(x, y, c)
    x, y = _round(x, y, d)
    return np.uint32(x + k), np.uint32(y + other)


@njit(**INLINED)
def _random_words(words: Array, count: int, key: Any, stream: int, first: int) -> None:
    """Fill `words` with pairs of random words: Threefry2x32-20 of `count` counters from `first`.

    The second words of all pairs follow the first ones. A counter is encrypted together with
    its stream, so that no two of them give the same pair (up to 2²³ streams and 2⁴⁰ counters;
    a multiple of 2³² can only be first). Four rounds are a loop: no processor looks far enough
    ahead to work on several chains of twenty.
    """
    word = np.uint32
    k0, k1 = word(key), word(np.uint64(key) >> np.uint64(32))
    k2 = word(word(k0 ^ k1) ^ word(0x1BD11BDA))
    low = word(word(first) + k0)
    high = word(word(stream + ((first >> 32) << 24)) + k1)
    for j in range(count):
        x, y = _rounds(word(low + word(j)), high, (13, 15, 26, 6), k1, word(k2 + word(1)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (17, 29, 16, 24), k2, word(k0 + word(2)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (13, 15, 26, 6), k0, word(k1 + word(3)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (17, 29, 16, 24), k1, word(k2 + word(4)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (13, 15, 26, 6), k2, word(k0 + word(5)))
        words[j], words[j + count] = x, y
