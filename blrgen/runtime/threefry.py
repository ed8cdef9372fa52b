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
def _rounds(x: Any, y: Any, lefts: tuple[int, ...], k: Any, other: Any) -> Any:
    """Return a pair of words after four rounds, with a part of the key added to each.

    A round is x + y, then rotl(y, left) ⊕ (x + y).
    """
    word = np.uint32
    for left in lefts:
        x = word(x + y)
        y = word(word(word(y << word(left)) | word(y >> word(32 - left))) ^ x)
    return word(x + k), word(y + other)


@njit(**INLINED)
def _random_words(words: Array, n: int, key: Any, stream: int, first: int) -> None:
    """Fill `words` with pairs of random words: Threefry2x32-20 of `n` counters from `first`.

    The second words of all pairs follow the first ones. A counter is encrypted together with
    its stream, so that no two of them give the same pair (up to 2²³ streams and 2⁴⁰ counters;
    a multiple of 2³² can only be first). Four rounds are a loop: no processor looks far enough
    ahead to work on several chains of twenty.
    """
    word, even, odd = np.uint32, (13, 15, 26, 6), (17, 29, 16, 24)
    k0, k1 = word(key), word(np.uint64(key) >> np.uint64(32))
    k2 = word(word(k0 ^ k1) ^ word(0x1BD11BDA))
    low, high = word(word(first) + k0), word(word(stream + ((first >> 32) << 24)) + k1)
    for j in range(n):
        words[j], words[j + n] = _rounds(word(low + word(j)), high, even, k1, word(k2 + word(1)))
    for j in range(n):
        words[j], words[j + n] = _rounds(words[j], words[j + n], odd, k2, word(k0 + word(2)))
    for j in range(n):
        words[j], words[j + n] = _rounds(words[j], words[j + n], even, k0, word(k1 + word(3)))
    for j in range(n):
        words[j], words[j + n] = _rounds(words[j], words[j + n], odd, k1, word(k2 + word(4)))
    for j in range(n):
        words[j], words[j + n] = _rounds(words[j], words[j + n], even, k2, word(k0 + word(5)))
