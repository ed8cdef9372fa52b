"""Functions of K by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.marks import elementwise
from blrgen.runtime.plain import _largest_of, _real_of, _where

BESSELK_WEIGHT_SERIES = (
    (1.5619206968586225e-16, 8.22063524662433e-18), (4.779477332387385e-14, 2.8114572543455206e-15),
    (1.1470745597729725e-11, 7.647163731819816e-13), (2.08767569878681e-09, 1.6059043836821613e-10),
    (2.755731922398589e-07, 2.505210838544172e-08), (2.48015873015873e-05, 2.7557319223985893e-06),
    (0.001388888888888889, 0.0001984126984126984), (0.041666666666666664, 0.008333333333333333),
    (0.5, 0.16666666666666666),
)  # fmt: skip


@elementwise
def _compensated(total: Array, lost: Array, term: Array) -> tuple[Array, Array]:
    """Return total + term and what is lost by rounding; what was lost before is made good."""
    term = term - lost
    more = total + term
    return more, (more - total) - term


@elementwise
def _besselk_nodes(order: float, x: Array) -> tuple[Array, Array, Array, Array, int]:
    """Return |ν|, √(ν² + x²), the step of the trapezoidal rule, its first node and their number.

    K_ν(x) = ½∫ exp(νt − x cosh t) dt has its peak at sinh t = ν/x; left out is what is below
    e^−46 of it.  The step makes the error of the rule, e^−π²/step or less, a rounding.
    """
    real = _real_of(x)
    n, depth = np.abs(real(order)), real(46)
    low, high = np.minimum(n, x), np.maximum(n, x)
    root = high * np.sqrt(real(1) + low / high * (low / high))
    right = np.sqrt(depth * real(0.5) / root)
    right = real(2) * np.log(right + np.sqrt(real(1) + right * right))
    slow = np.sqrt(depth * real(0.5) * (root + n)) / x
    slow = real(2) * np.log(slow + np.sqrt(real(1) + slow * slow))
    less = np.maximum(n - real(2), real(0))  # with e⁻²ᵗ the weight falls off more slowly
    left = (depth + np.sqrt(depth * depth + real(8) * less * depth)) / (less + less)
    left = _where(left < slow, left, slow)
    step = real(0.44) / np.sqrt(root + real(4))
    long = step * real(4097)
    step = long - (long - step)  # short enough that the nodes are exact
    first = -np.ceil(left / step)
    width = np.ceil(right / step) - first
    width = _where(width < real(20000), width, real(0))
    return n, root, step, first, int(_largest_of(width)) + 1


@elementwise
def _besselk_weight(u: Array, n: Array, root: Array, x: Array) -> Any:
    """Return exp(νt − x cosh t) at t = asinh(ν/x) + u, relative to the peak, for ν = n ≥ 0.

    The exponent is −root (cosh u − 1) − n (sinh u − u): by its series up to |u| = 1, on the left
    as −(root − n)(cosh u − 1) − n (eᵘ − 1 − u), on the right as it is: terms of one sign.
    """
    real = _real_of(u)
    size = np.abs(u)
    square = np.minimum(size * size, real(1))
    even, odd = real(0), real(0)  # (cosh u − 1)/u² and (sinh u − u)/u³
    for c, d in BESSELK_WEIGHT_SERIES:
        even = even * square + real(c)
        odd = odd * square + real(d)
    near = square * (root * even + n * u * odd)
    grown = np.exp(size)
    fallen = real(1) / grown
    more = real(0.5) * (grown + fallen) - real(1)
    right = root * more + n * (real(0.5) * (grown - fallen) - size)
    left = x / (root + n) * x * more + n * (fallen - real(1) + size)
    far = _where(u > real(0), right, left)
    return np.exp(-_where(size < real(1), near, far))


@elementwise
def _log_besselk(order: float, x: Array) -> Any:
    """Return log K_ν(x) for real ν and x > 0.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    mass, mass_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        mass, mass_lost = _compensated(mass, mass_lost, w)
    return n * np.arcsinh(n / x) - root + np.log(real(0.5) * step * mass)


@elementwise
def _besselk_ratio(order: float, x: Array) -> Any:
    """Return K_{ν+1}(x)/K_ν(x) for real ν and x > 0, the mean of eᵗ.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    lift = _where(real(order) < real(0), x / (n + root), (n + root) / x)
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        v = _where(real(order) < real(0), -u, u)
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * np.exp(v))
    return first / mass * lift


@elementwise
def _besselk_order(order: float, x: Array) -> Any:
    """Return ∂log K_ν(x)/∂ν for real ν and x > 0, the mean of t.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        v = _where(real(order) < real(0), -u, u)
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * v)
    return np.arcsinh(real(order) / x) + first / mass


