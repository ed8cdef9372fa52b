"""What kernels by hand share: how they are compiled, and functions that vectorise.

The mathematical library's exp, log and digamma are calls, one number at a time.  Here they are
polynomials without branches, to a few units in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = Any
FAST: dict[str, Any] = {
    "fastmath": {"contract", "nsz", "arcp", "afn", "reassoc"},
    "error_model": "numpy",
}  # never cached: a cache does not see that a function of another file has changed
EXACT: dict[str, Any] = {
    "fastmath": {"contract", "nsz", "arcp", "afn"},  # what takes away rounding errors stays
    "error_model": "numpy",
    "forceinline": True,
}
THREADS: dict[str, Any] = FAST | {"parallel": True}
BLOCK = 256  # rows
MANTISSA = 0x000FFFFFFFFFFFFF
HALF_ROOT = 0x3FE6A09E667F3BCD  # the bits of √½


@njit(**EXACT)
def exp(x):
    """e^x = 2ⁿ e^r with |r| ≤ ½ log 2, the series of e^r to r¹²; 0 below −708."""
    inside = max(x, -708.0)
    n = np.floor(inside * 1.4426950408889634 + 0.5)
    r = (inside - n * 0.693145751953125) - n * 1.4286068203094172e-06
    p = 2.08767569878681e-09 * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.388888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(n) + np.int64(1023)) << np.int64(52)).view(np.float64)


@njit(**EXACT)
def log(x):
    """Log x = e log 2 + 2 artanh s with x = 2ᵉ m, √½ ≤ m < √2, s = (m − 1)/(m + 1)."""
    bits = np.float64(x).view(np.int64)
    e = (bits - np.int64(HALF_ROOT)) >> np.int64(52)
    m = np.int64(bits - (e << np.int64(52))).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    p = q * (1 / 21) + 1 / 19
    p = p * q + 1 / 17
    p = p * q + 1 / 15
    p = p * q + 1 / 13
    p = p * q + 1 / 11
    p = p * q + 1 / 9
    p = p * q + 1 / 7
    p = p * q + 1 / 5
    p = p * q + 1 / 3
    n = np.float64(e)
    return n * 0.693145751953125 + (n * 1.4286068203094172e-06 + 2.0 * (s + s * q * p))


@njit(**EXACT)
def log1p(x):
    """Log (1 + x) for x ≥ 0: what rounding takes from 1 + x is added to first order."""
    whole = 1.0 + x
    return log(whole) + (x - (whole - 1.0)) / whole


@njit(**EXACT)
def psi(x):
    """ψ(x) for x > 0: the asymptotic series at x + 8 or at x, and ψ(x) = ψ(x + 8) − Σ 1/(x + i).

    The sum is p′/p with p = Π (x + i), one division for eight.
    """
    small = min(x, 8.0)
    p, slope = small, 1.0
    for i in range(1, 8):
        slope = slope * (small + i) + p
        p = p * (small + i)
    moved = x < 8.0
    z = x + 8.0 if moved else x
    f = 1.0 / (z * z)
    s = 1 / 12 - f * (3617 / 8160)
    s = 691 / 32760 - f * s
    s = 1 / 132 - f * s
    s = 1 / 240 - f * s
    s = 1 / 252 - f * s
    s = 1 / 120 - f * s
    s = 1 / 12 - f * s
    return log(z) - 0.5 / z - f * s - (slope / p if moved else 0.0)


@njit(**FAST)
def transposed(x, first, rows, out):
    """Copy so many rows of x, from the first, into columns; columns behind them become 0."""
    d, block = out.shape
    for i in range(d):
        t = out[i]
        for b in range(rows):
            t[b] = x[first + b, i]
        for b in range(rows, block):
            t[b] = 0.0


@njit(**FAST)
def normalised(lp, rows, mx, total):
    """Turn lp[k, b] into e^lp/Σₖ e^lp, 0 in columns behind the rows; return Σ_b log Σₖ e^lp."""
    K, block = lp.shape
    mx[:] = lp[0]
    for k in range(1, K):
        q = lp[k]
        for b in range(block):
            mx[b] = max(mx[b], q[b])
    total[:] = 0.0
    for k in range(K):
        q = lp[k]
        for b in range(block):
            e = exp(q[b] - mx[b])
            q[b] = e
            total[b] += e
    L = 0.0
    for b in range(rows):
        L += mx[b] + log(total[b])
    for b in range(rows):
        mx[b] = 1.0 / total[b]
    mx[rows:] = 0.0
    for k in range(K):
        q = lp[k]
        for b in range(block):
            q[b] *= mx[b]
    return L


@njit(**FAST)
def mirrored(a):
    """Copy what is below the diagonal above it."""
    for i in range(a.shape[0]):
        for j in range(i):
            a[j, i] = a[i, j]


def parts(rows: int, most: int = 16) -> int:
    """How many parts the rows are cut into for threads: a matter of sizes alone."""
    return max(1, min(most, rows // (4 * BLOCK)))
