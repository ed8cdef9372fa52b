"""Logistic numbers made of random words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from blrgen.runtime.arrays import Array
from blrgen.runtime.compiled import CALLED, INLINED, _float_of, _integer_of
from blrgen.runtime.threefry import BLOCK, _random_words

LOG_ODDS_SINGLE = (0.3043253, 0.39952818, 0.66667044, 2.0)
LOG_ODDS_DOUBLE = (
    0.15387002998272473, 0.15247352914447826, 0.18186527068251934, 0.22222133251303575,
    0.2857142948152904, 0.3999999999543685, 0.6666666666667537, 2.0,
)  # fmt: skip
LOG_TWO_OF_BITS_SINGLE = 8.262958e-08
LOG_TWO_OF_BITS_DOUBLE = 1.539095918623324e-16


@njit(**INLINED)
def _log_odds_single(w: Any) -> Any:
    """Return log u − log(1 − u) for u = (2k + 1)/2^32 with k = w // 2, accurate at both ends.

    With a whole number j that brings a = u/2ʲ and b = 1 − u near to each other, it is
    j log 2 + 2 artanh(s), s = (a − b)/(a + b).
    """
    real, word, signed = np.float32, np.uint32, np.int32
    a, b = real(word(w | word(1))), real(word(~w | word(1)))
    bits = _integer_of(a)
    j = signed(bits - _integer_of(b) + signed(0x400000))
    j = signed(j & signed(-0x800000))  # whole, at the place of an exponent
    near = _float_of(signed(bits - j))
    s = (near - b) / (near + b)
    square = s * s
    p = real(LOG_ODDS_SINGLE[0])
    for c in LOG_ODDS_SINGLE[1:]:
        p = p * square + real(c)
    return s * p + real(j) * real(LOG_TWO_OF_BITS_SINGLE)


@njit(**INLINED)
def _log_odds_double(w: Any) -> Any:
    """Return log u − log(1 − u) for u = (2k + 1)/2^64 with k = w // 2, accurate at both ends.

    With a whole number j that brings a = u/2ʲ and b = 1 − u near to each other, it is
    j log 2 + 2 artanh(s), s = (a − b)/(a + b).
    """
    real, word, signed = np.float64, np.uint64, np.int64
    a, b = real(word(w | word(1))), real(word(~w | word(1)))
    bits = _integer_of(a)
    j = signed(bits - _integer_of(b) + signed(0x8000000000000))
    j = signed(j & signed(-0x10000000000000))  # whole, at the place of an exponent
    near = _float_of(signed(bits - j))
    s = (near - b) / (near + b)
    square = s * s
    p = real(LOG_ODDS_DOUBLE[0])
    for c in LOG_ODDS_DOUBLE[1:]:
        p = p * square + real(c)
    return s * p + real(j) * real(LOG_TWO_OF_BITS_DOUBLE)


@njit(**INLINED)
def _other(w: Any, upper: Any) -> Any:
    """Return the upper half of one word with the two lower bytes of another, exchanged."""
    word = np.uint32
    left, right = word(w << word(8)) & word(0xFF00), word(w >> word(8)) & word(0xFF)
    return word(word(upper & word(0xFFFF0000)) | word(left | right))


def _logistic_single(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """location + scale·x with x = log u − log(1 − u); four numbers from three words.

    Half a word is the upper half of another u, whose lower half is that of the first one with
    its bytes exchanged: to 24 bits the two are independent.
    """
    quarter = BLOCK // 4
    location, scale = np.float32(location), np.float32(scale)
    _random_words(words, 3 * quarter // 2, key, stream, first // BLOCK * 128)
    for j in range(quarter):
        v, w, halves = words[j], words[j + quarter], words[j + 2 * quarter]
        u = _log_odds_single(v)
        out[j] = location + scale * u
        u = _log_odds_single(w)
        out[j + quarter] = location + scale * u
        u = _log_odds_single(_other(v, halves))
        out[j + 2 * quarter] = location + scale * u
        u = _log_odds_single(_other(w, np.uint32(halves << np.uint32(16))))
        out[j + 3 * quarter] = location + scale * u


def _logistic_double(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """location + scale·x with x = log u − log(1 − u)."""
    whole = words.view(np.uint64)
    location, scale = np.float64(location), np.float64(scale)
    _random_words(words, BLOCK, key, stream, first // BLOCK * 256)
    for j in range(BLOCK):
        u = _log_odds_double(whole[j])
        out[j] = location + scale * u


def _logistic_block(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """Fill one whole block; what is compiled in its place depends on the dtype."""
    raise NotImplementedError


@overload(_logistic_block, jit_options=CALLED)
def _logistic_chosen(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> Any:
    """Return the function for a dtype."""
    return _logistic_single if out.dtype == types.float32 else _logistic_double
