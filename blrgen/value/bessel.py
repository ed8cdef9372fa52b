"""log I_ν(x) and log K_ν(x) for x > 0 that neither overflow nor vanish, at any precision.

In doubles, with s = x²/4:

    ν < 40, x ≤ 700    I_ν = (x/2)^ν/Γ(ν+1) Σ_k s^k/(k! (ν+1)…(ν+k)), all terms positive;
    ν < 40, x > 700    log I_ν = x − ½ log 2πx + log Σ_k (−1)^k a_k(ν)/x^k     (Hankel);
    ν ≥ 40             the expansion in 1/ν that is uniform in z = x/ν         (Debye):

        I_ν(νz) ~ e^{ νη}/√(2πν w) Σ u_k(1/w)/ν^k,     w = √(1+z²),
        K_ν(νz) ~ e^{−νη} √(π/2νw) Σ (−1)^k u_k(1/w)/ν^k,  η = w + log z/(1+w).

With more digits the same by mpmath, and by Hankel's sum where x is so large that mpmath's
series have too many terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

Value = Any
Array = Any
_FAR, _HIGH, _TERMS = 700.0, 40.0, 12
_HUGE = 10**6  # in x/(ν² + 1): from here on Hankel's sum has all digits at once


def log_besseli(order: Value, x: Value) -> Value:
    """log I_ν(x) of mpmath numbers, ν > −1 and x on the right half of the plane."""
    return _log_of(order, x, 1)


def log_besselk(order: Value, x: Value) -> Value:
    """log K_ν(x) of mpmath numbers."""
    return _log_of(abs(order), x, -1)


def _log_of(order: Value, x: Value, sign: int) -> Value:
    if mpmath.isinf(order):
        return -sign * mpmath.inf
    if mpmath.isinf(x):
        return sign * mpmath.inf
    if x == 0:
        return mpmath.mpf(0) if sign > 0 and order == 0 else -sign * mpmath.inf
    if mpmath.re(x) < 0:
        return mpmath.nan
    if mpmath.re(x) > _HUGE * (abs(order) ** 2 + 1 + mpmath.mp.prec):
        half = mpmath.log(2 * mpmath.pi * x if sign > 0 else 2 * x / mpmath.pi) / 2
        return sign * x - half + mpmath.log(_hankel(order, x, sign))
    if sign > 0 and abs(order) > _HIGH and abs(x) < 10 * abs(order):
        return _small(order, x)
    found = mpmath.log(mpmath.besseli(order, x) if sign > 0 else mpmath.besselk(order, x))
    if sign < 0 and mpmath.im(x) == 0 and order >= _HIGH:
        # mpmath takes K of a high order as a difference of two far larger numbers
        rough = float(log_besselk_doubles(float(order), float(x)))
        if abs(rough) < math.inf and not abs(found - rough) < 1e-9 * (1 + abs(rough) + order):
            return mpmath.nan
    return found


def _small(order: Value, x: Value) -> Value:
    """ν log(x/2) − log Γ(ν+1) + log ₀F₁(ν+1; x²/4): |x| < 10 |ν|, little cancels."""
    with mpmath.workprec(mpmath.mp.prec + 40):
        square = x * x / 4
        if abs(square) < abs(order):
            others = _first_terms(order, square)
        elif mpmath.mag(order) < 100:
            others = mpmath.log(mpmath.hyp0f1(order + 1, square))
        else:
            return mpmath.nan
        found = order * mpmath.log(x / 2) - mpmath.loggamma(order + 1) + others
    return +found


def _first_terms(order: Value, square: Value) -> Value:
    """log Σ_k s^k/(k! (ν+1)…(ν+k)) where the terms fall off from the first."""
    term, total, k = mpmath.mpf(1), mpmath.mpf(0), 0
    tiny = mpmath.mpf(2) ** -mpmath.mp.prec
    while abs(term) > tiny * (abs(total) or 1):
        k += 1
        term = term * square / (k * (order + k))
        total += term
    return mpmath.log1p(total)


def _hankel(order: Value, x: Value, sign: int) -> Value:
    """Σ_k (∓1)^k a_k(ν)/x^k, a_k = Π_{j≤k} (4ν² − (2j−1)²)/(8j), to the last digit."""
    term = total = mpmath.mpf(1)
    tiny = mpmath.mpf(2) ** -(mpmath.mp.prec + 5)
    for k in range(1, mpmath.mp.prec):
        term = term * -sign * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
        if abs(term) < tiny:
            break
    return total


def log_besseli_doubles(order: Any, x: Any) -> Array:
    """log I_ν(x) of doubles, for ν > −1 and x ≥ 0; nan elsewhere."""
    pieces = (_series, _hankel_i, lambda v, y: _debye(v, y, 1))
    return _by_region(order, x, pieces, 1)


def log_besselk_doubles(order: Any, x: Any) -> Array:
    """log K_ν(x) of doubles, for x ≥ 0; nan elsewhere."""
    pieces = (_one_by_one, _hankel_k, lambda v, y: _debye(v, y, -1))
    return _by_region(np.abs(order), x, pieces, -1)


def _by_region(order: Any, x: Any, pieces: tuple[Callable[..., Array], ...], sign: int) -> Array:
    order, x = np.broadcast_arrays(np.asarray(order, dtype=float), np.asarray(x, dtype=float))
    found = np.full(x.shape, np.nan)
    high, far = order >= _HIGH, x > _FAR
    inside = (x > 0) & np.isfinite(x) & np.isfinite(order) & (order > -1)
    for where, piece in zip((~high & ~far, ~high & far, high), pieces, strict=True):
        chosen = inside & where
        if chosen.any():
            found[chosen] = piece(order[chosen], x[chosen])
    found[(x == 0) & (order > -1)] = -sign * math.inf
    if sign > 0:
        found[(x == 0) & (order == 0)] = 0.0
    found[(order == math.inf) & (x >= 0) & (x < math.inf)] = -sign * math.inf
    found[(x == math.inf) & (np.isfinite(order))] = sign * math.inf
    return found


def _series(order: Array, x: Array) -> Array:
    square, term, total = x * x / 4, np.ones_like(x), np.ones_like(x)
    k = 0
    while np.any(term > 1e-18 * total):
        k += 1
        term = term * square / (k * (order + k))
        total = total + term
    gammas = np.array([math.lgamma(v + 1) for v in order.tolist()])
    return np.asarray(order * np.log(x / 2) - gammas + np.log(total))


def _hankel_i(order: Array, x: Array) -> Array:
    return np.asarray(x - np.log(2 * np.pi * x) / 2 + np.log1p(_hankel_rest(order, x, 1)))


def _hankel_k(order: Array, x: Array) -> Array:
    return np.asarray(np.log(np.pi / (2 * x)) / 2 - x + np.log1p(_hankel_rest(order, x, -1)))


def _hankel_rest(order: Array, x: Array, sign: int) -> Array:
    term, total = np.ones_like(x), np.zeros_like(x)
    for k in range(1, 3 * _TERMS):
        term = term * -sign * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
        total = total + term
    return total


def _debye(order: Array, x: Array, sign: int) -> Array:
    z = x / order
    w = np.hypot(1.0, z)
    eta = w + np.log(z) - np.log1p(w)
    p, total = 1 / w, np.zeros_like(x)
    for k in range(_TERMS, 0, -1):
        value = np.zeros_like(p)
        for coefficient in reversed(_debye_polynomials()[k]):
            value = value * p + coefficient
        total = (total + value) * sign / order
    front = np.log(2 * np.pi * order * w) if sign > 0 else np.log(2 * order * w / np.pi)
    return np.asarray(sign * order * eta - front / 2 + np.log1p(total))


@lru_cache(maxsize=1)
def _debye_polynomials() -> list[list[float]]:
    """u_0 = 1, u_{k+1}(p) = ½ p²(1−p²) u_k′(p) + ⅛ ∫₀^p (1 − 5t²) u_k(t) dt, lowest power first."""
    u = [Fraction(1)]
    found = [u]
    for _ in range(_TERMS):
        following = [Fraction(0)] * (len(u) + 3)
        for i, c in enumerate(u):
            following[i + 1] += c * i / 2 + c / (8 * (i + 1))
            following[i + 3] -= c * i / 2 + 5 * c / (8 * (i + 3))
        u = following
        found.append(u)
    return [[float(c) for c in polynomial] for polynomial in found]


def _one_by_one(order: Array, x: Array) -> Array:
    with mpmath.workprec(70):
        found = [float(log_besselk(mpmath.mpf(v), mpmath.mpf(y))) for v, y in zip(
            order.tolist(), x.tolist(), strict=True)]  # fmt: skip
    return np.array(found)
