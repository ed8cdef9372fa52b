"""exp, log and their kin without branches, so that a compiled loop does many at once.

Numbers of terms differ between float32 and float64; the compiler drops the other branch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.marks import contracted
from blrgen.runtime.plain import _float_of, _integer_of, _real_of, _where, _whole_of

SINH_FIRST_SINH_SINGLE = 0.00019890981
SINH_SINH_SINGLE = (0.0083333105, 0.16666667)
SINH_FIRST_SINH_DOUBLE = 2.5100375832561234e-08
SINH_SINH_DOUBLE = (
    2.7557268480310024e-06, 0.00019841269863040545, 0.008333333333330065, 0.16666666666666669,
)  # fmt: skip
SINH_FIRST_COSH_SINGLE = 0.0013933642
SINH_COSH_SINGLE = (0.041666467, 0.5)
SINH_FIRST_COSH_DOUBLE = 2.0918129454967065e-09
SINH_COSH_DOUBLE = (
    2.755726330147475e-07, 2.480158733642132e-05, 0.0013888888888879082, 0.04166666666666668, 0.5,
)  # fmt: skip
LOG_TWO_HIGH = 0.693145751953125
LOG_TWO_LOW = 1.4286068203094173e-06
INVERSE_LOG_TWO = 1.4426950408889634
RISE_FIRST_SINGLE = 0.0013926176
RISE_SINGLE = (0.008363173, 0.041666556, 0.16666578, 0.5)
RISE_FIRST_DOUBLE = 2.5100375832561234e-08
RISE_DOUBLE = (
    2.7620075879983367e-07, 2.7557268480310024e-06, 2.4801521322368692e-05, 0.00019841269863040545,
    0.0013888888917196719, 0.008333333333330065, 0.041666666666624164, 0.16666666666666669,
    0.5000000000000001,
)  # fmt: skip
ROOT_HALF = 0.7071067811865476
LOG_SUM_FIRST_SINGLE = 0.2957995
LOG_SUM_SINGLE = (0.3998878, 0.66666687)
LOG_SUM_FIRST_DOUBLE = 0.14616449685043406
LOG_SUM_DOUBLE = (
    0.15331721600556042, 0.18182889125261723, 0.2222221113479508, 0.28571428625975487,
    0.39999999999899505, 0.666666666666667,
)  # fmt: skip


@contracted
def _exp(x: Array) -> Any:
    """Return eˣ = 2ᵏ eʳ, the power of two in two factors so that subnormal values are rounded."""
    real = _real_of(x)
    whole = _whole_of(x)
    single = real(16777217) == real(16777216)  # float32: 24 bits
    low = real(-104 if single else -746)
    high = real(89 if single else 710)
    x = _where(x < low, low, x)
    k, r = _octaves(_where(x > high, high, x))
    half = whole(k >> 1)
    return (real(1) + _rise(r)) * _power_of_two(half) * _power_of_two(whole(k - half))


@contracted
def _expm1(x: Array) -> Any:
    """Return eˣ − 1 = 2ᵏ(eʳ − 1) + (2ᵏ − 1)."""
    real = _real_of(x)
    whole = _whole_of(x)
    single = real(16777217) == real(16777216)  # float32: 24 bits
    low = real(-20 if single else -40)
    high = real(89 if single else 710)
    inside = _where(x < low, low, x)
    k, r = _octaves(_where(inside > high, high, inside))
    half = _power_of_two(whole(k - whole(1)))
    value = real(2) * (half * _rise(r) + (half - real(0.5)))
    return _where(np.abs(x) < real(1e-17), x, value)


@contracted
def _log(x: Array) -> Any:
    """Return log x."""
    real = _real_of(x)
    single = real(16777217) == real(16777216)  # float32: 24 bits
    tiny = x < real(1.1754943508222875e-38 if single else 2.2250738585072014e-308)
    k, m = _binades(_where(tiny, x * real(1.8446744073709552e19), x))
    n = _where(tiny, real(k) - real(64), real(k))
    value = _log_sum(n, m, real(-0.0))
    value = _where(x < real(np.inf), value, x)
    edge = _where(x == real(0), real(-np.inf), real(np.nan))
    return _where(x > real(0), value, edge)


@contracted
def _log1p(x: Array) -> Any:
    """Return log(1 + x) = log y + lost/y, y = 1 + x but for what rounding lost."""
    real = _real_of(x)
    whole = _whole_of(x)
    y = real(1) + x
    part = y - real(1)
    lost = (real(1) - (y - part)) + (x - part)
    k, m = _binades(y)
    f = m - real(1)
    # 1/m to as many digits as count beside log y, and 2⁻ᵏ in two factors
    inverse = real(0.5) - real(0.5) * f + real(0.5) * f * f
    lost = lost * _power_of_two(whole(whole(1) - k)) * inverse
    value = _log_sum(real(k), m, lost)
    value = _where(x < real(np.inf), value, x)
    value = _where(np.abs(x) < real(1e-17), x, value)
    edge = _where(x == real(-1), real(-np.inf), real(np.nan))
    return _where(x > real(-1), value, edge)


@contracted
def _tanh(x: Array) -> Any:
    """Return tanh x = (e²ˣ − 1)/(e²ˣ + 1), from |x| and with the sign bit of x."""
    real = _real_of(x)
    whole = _whole_of(x)
    size = np.abs(x)
    end = real(10 if real(16777217) == real(16777216) else 20)  # float32: 24 bits
    inside = _where(size > end, end, size)
    k, r = _octaves(inside + inside)
    scale = _power_of_two(k)
    top = scale * _rise(r) + (scale - real(1))
    bits = _integer_of(top / (top + real(2)))
    return _float_of(whole(bits | (_integer_of(x) & _integer_of(real(-0.0)))))


@contracted
def _sinh(x: Array) -> Any:
    """Return sinh x = down cosh r + up sinh r with up, down = ½(2ᵏ ± 2⁻ᵏ)."""
    real = _real_of(x)
    whole = _whole_of(x)
    size = np.abs(x)
    if real(16777217) == real(16777216):  # float32: 24 bits
        end = real(89.5)
        k, r = _octaves(_where(size > end, end, size))
        z = r * r
        s, c = real(SINH_FIRST_SINH_SINGLE), real(SINH_FIRST_COSH_SINGLE)
        for a in SINH_SINH_SINGLE:
            s = s * z + real(a)
        for a in SINH_COSH_SINGLE:
            c = c * z + real(a)
    else:
        end = real(710.5)
        k, r = _octaves(_where(size > end, end, size))
        z = r * r
        s, c = real(SINH_FIRST_SINH_DOUBLE), real(SINH_FIRST_COSH_DOUBLE)
        for a in SINH_SINH_DOUBLE:
            s = s * z + real(a)
        for a in SINH_COSH_DOUBLE:
            c = c * z + real(a)
    quarter = _power_of_two(whole(k - whole(2)))
    other = _power_of_two(whole(whole(-2) - _where(k < whole(60), k, whole(60))))
    up, down = quarter + other, quarter - other
    s, c = r + r * (z * s), z * c
    value = real(2) * (down + (down * c + up * s))
    value = _where(x < real(0), -value, value)
    return _where(size < real(1e-17), x, value)


@contracted
def _cosh(x: Array) -> Any:
    """Return cosh x = ½(e + 1/e) with e = 2ᵏ(1 + s) and s = eʳ − 1."""
    real = _real_of(x)
    whole = _whole_of(x)
    size = np.abs(x)
    end = real(89.5 if real(16777217) == real(16777216) else 710.5)
    k, r = _octaves(_where(size > end, end, size))
    quarter = _power_of_two(whole(k - whole(2)))
    other = _power_of_two(whole(whole(-2) - _where(k < whole(60), k, whole(60))))
    s = _rise(r)
    half = quarter + (quarter * s + other / (s + real(1)))
    return half + half


@contracted
def _atanh(x: Array) -> Any:
    """Return artanh x = ½ log(1 + 2|x|/(1 − |x|)) with the sign of x."""
    real = _real_of(x)
    size = np.abs(x)
    value = real(0.5) * _log1p((size + size) / (real(1) - size))
    return _where(x > real(0), value, _where(x < real(0), -value, x))


@contracted
def _sigmoid(x: Array) -> Any:
    """Return 1/(1 + e⁻ˣ) by one exponential that does not overflow."""
    real = _real_of(x)
    part = _exp(-np.abs(x))
    return _where(x < real(0), part, real(1)) / (real(1) + part)


@contracted
def _octaves(x: Array) -> tuple[Array, Array]:
    """Return k and r with x = k log 2 + r and |r| at most half of log 2."""
    real = _real_of(x)
    whole = _whole_of(x)
    single = real(16777217) == real(16777216)  # float32: 24 bits
    shift = real(12582912.0 if single else 6755399441055744.0)  # a sum with it is whole
    shifted = x * real(INVERSE_LOG_TWO) + shift
    n = shifted - shift
    r = (x - n * real(LOG_TWO_HIGH)) - n * real(LOG_TWO_LOW)
    return whole(_integer_of(shifted) - _integer_of(shift)), r


@contracted
def _rise(r: Array) -> Any:
    """Return eʳ − 1 = r + r² q(r) where |r| is at most half of log 2."""
    real = _real_of(r)
    if real(16777217) == real(16777216):  # float32: 24 bits
        q = real(RISE_FIRST_SINGLE)
        for c in RISE_SINGLE:
            q = q * r + real(c)
    else:
        q = real(RISE_FIRST_DOUBLE)
        for c in RISE_DOUBLE:
            q = q * r + real(c)
    return r + r * r * q


@contracted
def _binades(x: Array) -> tuple[Array, Array]:
    """Return k and m with x = 2ᵏ m and m between √½ and √2, for normal positive x."""
    real = _real_of(x)
    whole = _whole_of(x)
    single = real(16777217) == real(16777216)  # float32: 24 bits
    width = 23 if single else 52
    bits = _integer_of(x)
    k = whole(whole(bits - _integer_of(real(ROOT_HALF))) >> width)
    return k, _float_of(whole(bits - whole(k << width)))


@contracted
def _log_sum(n: Array, m: Array, rest: Array) -> Any:
    """Return n log 2 + log m + rest by s = (m − 1)/(m + 1), m between √½ and √2."""
    real = _real_of(n)
    f = m - real(1)
    s = f / (real(2) + f)
    z = s * s
    if real(16777217) == real(16777216):  # float32: 24 bits
        q = real(LOG_SUM_FIRST_SINGLE)
        for c in LOG_SUM_SINGLE:
            q = q * z + real(c)
    else:
        q = real(LOG_SUM_FIRST_DOUBLE)
        for c in LOG_SUM_DOUBLE:
            q = q * z + real(c)
    h = real(0.5) * f * f
    low = s * (h + z * q) + (n * real(LOG_TWO_LOW) + rest)
    return n * real(LOG_TWO_HIGH) - ((h - low) - f)


@contracted
def _power_of_two(k: Array) -> Any:
    """Return 2ᵏ by its bits, for the exponents of normal numbers; 0 for the one below them."""
    whole = _real_of(k)
    real = _real_of(_float_of(k))
    one, two = _integer_of(real(1)), _integer_of(real(2))
    return _float_of(whole(one + whole(k * whole(two - one))))
