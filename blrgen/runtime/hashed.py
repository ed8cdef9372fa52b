"""Random words by a hash of counters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from blrgen.runtime.arrays import Array
from blrgen.runtime.compiled import INLINED

BLOCK = 256  # numbers that are made at once, of words that stay in the fastest cache
WORDS = 1024  # of 32 bits, as many as are made at once


@njit(**INLINED)
def _scrambled(x: Any) -> Any:
    """Return a 64-bit number whose bits all depend on all bits of x (splitmix64)."""
    x = np.uint64(x + np.uint64(0x9E3779B97F4A7C15))
    x = np.uint64(np.uint64(x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9))
    x = np.uint64(np.uint64(x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB))
    return np.uint64(x ^ (x >> np.uint64(31)))


@njit(**INLINED)
def _permuted(x: Any, before: Any, within: Any) -> Any:
    """Return a permutation of the 32-bit words that two keys choose."""
    word = np.uint32
    x = word(x + before)
    x = word(word(x ^ (x >> word(16))) * word(0x7FEB352D))
    x = word(word(word(x ^ (x >> word(15))) + within) * word(0x846CA68B))
    return word(x ^ (x >> word(16)))


@njit(**INLINED)
def _random_words(words: Array, count: int, key: Any, stream: int, first: int) -> None:
    """Fill `words` with pairs of random words: a hash of `count` counters from `first`.

    The second words of all pairs follow the first ones. Key, stream and the upper half of the
    counter choose two permutations p and q of the lower half, which is not passed; the words
    are p + q and p ⊕ rotl(q, 16).
    """
    word, upper = np.uint32, np.uint64(32)
    low, place = word(first), np.uint64(stream + ((first >> 32) << 24))
    k = _scrambled(np.uint64(_scrambled(np.uint64(key)) + place))
    more = _scrambled(k)
    a, b, c, d = word(k), word(k >> upper), word(more), word(more >> upper)
    for j in range(count):
        n = word(low + word(j))
        p, q = _permuted(n, a, b), _permuted(n, c, d)
        words[j] = word(p + q)
        words[j + count] = word(p ^ word(word(q << word(16)) | word(q >> word(16))))
