"""The error function and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.marks import elementwise
from blrgen.runtime.plain import _real_of, _where

TWO_OVER_ROOT_PI = 1.1283791670955126
ERFCX_NODES = (
    (39.0625, 3.4532015562339372e-18), (33.0625, 1.3931209375186925e-15),
    (27.5625, 3.4088545407919113e-13), (22.5625, 5.059188713200906e-11),
    (18.0625, 4.55413654670324e-09), (14.0625, 2.4864743044832886e-07),
    (10.5625, 8.234072037663923e-06), (7.5625, 0.00016538575794068584),
    (5.0625, 0.002014810997298772), (3.0625, 0.014887551487783037), (1.5625, 0.06672137678689243),
    (0.5625, 0.18136750608957886), (0.0625, 0.29902446510372366),
)  # fmt: skip
ERFCX_EDGE = 6.283185307179586
ERFCX_PERIOD = 12.566370614359172
INVERSE_ROOT_PI = 0.5641895835477563


@elementwise
def _erf(x: Array) -> Any:
    """Return erf(x): up to |x| = 1 as 2x/√π e^(−x²) Σ (2x²)ᵏ/(1·3⋯(2k + 1)), beyond as 1 − erfc."""
    real = _real_of(x)
    size = np.abs(x)
    double = real(2) * np.minimum(size, real(1)) * np.minimum(size, real(1))
    series = real(1)
    for k in range(19, 0, -1):
        series = real(1) + double / real(2 * k + 1) * series
    near = real(TWO_OVER_ROOT_PI) * x * (np.exp(real(-0.5) * double) * series)
    far = real(1) - _erfc(size)
    far = _where(x < real(0), -far, far)
    return _where(size < real(1), near, far)


@elementwise
def _erfc(x: Array) -> Any:
    """Return erfc(x) = 1 − erf(x), with its digits where it is small."""
    real = _real_of(x)
    size = np.minimum(np.abs(x), real(1000))
    whole = np.floor(size * real(16)) / real(16)  # its square is exact
    square = np.exp(-whole * whole) * np.exp((whole - size) * (size + whole))
    tail = square * _erfcx(size)
    return _where(x < real(0), real(2) - tail, _where(x == x, tail, x))


@elementwise
def _erfcx(x: Array) -> Any:
    """Return exp(x²) erfc(x) = (2/π) ∫₀^∞ x e^(−t²)/(t² + x²) dt for x ≥ 0; reflected for less.

    The midpoint rule with step 0.5, and the residue that it leaves out: all of one sign.
    """
    real = _real_of(x)
    size = np.abs(x)
    total = real(0)
    for square, weight in ERFCX_NODES:
        total += real(weight) * size / (real(square) + size * size)
    close = np.minimum(size, real(ERFCX_EDGE))
    residue = real(2) * np.exp(close * close) / (real(1) + np.exp(real(ERFCX_PERIOD) * close))
    total += _where(size < real(ERFCX_EDGE), residue, real(0))
    total = _where(size > real(1e16), real(INVERSE_ROOT_PI) / size, total)
    whole = np.floor(size * real(16)) / real(16)  # its square is exact
    square = np.exp(whole * whole) * np.exp((size - whole) * (size + whole))
    return _where(x < real(0), real(2) * square - total, total)


@elementwise
def _log_erfc(x: Array) -> Any:
    """Return log erfc(x), with its digits where erfc underflows and where it is nearly 1 or 2."""
    real = _real_of(x)
    size = np.maximum(x, real(1))
    far = np.log(_erfcx(size)) - size * size
    return _where(x < real(1), np.log1p(-_erf(np.minimum(x, real(1)))), far)
