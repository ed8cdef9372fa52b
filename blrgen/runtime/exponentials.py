"""Logarithms of sums and differences of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.marks import elementwise
from blrgen.runtime.plain import _real_of, _where

TURN = -0.6931471805599453
LOG_TWO = 0.6931471805599453
LOG_ZERO = -1e30  # far below what data say, far above what overflows


@elementwise
def _log1mexp(x: Array) -> Any:
    """Return log(1 − eˣ) for x ≤ 0: by 1 − eˣ near 0, by log(1 + ·) where eˣ is small."""
    real = _real_of(x)
    small = np.log1p(-np.exp(np.minimum(x, real(TURN))))
    return _where(x > real(TURN), np.log(-np.expm1(x)), small)


@elementwise
def _logexpm1(x: Array) -> Any:
    """Return log(eˣ − 1) for x ≥ 0, also where eˣ overflows."""
    real = _real_of(x)
    far = x + np.log1p(-np.exp(-np.maximum(x, real(1))))
    return _where(x < real(1), np.log(np.expm1(np.minimum(x, real(1)))), far)


@elementwise
def _logcosh(x: Array) -> Any:
    """Return log cosh x, with its digits near 0 and where cosh overflows."""
    real = _real_of(x)
    size = np.abs(x)
    half = np.sinh(real(0.5) * np.minimum(size, real(1)))
    far = (size - real(LOG_TWO)) + np.log1p(np.exp(real(-2) * size))
    return _where(size < real(1), np.log1p(real(2) * half * half), far)


@elementwise
def _logsinh(x: Array) -> Any:
    """Return log sinh x for x ≥ 0, also where sinh overflows."""
    real = _real_of(x)
    far = (x - real(LOG_TWO)) + np.log1p(-np.exp(real(-2) * np.maximum(x, real(1))))
    return _where(x < real(1), np.log(np.sinh(np.minimum(x, real(1)))), far)


@elementwise
def _logaddexp(x: Array, y: Array) -> Any:
    """Return log(eˣ + eʸ), from the larger of the two."""
    real = _real_of(x)
    high = np.maximum(x, y)
    rest = np.log1p(np.exp(-np.abs(x - y)))
    return _where(x == y, high + real(LOG_TWO), high + rest)


@elementwise
def _log_share(x: Array) -> Any:
    """Return log x; of 0 not −∞ but −10³⁰, as 0 log 0 is 0 and 0 times −∞ is no number."""
    real = _real_of(x)
    none = x == real(0)
    return _where(none, real(LOG_ZERO), np.log(_where(none, real(1), x)))


@elementwise
def _level(x: Array) -> Any:
    """Return x, and ±∞ where it has a log 0 of `_log_share` in it."""
    real = _real_of(x)
    return _where(np.abs(x) < real(-LOG_ZERO / 10), x, x * real(np.inf))
