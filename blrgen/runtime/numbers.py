"""Numbers and arrays that are looked at, and numbers made once a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.marks import elementwise
from blrgen.runtime.plain import _real_of


def _number(name: str, value: float, finite: bool = False) -> float:
    """Return a number as a float; refuse an array."""
    if np.ndim(value) != 0:
        raise TypeError(f"{name} has shape {np.shape(value)}; pass a number")
    if finite and not math.isfinite(value):
        raise ValueError(f"{name} = {value!r} is not finite; nothing has been changed")
    return float(value)


def _between(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number that is not strictly between the two; NaN is not."""
    if not low < value < high:
        where = f"{float(value):.6g} is not in ({float(low):.6g}, {float(high):.6g})"
        raise ValueError(f"{name} leaves its domain: {where}; nothing has been changed")


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


def _one_minus_power(x: float, t: int) -> float:
    """Return 1 − xᵗ for x from 0 to 1 and t ≥ 1: all its digits, also where x is close to 1."""
    return type(x)(-math.expm1(t * math.log(x or 1e-30)))


@elementwise
def _either(condition: bool, yes: float, no: float) -> float:
    """Return one of two forms of a number; the condition says which one keeps more digits."""
    return yes if condition else no


@elementwise
def _added(total: float, lost: float, term: float) -> tuple[float, float]:
    """Return total + term, and lost with what this sum is rounded by."""
    new = total + term
    part = new - total
    return new, lost + ((total - (new - part)) + (term - part))


@elementwise
def _exp_added(top: float, share: float, level: float) -> tuple[float, float]:
    """Return the new top and share with exp(top) share = Σ exp(level) of all levels so far."""
    if level > top:
        return level, share * np.exp(top - level) + _real_of(top)(1)
    return top, share + np.exp(level - top)


def _over(function: Callable[..., float], *arguments: Any) -> Array:
    """Return a compiled function of every element of some arrays; numbers count for all."""
    arrays = np.broadcast_arrays(*arguments)
    values = [function(*row) for row in zip(*[a.ravel() for a in arrays], strict=True)]
    return np.array(values, dtype=arrays[0].dtype).reshape(arrays[0].shape)
