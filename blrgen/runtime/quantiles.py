"""Pieces of a density whose logarithm is linear between two points."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.marks import elementwise
from blrgen.runtime.plain import _real_of, _where


@elementwise
def _mean_between(a: Array, b: Array) -> Any:
    """Return the mean of exp over the interval from a to b."""
    real = _real_of(a)
    near = np.abs(b - a) < real(1e-4)
    slope = _where(near, real(1), b - a)
    return _where(near, np.exp((a + b) / real(2)), (np.exp(b) - np.exp(a)) / slope)


@elementwise
def _place_between(a: Array, b: Array, share: Array) -> Any:
    """Return where in (0, 1) that share of the mass of exp from a to b is reached."""
    real = _real_of(a)
    near = np.abs(b - a) < real(1e-4)
    slope = _where(near, real(1), b - a)
    place = (np.log(np.exp(a) + share * (np.exp(b) - np.exp(a))) - a) / slope
    place = _where(near, share, place)
    return np.minimum(np.maximum(place, real(0)), real(1))
