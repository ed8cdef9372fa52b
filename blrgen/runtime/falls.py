"""Differences of the functions of Gamma at two points, without cancellation."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.gammas import LOG_MINUS_DIGAMMA_SERIES, TRIGAMMA_SERIES
from blrgen.runtime.marks import elementwise
from blrgen.runtime.plain import _real_of, _where


@elementwise
def _digamma_rise(x: Array, y: Array) -> Any:
    """Return ψ(x + y) − ψ(x) for x > 0, y ≥ 0, NaN for less.

    Σ y/((x + k)(x + y + k)), k = 0, …, 8 − 1, and beyond that the difference of two
    asymptotic series, divided by what they have in common: all of it positive.
    """
    real = _real_of(x)
    total = real(0)
    for k in range(8):
        low = x + real(k)
        total += y / (low + y) / low
    low = x + real(8)
    v, u = real(1) / low, real(1) / (low + y)
    common = y / (low + y) * v  # v − u
    s, t = v * v, u * u
    series, slope = real(0), real(0)  # Σ c tᵏ and (Σ c sᵏ − Σ c tᵏ)/(s − t), from k = 1 on
    for c in LOG_MINUS_DIGAMMA_SERIES:
        slope = slope * s + (series + real(c))
        series = (series + real(c)) * t
    total += common * (real(0.5) + (v + u) * slope)
    total += np.log1p(y / low)
    return _where((x < real(0)) | (y < real(0)), real(np.nan), total)


@elementwise
def _trigamma_fall(x: Array, y: Array) -> Any:
    """Return ψ′(x) − ψ′(x + y) for x > 0, y ≥ 0, NaN for less.

    Σ 1/(x + k)² − 1/(x + y + k)², k = 0, …, 9 − 1, and beyond that the difference of two
    asymptotic series, each divided by what it has in common: all of it positive.
    """
    real = _real_of(x)
    total = real(0)
    for k in range(9):
        low = x + real(k)
        v, u = real(1) / low, real(1) / (low + y)
        total += y * u * v * (v + u)
    low = x + real(9)
    v, u = real(1) / low, real(1) / (low + y)
    s, t = v * v, u * u
    series, slope = real(0), real(0)  # Σ c tᵏ and (Σ c sᵏ − Σ c tᵏ)/(s − t), from k = 1 on
    for c in TRIGAMMA_SERIES:
        slope = slope * s + (series + real(c))
        series = (series + real(c)) * t
    # (v S(s) − u S(t))/(v − u) with S = 1 + series
    rest = real(0.5) * (v + u) + series + v * (v + u) * slope
    total += y * u * v * (real(1) + rest)
    return _where((x < real(0)) | (y < real(0)), real(np.nan), total)


@elementwise
def _trigamma_rest_fall(x: Array, y: Array) -> Any:
    """Return r(x) − r(x + y), r(x) = ψ′(x) − 1/x, for x > 0, y ≥ 0, NaN for less.

    r(x) is Σ 1/((x + k)² (x + k + 1)) + an asymptotic series at x + 9; each term is divided
    by what its two values have in common: all of it positive.
    """
    real = _real_of(x)
    total = real(0)
    for k in range(9):
        low, next_low = x + real(k), x + real(k + 1)
        v, u = real(1) / low, real(1) / (low + y)
        next_v, next_u = real(1) / next_low, real(1) / (next_low + y)
        total += y * u * next_v * (v * (v + u) + u * next_u)
    low = x + real(9)
    v, u = real(1) / low, real(1) / (low + y)
    s, t = v * v, u * u
    series, slope = real(0), real(0)  # Σ c tᵏ and (Σ c sᵏ − Σ c tᵏ)/(s − t), from k = 1 on
    for c in TRIGAMMA_SERIES:
        slope = slope * s + (series + real(c))
        series = (series + real(c)) * t
    rest = real(0.5) * (v + u) + series + v * (v + u) * slope
    total += y * u * v * rest
    return _where((x < real(0)) | (y < real(0)), real(np.nan), total)
