"""log Γ, ψ and what is built from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.elementary import _log1p
from blrgen.runtime.marks import contracted, elementwise
from blrgen.runtime.plain import _real_of, _where

DIGAMMA_HIGH = 1.4616321325302124
DIGAMMA_MIDDLE = 1.243815006546356e-08
DIGAMMA_LOW = -1.2654465062537432e-16
DIGAMMA_SERIES = (
    -3607.5105463980462, 241.16288739307228, -23.762331436445503, 2.7885200987694483,
    -0.41211097951346315, 0.07872989778944682, -0.020213353350750314, 0.007349966772062326,
    -0.004084564757310012, 0.003922627834712693, -0.008289516096478655, 0.08324073630258884,
)  # fmt: skip
TRIGAMMA_SERIES = (
    -86580.25311355312, 6192.123188405797, -529.1242424242424, 54.971177944862156,
    -7.092156862745098, 1.1666666666666667, -0.2531135531135531, 0.07575757575757576,
    -0.03333333333333333, 0.023809523809523808, -0.03333333333333333, 0.16666666666666666,
)  # fmt: skip
TRIGAMMA_REST_SERIES = (
    -27298231.067816094, 1425517.1666666667, -86580.25311355312, 6192.123188405797,
    -529.1242424242424, 54.971177944862156, -7.092156862745098, 1.1666666666666667,
    -0.2531135531135531, 0.07575757575757576, -0.03333333333333333, 0.023809523809523808,
    -0.03333333333333333, 0.16666666666666666,
)  # fmt: skip
LOG_MINUS_DIGAMMA_SERIES = (
    -3607.5105463980462, 281.46014492753625, -26.456212121212122, 3.0539543302701198,
    -0.4432598039215686, 0.08333333333333333, -0.021092796092796094, 0.007575757575757576,
    -0.004166666666666667, 0.003968253968253968, -0.008333333333333333, 0.08333333333333333,
)  # fmt: skip
EULER = 0.5772156649015329
INVERSE_DIGAMMA_SERIES = (
    -974936.8165867294, 54827.58169934402, -3607.5101163492773, 281.46001071688056,
    -26.4561616599921, 3.0539310304476537, -0.4432462767058728, 0.08332316080729167,
    -0.021082496875953906, 0.007560961174242424, -0.004134114583333333, 0.0038442460317460315,
    -0.007291666666666667, 0.041666666666666664,
)  # fmt: skip
STIRLING = (
    -1.3924322169059011, 0.17964437236883057, -0.029550653594771242, 0.00641025641025641,
    -0.0019175269175269176, 0.0008417508417508417, -0.0005952380952380953, 0.0007936507936507937,
    -0.002777777777777778, 0.08333333333333333,
)  # fmt: skip
LOGGAMMA_FIRST = (
    -3.3634106716698643e-06, 5.243347943772127e-06, -3.141701075555155e-06, 4.939312310674292e-06,
    -1.1093831935230702e-05, 1.7455601766662794e-05, -2.628414257610881e-05, 4.159729145290115e-05,
    -6.633218881329272e-05, 0.00010565261976836096, -0.00016889233273334643, 0.00027127400224009565,
    -0.0004379952605342461, 0.0007115224750426455, -0.0011644144679247021, 0.0019229161306902386,
    -0.0032120740773551953, 0.005446457844800713, -0.009425622448467657, 0.01679709863118352,
    -0.03130848750101101, 0.06291140107456496, -0.14595989591430608, 0.4831289505409809,
)  # fmt: skip
LOGGAMMA_SECOND = (
    1.900052943760696e-09, -4.980351379343691e-09, 1.0830439347315144e-08, -2.856947811888261e-08,
    7.673914057612894e-08, -2.0382138670990097e-07, 5.434036393864892e-07, -1.4570177579856958e-06,
    3.930613124693632e-06, -1.0682329984705693e-05, 2.9299281094532564e-05, -8.130228877104764e-05,
    0.00022905363755553723, -0.0006586397067759204, 0.0019490574889449016, -0.006018768527033153,
    0.019905154304743215, -0.07466357415449942, 0.37957716063055885,
)  # fmt: skip
LOGGAMMA_CONSTANT = 0.4189385332046727
HALF_LOG_TWO_PI = 0.9189385332046728


@elementwise
def _digamma(x: Array) -> Any:
    """Return ψ(x) for x ≥ 0, NaN for less.

    With ψ(r) = 0 it is (x − r) Σ 1/((r + k)(x + k)), k = 0, …, 8 − 1, and beyond that the
    difference of two asymptotic series: all terms have one sign, so that nothing cancels.
    """
    real = _real_of(x)
    high, middle = real(DIGAMMA_HIGH), real(DIGAMMA_MIDDLE)  # of r, exact
    root = high + middle
    at = root + real(8)
    d = ((x - high) - middle) - real(DIGAMMA_LOW)
    total = real(0)
    for k in range(8):
        total += d / (x + real(k)) / (root + real(k))
    inverse = real(1) / (x + real(8))
    u = inverse * inverse
    series = real(0)
    for c in DIGAMMA_SERIES:
        series = series * u + real(c)
    total += d * inverse * (real(0.5) / at + (inverse / at + real(1) / (at * at)) * series)
    total += np.log1p(d / at)
    total = _where(x < real(np.inf), total, x)
    return _where(x < real(0), real(np.nan), total)


@contracted
def _digamma_many(x: Array) -> Any:
    """Return ψ(x) for x ≥ 0, NaN for less, without calls, so that loops vectorise.

    As _digamma, with the sum over k = 0, …, 8 − 1 as two quotients of polynomials.
    """
    real = _real_of(x)
    high, middle, low = real(DIGAMMA_HIGH), real(DIGAMMA_MIDDLE), real(DIGAMMA_LOW)  # of r, exact
    root = high + middle
    over = real(1) / (root + real(8))
    single = real(16777217) == real(16777216)  # float32: 24 bits
    large = real(1e9 if single else 1e60)  # the sum is at its end, and its products are finite
    small = _where(x < large, x, large)
    total = real(0)
    for k in range(0, 8, 4):
        top, bottom = real(0), real(1)
        for i in range(k, k + 4):
            part = small + real(i)
            top = top * part + bottom * (real(1) / (root + real(i)))
            bottom = bottom * part
        total += top / bottom
    total *= ((small - high) - middle) - low
    d = ((x - high) - middle) - low
    inverse = real(1) / (x + real(8))
    u = inverse * inverse
    series = real(0)
    for c in DIGAMMA_SERIES:
        series = series * u + real(c)
    total += d * inverse * (real(0.5) * over + (inverse * over + over * over) * series)
    total += _log1p(d * over)
    total = _where(x < real(np.inf), total, x)
    return _where(x < real(0), real(np.nan), total)


@elementwise
def _trigamma(x: Array) -> Any:
    """Return ψ′(x), the derivative number 1 of ψ, for x ≥ 0, NaN for less.

    1.0 (Σ 1/(x + k)^2 + an asymptotic series at x + 9), k = 0, …, 9 − 1.
    """
    real = _real_of(x)
    total = real(0)
    for k in range(9):
        inverse = real(1) / (x + real(k))
        total += inverse * inverse
    inverse = real(1) / (x + real(9))
    u = inverse * inverse
    series = real(0)
    for c in TRIGAMMA_SERIES:
        series = (series + real(c)) * u
    series += real(1.0) + real(0.5) * inverse
    total = real(1.0) * (total + inverse * series)
    return _where(x < real(0), real(np.nan), total)


@elementwise
def _trigamma_rest(x: Array) -> Any:
    """Return ψ′(x) − 1/x for x ≥ 0, NaN for less.

    Σ 1/((x + k)² (x + k + 1)) + an asymptotic series at x + 8: what is left when 1/x
    is taken off each term, all of it positive.
    """
    real = _real_of(x)
    total = real(0)
    for k in range(8):
        inverse = real(1) / (x + real(k))
        total += inverse * inverse / (x + real(k + 1))
    inverse = real(1) / (x + real(8))
    u = inverse * inverse
    series = real(0)
    for c in TRIGAMMA_REST_SERIES:
        series = series * u + real(c)
    total += u * (real(0.5) + inverse * series)
    return _where(x < real(0), real(np.nan), total)


@elementwise
def _log_minus_digamma(x: Array) -> Any:
    """Return log x − ψ(x) for x ≥ 0, NaN for less.

    From x to x + 1 it falls by 1/x − log(1 + 1/x) = w/x − 2(w³/3 + w⁵/5 + …), w = 1/(2x + 1),
    and at x + 7 an asymptotic series is enough.
    """
    real = _real_of(x)
    small = x < real(1)
    inverse = real(1) / x
    total = _where(small, inverse - np.log1p(inverse), real(0))
    total = _where(x > real(0), total, real(np.inf))
    z = _where(small, x + real(1), x)
    for k in range(7):
        at = z + real(k)
        w = real(1) / (at + at + real(1))
        u = w * w
        series = real(0)
        for j in range(35, 1, -2):
            series = (series + real(2) / real(j)) * u
        total += w * (real(1) / at - series)
    inverse = real(1) / (z + real(7))
    u = inverse * inverse
    series = real(0)
    for c in LOG_MINUS_DIGAMMA_SERIES:
        series = (series + real(c)) * u
    total += real(0.5) * inverse + series
    return _where(x < real(0), real(np.nan), _where(x == x, total, x))


@elementwise
def _inverse_digamma(y: Array) -> Any:
    """Return the x > 0 with ψ(x) = y.

    Up to 2 by Newton's method; beyond by ψ(z + ½) = log z + q₁/z² + q₂/z⁴ + …, solved for
    log z, so that the error does not grow with y.
    """
    real = _real_of(y)
    low = _where(y < real(2), y, real(2))
    x = _where(low < real(-2.22), real(-1) / (low + real(EULER)), np.exp(low) + real(0.5))
    for _ in range(5):
        step = (_digamma(x) - low) / _trigamma(x)
        x = _where(step < x, x - step, x * real(0.5))
    x = _where(low > real(-np.inf), x, real(0))
    scale = np.exp(_where(y < real(2), real(2), y))
    z = scale
    for _ in range(5):
        inverse = real(1) / z
        u = inverse * inverse
        series = real(0)
        for c in INVERSE_DIGAMMA_SERIES:
            series = (series + real(c)) * u
        z = scale * np.exp(-series)
    x = _where(y < real(2), x, z + real(0.5))
    return _where(y == y, x, y)


@elementwise
def _loggamma(x: Array) -> Any:
    """Return log Γ(x) for x ≥ 0, NaN for less.

    Up to 3 as (z − 1)(z − 2) times a polynomial, which keeps the digits at both zeros;
    up to 8 by Γ(x) = (x − 1) Γ(x − 1); beyond by Stirling's series.
    """
    real = _real_of(x)
    small, large = x < real(1), x >= real(8)
    z = _where(large, real(2), x)
    product = real(1)
    for _ in range(8 - 3):
        step = z >= real(3)
        product = _where(step, product * (z - real(1)), product)
        z = _where(step, z - real(1), z)
    below = _where(small, z, z - real(1))
    upper = z >= real(2)
    t = _where(upper, z - real(2.5), below - real(0.5))
    first, second = real(0), real(0)
    for c in LOGGAMMA_FIRST:
        first = first * t + real(c)
    for c in LOGGAMMA_SECOND:
        second = second * t + real(c)
    near = below * (below - real(1)) * _where(upper, second, first)
    near += _where(small, real(-1), real(1)) * np.log(_where(small, x, product))
    far = _where(large, x, real(8))
    inverse = real(1) / far
    u = inverse * inverse
    series = real(0)
    for c in STIRLING:
        series = series * u + real(c)
    far = (far - real(0.5)) * (np.log(far) - real(1)) + real(LOGGAMMA_CONSTANT) + inverse * series
    result = _where(large, far, near)
    result = _where(x > real(0), result, real(np.inf))
    return _where(x < real(0), real(np.nan), _where(x == x, result, x))


@elementwise
def _loggamma_ratio(a: Array, b: Array) -> Any:
    """Return log Γ(a + b) − log Γ(a) for a, a + b > 0, without cancellation for large a."""
    real = _real_of(a)
    small = a < real(8)
    z = _where(small, a + real(8), a)
    u, v = real(1) / (z + b), real(1) / z
    # the difference of two series in odd powers, divided by u − v = −b u v
    series, slope = real(0), real(0)
    for c in STIRLING:
        slope = slope * (v * v) + series
        series = series * (u * u) + real(c)
    rest = -b * u * v * (series + v * (u + v) * slope)
    log_ratio = np.log1p(b * v)
    total = b * np.log(z + b) + ((z - real(0.5)) * log_ratio - b) + rest
    for k in range(8):
        total -= _where(small, np.log1p(b / (a + real(k))), real(0))
    return total


@elementwise
def _log_beta(a: Array, b: Array) -> Any:
    """Return log B(a, b) = log Γ(a) + log Γ(b) − log Γ(a + b) for a, b > 0."""
    real = _real_of(a)
    low, high = np.minimum(a, b), np.maximum(a, b)
    series_low, series_high, series_sum = real(0), real(0), real(0)
    at_low, at_high, at_sum = real(1) / low, real(1) / high, real(1) / (low + high)
    for c in STIRLING:
        series_low = series_low * (at_low * at_low) + real(c)
        series_high = series_high * (at_high * at_high) + real(c)
        series_sum = series_sum * (at_sum * at_sum) + real(c)
    rest = at_low * series_low + (at_high * series_high - at_sum * series_sum)
    ratio = low / high
    log_share = np.log(ratio / (real(1) + ratio))
    both = (low - real(0.5)) * log_share - high * np.log1p(ratio)
    both += (real(HALF_LOG_TWO_PI) - real(0.5) * np.log(high)) + rest
    return _where(low >= real(8), both, _loggamma(low) - _loggamma_ratio(high, low))