@elementwise
def _besselk_order_variance(order: float, x: Array) -> Any:
    """Return ∂²log K_ν(x)/∂ν² for real ν and x > 0, the variance of t.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    product, product_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        v = _where(real(order) < real(0), -u, u)
        f = v
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * f)
        product, product_lost = _compensated(product, product_lost, w * f * f)
    return product / mass - first / mass * (first / mass)


@elementwise
def _besselk_order_slope(order: float, x: Array) -> Any:
    """Return ∂R/∂ν, R = K_{ν+1}(x)/K_ν(x), for real ν and x > 0: the covariance of t and eᵗ.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    lift = _where(real(order) < real(0), x / (n + root), (n + root) / x)
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    second, second_lost = real(0), real(0)
    product, product_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        v = _where(real(order) < real(0), -u, u)
        f = v
        g = np.expm1(v)
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * f)
        second, second_lost = _compensated(second, second_lost, w * g)
        product, product_lost = _compensated(product, product_lost, w * f * g)
    return (product / mass - first / mass * (second / mass)) * lift


@elementwise
def _besselk_tilt(order: float, x: Array) -> Any:
    """Return −∂²log K_ν(x)/∂ν∂x for real ν and x > 0: the covariance of t and cosh t.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    rest = x / (root + n) * x
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    second, second_lost = real(0), real(0)
    product, product_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        v = _where(real(order) < real(0), -u, u)
        even = np.sinh(real(0.5) * u) * (real(2) * np.sinh(real(0.5) * u))
        f = v
        g = rest * even + n * np.expm1(u)
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * f)
        second, second_lost = _compensated(second, second_lost, w * g)
        product, product_lost = _compensated(product, product_lost, w * f * g)
    return (product / mass - first / mass * (second / mass)) * (real(1) / x)


@elementwise
def _besselk_spread(order: float, x: Array) -> Any:
    """Return 1 + 2(ν + 1)R/x − R², R = K_{ν+1}(x)/K_ν(x), for real ν and x > 0: the variance of eᵗ.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    lift = _where(real(order) < real(0), x / (n + root), (n + root) / x)
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    product, product_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        v = _where(real(order) < real(0), -u, u)
        f = np.expm1(v)
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * f)
        product, product_lost = _compensated(product, product_lost, w * f * f)
    return (product / mass - first / mass * (first / mass)) * lift * lift


@elementwise
def _besselk_turan(order: float, x: Array) -> Any:
    """Return R² − 2νR/x − 1, R = K_{ν+1}(x)/K_ν(x), for real ν and x > 0: −Cov[eᵗ, e⁻ᵗ].

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    lift = _where(real(order) < real(0), x / (n + root), (n + root) / x)
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    second, second_lost = real(0), real(0)
    product, product_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        v = _where(real(order) < real(0), -u, u)
        f = np.expm1(v)
        g = np.expm1(-v)
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * f)
        second, second_lost = _compensated(second, second_lost, w * g)
        product, product_lost = _compensated(product, product_lost, w * f * g)
    return -(product / mass - first / mass * (second / mass)) * lift * (real(1) / lift)


@elementwise
def _besselk_slope(order: float, x: Array) -> Any:
    """Return −∂R/∂x, R = K_{ν+1}(x)/K_ν(x), for real ν and x > 0: the covariance of eᵗ and cosh t.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    lift = _where(real(order) < real(0), x / (n + root), (n + root) / x)
    rest = x / (root + n) * x
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    second, second_lost = real(0), real(0)
    product, product_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        v = _where(real(order) < real(0), -u, u)
        even = np.sinh(real(0.5) * u) * (real(2) * np.sinh(real(0.5) * u))
        f = np.expm1(v)
        g = rest * even + n * np.expm1(u)
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * f)
        second, second_lost = _compensated(second, second_lost, w * g)
        product, product_lost = _compensated(product, product_lost, w * f * g)
    return (product / mass - first / mass * (second / mass)) * lift * (real(1) / x)


@elementwise
def _besselk_curvature(order: float, x: Array) -> Any:
    """Return ∂²log K_ν(x)/∂x² for real ν and x > 0: the variance of cosh t.

    Here t has the density exp(νt − x cosh t)/2K_ν(x).
    """
    real = _real_of(x)
    n, root, step, start, count = _besselk_nodes(order, x)
    rest = x / (root + n) * x
    mass, mass_lost = real(0), real(0)
    first, first_lost = real(0), real(0)
    product, product_lost = real(0), real(0)
    for k in range(count):
        u = step * (start + real(k))
        w = _besselk_weight(u, n, root, x)
        even = np.sinh(real(0.5) * u) * (real(2) * np.sinh(real(0.5) * u))
        f = rest * even + n * np.expm1(u)
        mass, mass_lost = _compensated(mass, mass_lost, w)
        first, first_lost = _compensated(first, first_lost, w * f)
        product, product_lost = _compensated(product, product_lost, w * f * f)
    return (product / mass - first / mass * (first / mass)) * (real(1) / x) * (real(1) / x)
