"""Draws from families with NumPy's generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array


def _shape(size: Any, *parameters: Array) -> tuple[int, ...]:
    """Return the shape of a sample: `size`, then what the parameters have in common."""
    first = () if size is None else (size,) if np.ndim(size) == 0 else tuple(size)
    return (*map(int, first), *np.broadcast_shapes(*map(np.shape, parameters)))


def _within(x: Array, low: Any, high: Any, open_low: bool, open_high: bool) -> Array:
    """Return x, or the number beside an end that it was rounded to and that is excluded."""
    real = x.dtype.type
    first = np.nextafter(real(low), real(np.inf)) if open_low else real(low)
    last = np.nextafter(real(high), real(-np.inf)) if open_high else real(high)
    return np.clip(x, first, last)


def _log_gamma(rng: np.random.Generator, power: Any, shape: tuple[int, ...]) -> Any:
    """Return logarithms of gamma variates with that power and rate 1.

    G(a) = G(a + 1) U^(1/a): also where G itself is below what a float holds.
    """
    power = np.asarray(power, dtype=np.float64)
    grown, exponent = rng.standard_gamma(power + 1, shape), rng.standard_exponential(shape)
    return np.log(grown) - np.minimum(exponent / power, 1e300)


@np.errstate(all="ignore")
def _tilted(rng: np.random.Generator, slope: Any, shape: tuple[int, ...]) -> Array:
    """Return numbers in (0, 1) with a density in proportion to exp(slope · t)."""
    u, fall = rng.random(shape), np.abs(slope)
    near = -np.log1p(u * np.expm1(-fall)) / fall  # from the end where the density is higher
    near = np.where(fall > 1e-9, near, u)
    return np.where(np.asarray(slope) > 0, 1 - near, near)


@np.errstate(all="ignore")
def _poisson(rng: np.random.Generator, mean: Any, shape: tuple[int, ...]) -> Any:
    """Return Poisson counts as floats.

    Above 2³⁰ by the normal quantile with its skewness, which errs by less than 1e-9 there.
    """
    mean = np.broadcast_to(np.asarray(mean, dtype=np.float64), shape)
    counts = rng.poisson(np.minimum(mean, 2.0**30)).astype(np.float64)
    large = mean > 2.0**30
    if not large.any():
        return counts
    z = rng.standard_normal(shape)
    return np.where(large, np.rint(mean + np.sqrt(mean) * z + (z * z - 1) / 6), counts)


def _pick(
    rng: np.random.Generator, values: list[Any], levels: list[Any], shape: tuple[int, ...]
) -> Any:
    """Return one of the values for every element, with weights exp(level)."""
    heights = np.stack([np.broadcast_to(x, shape) for x in levels])
    shares = np.cumsum(np.exp(heights - heights.max(axis=0)), axis=0)
    index = (rng.random(shape) * shares[-1] >= shares[:-1]).sum(axis=0)
    return np.choose(index, [np.broadcast_to(x, shape) for x in values])


def _unit_vector(rng: np.random.Generator, levels: Array, shape: tuple[int, ...]) -> Any:
    """Return unit vectors, the k-th with weight exp(levels[k])."""
    shares = np.cumsum(np.exp(levels - levels.max(axis=-1, keepdims=True)), axis=-1)
    u = rng.random((*shape, 1)) * shares[..., -1:]
    index = (u >= shares[..., :-1]).sum(axis=-1)
    return np.eye(levels.shape[-1])[index]


def _counts(rng: np.random.Generator, n: Any, levels: Array, shape: tuple[int, ...]) -> Array:
    """Return counts of n draws among outcomes with weights exp(levels)."""
    weights = np.exp(levels - levels.max(axis=-1, keepdims=True))
    shares = weights / weights.sum(axis=-1, keepdims=True)
    order = np.argsort(shares, axis=-1)  # the largest last: it takes what rounding leaves
    sorted_shares = np.take_along_axis(shares, order, axis=-1)
    counts = rng.multinomial(np.rint(n).astype(np.int64), sorted_shares, shape)
    found = np.empty_like(counts)
    np.put_along_axis(found, np.broadcast_to(order, counts.shape), counts, axis=-1)
    return found.astype(np.float64)


def _dirichlet(rng: np.random.Generator, power: Array, shape: tuple[int, ...]) -> Any:
    """Return points of the simplex with a density in proportion to Π x^(power − 1).

    Gamma variates over their sum, by their logarithms: small powers leave none of them.
    """
    logs = _log_gamma(rng, power, (*shape, power.shape[-1]))
    x = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.maximum(x / x.sum(axis=-1, keepdims=True), np.nextafter(0.0, 1.0))


@np.errstate(all="ignore")
def _sphere(rng: np.random.Generator, a: Array, shape: tuple[int, ...]) -> Any:
    """Return unit vectors with a density in proportion to exp(aᵀx).

    Wood's rejection for t = 1 − cos of the angle to a, from a beta variate z:
    t = 2bz/(1 − (1 − b)z) with b = (d − 1)/(2κ + √(4κ² + (d − 1)²)), κ = |a|.
    """
    d = a.shape[-1]
    size = np.linalg.norm(a, axis=-1)
    kappa = np.broadcast_to(size, shape).ravel()
    if d == 1:
        side = rng.random(len(kappa)) < 1 / (1 + np.exp(-2 * kappa))
        t = np.where(side, 0.0, 2.0)
    else:
        b = (d - 1) / (2 * kappa + np.hypot(2 * kappa, d - 1))
        t, open_ = np.empty(len(kappa)), np.arange(len(kappa))
        while len(open_):
            bound, k = b[open_], kappa[open_]
            z = rng.beta((d - 1) / 2, (d - 1) / 2, len(open_))
            found = 2 * bound * z / (1 - (1 - bound) * z)
            place = 2 * bound + (1 - bound) * found  # (1 + b)(1 − x₀ cos), x₀ = (1 − b)/(1 + b)
            level = k * (2 * bound / (1 + bound) - found)
            level += (d - 1) * np.log(place * (1 + bound) / (4 * bound))
            taken = level >= -rng.standard_exponential(len(open_))
            t[open_[taken]] = found[taken]
            open_ = open_[~taken]
    t = t.reshape(shape)[..., None]
    along = rng.standard_normal((*shape, d))
    along[..., 0] = 0.0  # across the first axis, then the first axis is mirrored to a
    length = np.linalg.norm(along, axis=-1, keepdims=True)
    across = along / np.where(length > 0, length, 1.0) * np.sqrt(t * (2 - t))
    m = np.where(size[..., None] > 0, a / np.where(size > 0, size, 1.0)[..., None], np.eye(d)[0])
    m = m / np.linalg.norm(m, axis=-1, keepdims=True)
    side = np.where(m[..., :1] > 0, -1.0, 1.0)
    u = side * np.eye(d)[0] - m
    dots = (u * across).sum(axis=-1, keepdims=True)
    x = (1 - t) * m + across - u * (2 * dots / (u * u).sum(axis=-1, keepdims=True))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _gaussian(
    rng: np.random.Generator, b: Array, precision: Array, shape: tuple[int, ...]
) -> Array:
    """Return columns x ~ N(P⁻¹b, P⁻¹): P = LLᵀ, x = L⁻ᵀ(L⁻¹b + z)."""
    root = np.linalg.cholesky(precision)
    z = rng.standard_normal((*shape, precision.shape[-1], 1))
    return np.linalg.solve(np.swapaxes(root, -1, -2), np.linalg.solve(root, b) + z)


def _matrix_gaussian(
    rng: np.random.Generator, slope: Array, rows: Array, columns: Array, shape: tuple[int, ...]
) -> Array:
    """Return matrices with a density in proportion to exp(tr LᵀX − ½tr XᵀQXP).

    Q = AAᵀ, P = BBᵀ: X = A⁻ᵀ(A⁻¹LB⁻ᵀ + Z)B⁻¹ with standard normal Z.
    """
    a, b = np.linalg.cholesky(rows), np.linalg.cholesky(columns)
    z = rng.standard_normal((*shape, rows.shape[-1], columns.shape[-1]))
    slope = np.broadcast_to(slope, z.shape[-2:]) if np.ndim(slope) < 2 else slope
    turned = np.linalg.solve(b, np.swapaxes(np.linalg.solve(a, slope), -1, -2))
    middle = np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(turned, -1, -2) + z)
    right = np.linalg.solve(np.swapaxes(b, -1, -2), np.swapaxes(middle, -1, -2))
    return np.swapaxes(right, -1, -2)


def _bartlett(rng: np.random.Generator, power: Any, d: int, shape: tuple[int, ...]) -> Any:
    """Return triangular A such that AAᵀ has density ∝ |X|^(power − (d+1)/2) exp(−tr X).

    The squares on the diagonal are gamma variates, what is below it is normal.
    """
    powers = np.asarray(power, dtype=np.float64)[..., None] - np.arange(d) / 2
    squares = np.maximum(rng.standard_gamma(powers, (*shape, d)), np.nextafter(0.0, 1.0))
    below = rng.standard_normal((*shape, d, d)) / np.sqrt(2)
    return np.tril(below, -1) + np.eye(d) * np.sqrt(squares)[..., None]


def _wishart(rng: np.random.Generator, power: Any, rate: Array, shape: tuple[int, ...]) -> Any:
    """Return matrices with a density in proportion to |X|^(power − (d+1)/2) exp(−tr BX).

    B = LLᵀ is the rate: X = FFᵀ with F = L⁻ᵀA.
    """
    a = _bartlett(rng, power, rate.shape[-1], shape)
    f = np.linalg.solve(np.swapaxes(np.linalg.cholesky(rate), -1, -2), a)
    x = f @ np.swapaxes(f, -1, -2)
    return (x + np.swapaxes(x, -1, -2)) / 2


def _inverse_wishart(
    rng: np.random.Generator, power: Any, rate: Array, shape: tuple[int, ...]
) -> Any:
    """Return inverses of the matrices of `_wishart`: GᵀG with G = A⁻¹Lᵀ, B = LLᵀ."""
    a = _bartlett(rng, power, rate.shape[-1], shape)
    g = np.linalg.solve(a, np.swapaxes(np.linalg.cholesky(rate), -1, -2))
    x = np.swapaxes(g, -1, -2) @ g
    return (x + np.swapaxes(x, -1, -2)) / 2
