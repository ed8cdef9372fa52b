"""Normal numbers made of random words: each is a function of its place in a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange, types
from numba.extending import overload

from blrgen.runtime.arrays import Array
from blrgen.runtime.compiled import CALLED, FASTMATH, INLINED
from blrgen.runtime.threefry import BLOCK, WORDS, _random_words

# How a word is taken apart: where powers of two begin among bits of floats, what is before the
# exponent, the last bit; then log 4 and a polynomial of −2 artanh
LOG_SINGLE = (0x4FAAAAAA, 23, 31, 2.0**33, 1.3862944)
LOG_DOUBLE = (0x43F5555555555554, 52, 63, 2.0**65, 1.3862943611198906)
ARTANH_SINGLE = (-0.6086506, -0.79905635, -1.3333409, -4.0)
ARTANH_DOUBLE = (
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


@njit(**INLINED)
def _polynomial(x: Any, terms: tuple[float, ...]) -> Any:
    """Return a polynomial by its coefficients, the highest first."""
    real = type(x)
    p = real(terms[0])
    for a in terms[1:]:
        p = p * x + real(a)
    return p


@njit(**INLINED)
def _minus_two_log(odd: Any, bits: Any, one: Any, log: Any, artanh: tuple[float, ...]) -> Any:
    """Return −2 log u for u = odd/2^32, or over 2^64, accurate also as u → 1.

    u = (1 + f)/2ᵉ with 1 + f in [2/3, 4/3); with s = f/(2 + f), log(1 + f) is 2 artanh(s). e is
    read off the bits of the float nearest to the odd word, and f is exact: what a shift leaves.
    """
    real, word, signed = type(one), type(odd), type(bits)
    start, digits, last, two, four = log
    e = word(word(start) - word(bits)) >> word(digits)
    f = real(signed(word(odd << word(e & word(last)))))
    s = f / (f + real(two))
    return s * _polynomial(s * s, artanh) + real(signed(e)) * real(four)


@njit(**INLINED)
def _turn(w: Any, part: Any, sines: tuple[float, ...], cosines: tuple[float, ...]) -> Any:
    """Return cos φ and sin φ for one of as many equally spaced angles as there are words.

    All bits but two choose an angle between −π/4 and π/4, `part` in [−1, 1) of it; those two
    a quarter of the circle.
    """
    signed, square = type(w), part * part
    s, c = part * _polynomial(square, sines), _polynomial(square, cosines)
    c = -c if w < 0 else c
    crosswise = signed(w << signed(1)) < 0
    return (s if crosswise else c), (c if crosswise else s)


@njit(**INLINED)
def _pair_single(w: Any, angle: Any) -> Any:
    """Return two numbers: √(−2 log u) for one of 2^31 numbers u, by cos φ and sin φ of 2^32 φ."""
    real, word = np.float32, np.uint32
    odd, angle = word(w | word(1)), word(angle)
    bits = np.float32(odd).view(np.int32)
    r = np.sqrt(_minus_two_log(odd, bits, real(1), LOG_SINGLE, ARTANH_SINGLE))
    part = real(np.int32(word(angle << word(2)))) * real(2.0**-31) + real(2.0**-30)
    c, s = _turn(np.int32(angle), part, SINE_SINGLE, COSINE_SINGLE)
    return r * c, r * s


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
        out[j], out[j + quarter] = _pair_single(v, (angles & upper) | (v & lower))
        angle = (angles << np.uint32(16)) | (w & lower)
        out[j + 2 * quarter], out[j + 3 * quarter] = _pair_single(w, angle)


def _standard_normal_double(out: Array, words: Array, key: Any, stream: int, first: int) -> None:
    """Two numbers a time by Box and Muller: √(−2 log u) cos φ and √(−2 log u) sin φ."""
    real, word, half, pairs = np.float64, np.uint64, BLOCK // 2, words.view(np.uint64)
    _random_words(words, BLOCK, key, stream, first // BLOCK * 256)
    for j in range(half):
        odd, angle = word(pairs[j] | word(1)), pairs[j + half]
        bits = np.float64(odd).view(np.int64)
        r = np.sqrt(_minus_two_log(odd, bits, real(1), LOG_DOUBLE, ARTANH_DOUBLE))
        part = real(np.int64(word(angle << word(2)))) * real(2.0**-63) + real(2.0**-62)
        c, s = _turn(np.int64(angle), part, SINE_DOUBLE, COSINE_DOUBLE)
        out[j], out[j + half] = r * c, r * s


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
