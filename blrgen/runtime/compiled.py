"""What compiled code says in words of its own: how it is compiled, choices, the bits of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from blrgen.runtime.arrays import Array

FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
CALLED = {"fastmath": FASTMATH, "error_model": "numpy"}
INLINED = CALLED | {"forceinline": True}


@njit(cache=True, error_model="numpy", forceinline=True)
def _where(condition: Any, yes: Array, no: Array) -> Array:
    """Return one of two numbers."""
    return yes if condition else no


@njit(cache=True, error_model="numpy", forceinline=True)
def _flushed(x: Any) -> Any:
    """Return x, or 0 for a number below the smallest normal one: with those sums are slow."""
    return type(x)(0) if abs(x) < np.finfo(type(x)).tiny else x


@njit(cache=True, error_model="numpy", forceinline=True)
def _real_of(x: Any) -> Callable[[Any], Array]:
    """Return the type of a float."""
    return type(x)


@njit(cache=True, error_model="numpy", forceinline=True)
def _whole_of(x: Any) -> Callable[[Any], Array]:
    """Return the type of an integer as wide as a float."""
    return type(_integer_of(x))


@njit(cache=True, error_model="numpy", forceinline=True)
def _largest_of(width: Any) -> Any:
    """Return the largest of several numbers, of which compiled code has one."""
    return width


@intrinsic
def _integer_of(context: Any, x: Any) -> Any:
    """Return the bits of a float as an integer of its width."""
    result = types.int32 if x == types.float32 else types.int64

    def cast(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    return result(x), cast


@intrinsic
def _float_of(context: Any, k: Any) -> Any:
    """Return the float that has these bits."""
    result = types.float32 if k == types.int32 else types.float64

    def cast(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    return result(k), cast
