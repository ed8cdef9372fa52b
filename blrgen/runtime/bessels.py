"""Ratios of Bessel functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.gammas import _loggamma
from blrgen.runtime.marks import elementwise
from blrgen.runtime.plain import _real_of, _where

BESSEL_QUOTIENT_RATIO = (
    39124.49722290039, -148673.08944702148, 224141.0451965332, -169569.89254760742,
    66822.74655151367, -12769.123809814453, 935.7832946777344, -11.466461181640625, 0.0, -3689.0625,
    11805.0, -14302.96875, 8083.5, -2096.25, 202.5, -3.21875, 0.0, 0.0, 404.4189453125,
    -1051.4892578125, 964.626953125, -364.884765625, 48.8759765625, -1.0478515625, 0.0, 0.0, 0.0,
    -52.96875, 105.9375, -66.375, 13.3125, -0.40625, 0.0, 0.0, 0.0, 0.0, 8.6328125, -12.0859375,
    4.1484375, -0.1953125, 0.0, 0.0, 0.0, 0.0, 0.0, -1.875, 1.5, -0.125, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.625, -0.125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.5,
)  # fmt: skip
BESSEL_SLOPE_RATIO = (
    0.0, -473015.185546875, 2081266.81640625, -3756038.02734375, 3569792.51953125, -1905151.2421875,
    561266.26171875, -82851.31640625, 4776.15234375, -46.478515625, 0.0, 0.0, 39124.49722290039,
    -148673.08944702148, 224141.0451965332, -169569.89254760742, 66822.74655151367,
    -12769.123809814453, 935.7832946777344, -11.466461181640625, 0.0, 0.0, 0.0, -3689.0625, 11805.0,
    -14302.96875, 8083.5, -2096.25, 202.5, -3.21875, 0.0, 0.0, 0.0, 0.0, 404.4189453125,
    -1051.4892578125, 964.626953125, -364.884765625, 48.8759765625, -1.0478515625, 0.0, 0.0, 0.0,
    0.0, 0.0, -52.96875, 105.9375, -66.375, 13.3125, -0.40625, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    8.6328125, -12.0859375, 4.1484375, -0.1953125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.875, 1.5,
    -0.125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.625, -0.125,
)  # fmt: skip
BESSEL_SLOPE_SLOPE = (
    -12298394.82421875, 61775783.232421875, -130501973.37890625, 150272648.96484375,
    -102118780.23046875, 41367831.3046875, -9578912.35546875, 1134380.94140625, -53002.4609375,
    418.306640625, 0.0, 899863.436126709, -3982873.8172912598, 7232141.647674561,
    -6917226.986846924, 3715459.479034424, -1101517.0612487793, 163523.10195922852,
    -9461.03109741211, 91.731689453125, 0.0, 0.0, -73781.25, 282582.1875, -429532.5, 327713.53125,
    -130240.5, 25083.75, -1848.25, 22.53125, 0.0, 0.0, 0.0, 6875.1220703125, -22243.0419921875,
    27261.0, -15589.255859375, 4088.7314453125, -398.3427734375, 6.287109375, 0.0, 0.0, 0.0, 0.0,
    -741.5625, 1959.84375, -1829.0625, 703.875, -95.625, 2.03125, 0.0, 0.0, 0.0, 0.0, 0.0,
    94.9609375, -195.1015625, 125.7265625, -25.8671875, 0.78125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    -15.0, 22.125, -8.0, 0.375, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.125, -2.875, 0.25,
)  # fmt: skip
LOG_BESSELI_TABLE = (
    3284469.853072038, -19706819.118432228, 50952602.49266464, -74105148.21153265,
    66344512.27472903, -37567176.66076335, 13288767.166421818, -2785618.1280864547,
    308186.4046126624, -13886.08975371704, 110.01714026924674, 0.0, -242919.18790055133,
    1311763.6146629772, -2998015.9185381066, 3763271.297656404, -2813563.226586534,
    1268365.2733216248, -331645.1724845636, 45218.76898136273, -2499.8304818112097,
    24.380529699556064, 0.0, 0.0, 20204.29133096615, -96980.59838863752, 192547.00123253153,
    -203400.17728041555, 122200.46498301746, -41192.65496889755, 7109.514302489364,
    -493.915304773088, 6.074042001273483, 0.0, 0.0, 0.0, -1919.457662318407, 8061.722181737309,
    -13586.550006434138, 11655.393336864534, -5305.646978613403, 1200.9029132163525,
    -108.09091978839466, 1.7277275025844574, 0.0, 0.0, 0.0, 0.0, 212.57013003921713,
    -765.2524681411817, 1059.9904525279999, -699.5796273761325, 218.1905117442116,
    -26.491430486951554, 0.5725014209747314, 0.0, 0.0, 0.0, 0.0, 0.0, -28.212072558200244,
    84.63621767460073, -91.81824154324002, 42.53499874538846, -7.368794359479632,
    0.22710800170898438, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.669584423426247, -11.207002616222994,
    8.78912353515625, -2.3640869140625, 0.112152099609375, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    -1.0258125964506173, 1.8464626736111112, -0.8912109375, 0.0732421875, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.3342013888888889, -0.4010416666666667, 0.0703125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.0, 0.0, -0.20833333333333334, 0.125,
)  # fmt: skip
TWO_PI = 6.283185307179586


@elementwise
def _bessel_quotient(order: Any, x: Array) -> Any:
    """Return I_{ν+1}(x)/(x I_ν(x)) for ν > −1 and all x.

    By Debye's expansion at the order n = ν + 16, then down by t = 1/(2(ν + 1) + x² t),
    which makes errors smaller; for x > n on what the ratio lacks to 1, which is small there.
    """
    real = _real_of(x)
    order, x = real(order), np.abs(x)
    n = order + real(16)
    z = x / n
    root = np.sqrt(real(1) + z * z)
    p = real(1) / root
    table = BESSEL_QUOTIENT_RATIO
    w, q, series = p * p, p / n, real(0)
    for k in range(8):
        row = real(0)
        for j in range(8):
            row = row * w + real(table[8 * k + j])
        series = (series + row) * q
    far = x > n
    t = (real(1) / (real(1) + root) + p * series) / n
    rest = (real(1) + real(1) / (root + z)) / (real(1) + root) - z * (p * series)
    for k in range(16, 0, -1):
        twice = real(2) * (order + real(k))
        t = real(1) / (twice + x * (x * t))
        less = twice / x - rest
        rest = less / (real(1) + less)
    return _where(far, (real(1) - rest) / x, t)


@elementwise
def _bessel_slope(order: Any, x: Array) -> Any:
    """Return the derivative S in x of R = I_{ν+1}(x)/I_ν(x) for ν ≥ −1/2 and all x.

    By Debye's expansions at the order n = ν + 24 (n = ν for large x), then down, order by
    order: up to x = ν + 2 by S → R²(2(ν + 1)/x² − S); beyond with what 1 − R and S lack to
    their expansions a/x − ab/2x² and a/x² − ab/x³, a = ν + 1/2, b = a − 1: y and z.
    """
    real = _real_of(x)
    one, half = real(1), real(0.5)
    order, x = real(order), np.abs(x)
    far = x > order + real(2)
    large = far & (x > real(140))
    n = _where(large, order + real(0), order + real(24))
    z = n / x
    root = x * np.sqrt(one + z * z)
    root = _where(x > n, root, n * np.sqrt(one + (x / n) * (x / n)))
    q = one / root
    p = n * q
    w = p * p
    ratio_table = BESSEL_SLOPE_RATIO
    slope_table = BESSEL_SLOPE_SLOPE
    series, slopes = real(0), real(0)  # without their first terms, −q/2 and q(1/2 − p²)
    for k in range(8):
        row, slope_row = real(0), real(0)
        for j in range(10):
            row = row * w + real(ratio_table[10 * k + j])
            slope_row = slope_row * w + real(slope_table[10 * k + j])
        series = (series + row) * q
        slopes = (slopes + slope_row) * q
    series, slopes = series * q, slopes * q
    t = one / (n + root) + q * (series - half * q)
    slope = q * (n / (n + root) + q * (half - w) + slopes)
    at_n = slope
    v = one / x
    a = n + half
    b = a - one
    y = z * z * (x / (root + x) + half * (x * q) * q) + x * q * series - half * (a * v) * (b * v)
    z = z * z * q + q * (half * q * z * z + q * w) - q * slopes - (a * v) * (b * v) * v
    beyond = slope
    for k in range(24, 0, -1):
        twice = real(2) * (order + real(k))
        t = one / (twice + x * (x * t))
        slope = t * (twice * t - (x * t) * (x * slope))
        c = (order + (real(k) - half)) * v
        above = half * c * (c + v) + y
        ratio = one / (one + c + above)
        rest = (c + above) * ratio
        square = ratio * ratio
        beyond = square * (c * v + (c * (c + v) * v + z))
        y = ratio * (c * c * v - half * c * (c - v) * above - (one - c) * y)
        here = c * (c - v) + y + y
        z = c * v * (rest * (one + ratio) * (c + v) - here - rest * rest) - square * z
    beyond = _where(large, at_n, beyond)
    decay = np.exp(real(-2) * x)
    tanh_slope = real(4) * decay / ((one + decay) * (one + decay))
    beyond = _where(order > -half, beyond, tanh_slope)
    return _where(far, beyond, slope)


@elementwise
def _log_besseli(order: Any, x: Array) -> Any:
    """Return log I_ν(|x|) for ν > −1.

    Up to x = 30 or x² = 4(ν + 1) by the power series; beyond by Debye's expansion at the order
    ν + 16, and down by the ratios of neighbours.
    """
    real = _real_of(x)
    order, x = real(order), np.abs(x)
    small = (x < real(30)) | (real(0.25) * x * x < order + real(1))
    square = real(0.25) * _where(small, x * x, real(0))
    rest = real(0)
    for k in range(80, 0, -1):
        rest = square / (real(k) * (order + real(k))) * (real(1) + rest)
    power = _where(order == real(0), real(0), order * np.log(real(0.5) * x))
    near = np.log1p(rest) + power - _loggamma(x * real(0) + order + real(1))
    n = order + real(16)
    z = n / x
    low, high = np.minimum(n, x), np.maximum(n, x)
    root = high * np.sqrt(real(1) + low / high * (low / high))
    p, q = n / root, real(1) / root
    w = p * p
    table = LOG_BESSELI_TABLE
    series = real(0)
    for k in range(10):
        row = real(0)
        for j in range(11):
            row = row * w + real(table[11 * k + j])
        series = (series + row) * q
    far = root - n * np.arcsinh(z) - real(0.5) * np.log(real(TWO_PI) * root) + np.log1p(series)
    t = x * _bessel_quotient(n, x)
    for k in range(16, 0, -1):
        t = x / (real(2) * (order + real(k)) + x * t)
        far -= np.log(t)
    return _where(small, near, far)


@elementwise
def _bessel_bend(order: Any, x: Array) -> Any:
    """Return T_ν − T_{ν+1}, T_ν = I_{ν+1}(x)/(x I_ν(x)), for ν > −1 and all x.

    T_ν = 1/(2(ν + 1) + x² T_{ν+1}) gives D_ν = T_ν T_{ν+1} (2 − x² D_{ν+1}), which makes errors
    smaller on the way down; for large x it is (1 − S/T)/x² with the slope S = (x T)′.
    """
    real = _real_of(x)
    order, x = real(order), np.abs(x)
    above = _bessel_quotient(order + real(9), x)
    ratio = real(1) / (real(2) * (order + real(9)) + x * (x * above))
    drop = ratio - above
    for k in range(8, 0, -1):
        below = real(1) / (real(2) * (order + real(k)) + x * (x * ratio))
        drop = below * ratio * (real(2) - x * (x * drop))
        ratio = below
    far = (real(1) - _bessel_slope(order, x) / ratio) / x / x
    return _where(x > order + real(4), far, drop)
