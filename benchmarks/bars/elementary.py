"""e^x − 1 written so that a loop over it is vectorised: libm's is called element by element.

x = n log 2 + r with |r| ≤ ½ log 2; then e^x − 1 = 2ⁿ (e^r − 1) + (2ⁿ − 1), with a polynomial for
e^r − 1 and 2ⁿ put together from its bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

FASTMATH = {"contract", "nsz", "arcp", "afn"}
LOG2E = 1.4426950408889634


def expm1(x: Any) -> Any:
    """e^x − 1 for |x| below 80 (float32) or 700 (float64)."""
    return np.expm1(x)


@overload(expm1, jit_options={"fastmath": FASTMATH, "error_model": "numpy"})
def _chosen(x: Any) -> Any:
    return _single if x == types.float32 else _double


def _single(x: Any) -> Any:
    real = np.float32
    n = np.floor(x * real(LOG2E) + real(0.5))
    r = x - n * real(0.693359375)
    r = r + n * real(2.12194440e-4)
    p = real(1 / 5040)
    p = p * r + real(1 / 720)
    p = p * r + real(1 / 120)
    p = p * r + real(1 / 24)
    p = p * r + real(1 / 6)
    p = p * r + real(0.5)
    p = p * (r * r) + r
    power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return power * p + (power - real(1))


def _double(x: Any) -> Any:
    n = np.floor(x * LOG2E + 0.5)
    r = x - n * 0.69314718036912381649
    r = r - n * 1.90821492927058770002e-10
    p = 1 / 87178291200
    p = p * r + 1 / 6227020800
    p = p * r + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = p * (r * r) + r
    power = np.int64((np.int64(n) + np.int64(1023)) << np.int64(52)).view(np.float64)
    return power * p + (power - 1.0)
