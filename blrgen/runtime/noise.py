"""Normal numbers made of random words: each is a function of its place in a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange, types
from numba.extending import overload

from blrgen.runtime.arrays import Array
from blrgen.runtime.compiled import CALLED, FASTMATH, INLINED, _float_of, _integer_of
from blrgen.runtime.threefry import BLOCK, WORDS, _random_words

MINUS_TWO_LOG_SINGLE = (-0.6086506, -0.79905635, -1.3333409, -4.0)
MINUS_TWO_LOG_DOUBLE = (
    -0.30774005996544945, -0.3049470582889565, -0.3637305413650387, -0.4444426650260715,
    -0.5714285896305809, -0.799999999908737, -1.3333333333335073, -4.0,
)  # fmt: skip
SINE_SINGLE = (-3.595429e-05, 0.0024900069, -0.080745436, 0.7853982)
SINE_DOUBLE = (
    6.877360573166326e-12, -1.7571500746983935e-09, 3.133616225433416e-07, -3.657620415891387e-05,
    0.002490394570188844, -0.08074551218828054, 0.7853981633974483,
)  # fmt: skip
COSINE_SINGLE = (-0.0003188775, 0.01584991, -0.30842426, 1.0)
COSINE_DOUBLE = (
    1.1365469207731353e-10, -2.4609507094028117e-08, 3.590859179850238e-06, -0.00032599188648354014,
    0.015854344243741547, -0.30842513753403783, 1.0,
)  # fmt: skip
LOG_FOUR_SINGLE = 1.3862944
LOG_FOUR_DOUBLE = 1.3862943611198906


@njit(**INLINED)
def _octave_single(odd: Any) -> Any:
    """Return e and f·2^32 where an odd number is (1 + f)·2^32/2ᵉ, 1 + f in [2/3, 4/3).

    e is read off the float nearest to the number, and f is exact: what a shift by e leaves of it.
    """
    real, word = np.float32, np.uint32
    nearest = word(_integer_of(real(odd)))
    e = word(word(0x4FAAAAAA) - nearest) >> word(23)
    return e, real(np.int32(word(odd << word(e & word(31)))))


@njit(**INLINED)
def _octave_double(odd: Any) -> Any:
    """Return e and f·2^64 where an odd number is (1 + f)·2^64/2ᵉ, 1 + f in [2/3, 4/3).

    e is read off the float nearest to the number, and f is exact: what a shift by e leaves of it.
    """
    real, word = np.float64, np.uint64
    nearest = word(_integer_of(real(odd)))
    e = word(word(0x43F5555555555554) - nearest) >> word(52)
    return e, real(np.int64(word(odd << word(e & word(63)))))


@njit(**INLINED)
def _minus_two_log_single(w: Any) -> Any:
    """Return −2 log u for u = (2k + 1)/2^32 with k = w // 2, accurate also as u → 1.

    u = (1 + f)/2ᵉ; with s = f/(2 + f), log(1 + f) is 2 artanh(s).
    """
    real, word = np.float32, np.uint32
    e, f = _octave_single(word(w | word(1)))
    s = f / (f + real(2.0**33))
    square = s * s
    p = real(MINUS_TWO_LOG_SINGLE[0])
    for a in MINUS_TWO_LOG_SINGLE[1:]:
        p = p * square + real(a)
    return s * p + real(np.int32(e)) * real(LOG_FOUR_SINGLE)


@njit(**INLINED)
def _minus_two_log_double(w: Any) -> Any:
    """Return −2 log u for u = (2k + 1)/2^64 with k = w // 2, accurate also as u → 1.

    u = (1 + f)/2ᵉ; with s = f/(2 + f), log(1 + f) is 2 artanh(s).
    """
    real, word = np.float64, np.uint64
    e, f = _octave_double(word(w | word(1)))
    s = f / (f + real(2.0**65))
    square = s * s
    p = real(MINUS_TWO_LOG_DOUBLE[0])
    for a in MINUS_TWO_LOG_DOUBLE[1:]:
        p = p * square + real(a)
    return s * p + real(np.int64(e)) * real(LOG_FOUR_DOUBLE)


@njit(**INLINED)
def _turn_single(w: Any) -> Any:
    """Return cos φ and sin φ for one of 2^32 equally spaced angles.

    30 bits choose an angle between −π/4 and π/4, the other two a quarter of the circle.
    """
    real, word = np.float32, np.uint32
    t = real(np.int32(word(w << word(2)))) * real(2.0**-31) + real(2.0**-30)
    square = t * t
    s = real(SINE_SINGLE[0])
    for a in SINE_SINGLE[1:]:
        s = s * square + real(a)
    s *= t
    c = real(COSINE_SINGLE[0])
    for a in COSINE_SINGLE[1:]:
        c = c * square + real(a)
    c = _float_of(np.int32(word(_integer_of(c)) ^ word(w & word(0x80000000))))
    crosswise = word(w & word(0x40000000)) != word(0)
    return (s if crosswise else c), (c if crosswise else s)


@njit(**INLINED)
def _turn_double(w: Any) -> Any:
    """Return cos φ and sin φ for one of 2^64 equally spaced angles.

    62 bits choose an angle between −π/4 and π/4, the other two a quarter of the circle.
    """
    real, word = np.float64, np.uint64
    t = real(np.int64(word(w << word(2)))) * real(2.0**-63) + real(2.0**-62)
    square = t * t
    s = real(SINE_DOUBLE[0])
    for a in SINE_DOUBLE[1:]:
        s = s * square + real(a)
    s *= t
    c = real(COSINE_DOUBLE[0])
    for a in COSINE_DOUBLE[1:]:
        c = c * square + real(a)
    c = _float_of(np.int64(word(_integer_of(c)) ^ word(w & word(0x8000000000000000))))
    crosswise = word(w & word(0x4000000000000000)) != word(0)
    return (s if crosswise else c), (c if crosswise else s)


def _standard_normal_single(out: Array, words: Array, key: Any, stream: int, first: int) -> None:
    """Four numbers from three words by Box and Muller: √(−2 log u) cos φ and √(−2 log u) sin φ.

    Half a word is the upper half of an angle. The lower half of a word says both what little
    it adds to its own radius and the lower half of the angle there.
    """
    quarter = BLOCK // 4
    upper, lower = np.uint32(0xFFFF0000), np.uint32(0xFFFF)
    _random_words(words, 3 * quarter // 2, key, stream, first // BLOCK * 128)
    for j in range(quarter):
        v, w, angles = words[j], words[j + quarter], words[j + 2 * quarter]
        r = np.sqrt(_minus_two_log_single(v))
        c, s = _turn_single(np.uint32((angles & upper) | (v & lower)))
        out[j] = r * c
        out[j + quarter] = r * s
        r = np.sqrt(_minus_two_log_single(w))
        c, s = _turn_single(np.uint32((angles << np.uint32(16)) | (w & lower)))
        out[j + 2 * quarter] = r * c
        out[j + 3 * quarter] = r * s


def _standard_normal_double(out: Array, words: Array, key: Any, stream: int, first: int) -> None:
    """Two numbers a time by Box and Muller: √(−2 log u) cos φ and √(−2 log u) sin φ."""
    half, pairs = BLOCK // 2, words.view(np.uint64)
    _random_words(words, BLOCK, key, stream, first // BLOCK * 256)
    for j in range(half):
        r = np.sqrt(_minus_two_log_double(pairs[j]))
        c, s = _turn_double(pairs[j + half])
        out[j] = r * c
        out[j + half] = r * s


def _standard_normal_block(out: Array, words: Array, key: Any, stream: int, first: int) -> None:
    """Fill one whole block; what is compiled in its place depends on the dtype."""
    raise NotImplementedError


@overload(_standard_normal_block, jit_options=CALLED)
def _standard_normal_chosen(out: Array, words: Array, key: Any, stream: int, first: int) -> Any:
    """Return the function for a dtype."""
    return _standard_normal_single if out.dtype == types.float32 else _standard_normal_double


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _standard_normal(out: Array, key: Any, stream: int, first: int) -> None:
    """Fill `out` with a stretch of a stream of standard normal numbers.

    A number depends on the key, the stream and its place in it only; `first`, the place of the
    first, is a multiple of BLOCK.
    """
    words, whole = np.empty(WORDS, np.uint32), np.empty(BLOCK, out.dtype)
    for start in range(0, out.size, BLOCK):
        part = out[start : start + BLOCK]
        _standard_normal_block(whole, words, np.uint64(key), stream, first + start)
        for i in range(part.size):
            part[i] = whole[i]


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _standard_normal_threads(out: Array, key: Any, stream: int, stretch: int) -> None:
    """Fill `out` from the beginning of a stream with threads, or without where `stretch` is 0."""
    if stretch == 0:
        _standard_normal(out, key, stream, 0)
        return
    for part in prange(-(-out.size // stretch)):
        begin = part * stretch
        _standard_normal(out[begin : begin + stretch], key, stream, begin)
