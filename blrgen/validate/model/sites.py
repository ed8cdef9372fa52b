"""E[f], r and s of a site in numbers, by a rule and by derivatives of their own.

Gauss–Hermite sums of f alone: ∂E[f]/∂m = E[f z]/√v and ∂E[f]/∂v = E[f (z² − 1)]/(2v), so that
no derivative of f is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from blrgen.algebra.indexed.build import add, put, symbol
from blrgen.algebra.indexed.values import Expression, Symbol
from blrgen.expect.sites.values import Line, Site
from blrgen.value.indexed import Values

NODES = 160
STEP, FAR = 0.65, 7.5  # of a lattice, where a predictor has elements


def site_values(site: Site, values: Values) -> dict[str, Any]:
    """By the names of the site's symbols."""
    if site.inner:
        return element_values(site, values)
    mean = values.array(site.mean, site.places)
    spread = np.sqrt(values.array(site.square, site.places) - mean**2)
    own = Symbol(f"`{site.variable.name}")
    at = put(site.function, {site.variable.name: lambda _: symbol(own, *site.places)})
    points, weights = hermegauss(NODES)
    weights = weights / weights.sum()
    total, slope, bend = np.zeros_like(mean), np.zeros_like(mean), np.zeros_like(mean)
    for z, w in zip(points, weights, strict=True):
        held = Values({**values.arrays, own.name: mean + spread * z}, values.sizes)
        f = held.array(at, site.places)
        total, slope = total + w * f, slope + w * z * f
        bend = bend + w * (z * z - 1) * f
    second = bend / (2 * spread**2)
    found = {site.expected.name: total, site.second.name: second}
    for r, part in zip(site.firsts, site.means, strict=True):
        own = values.array(part, site.places)
        found[r.name] = slope / spread - 2 * own * second
    return found


def element_values(site: Site, values: Values) -> dict[str, Any]:
    """Of a predictor with elements: sums over a lattice, C = LLᵀ, E[f z] and E[f (zzᵀ − 1)].

    Of elements that are apart only the diagonal of what comes out is kept.
    """
    axis = site.inner[0].axis
    size, together = values.size(axis), len(site.inner) == 2
    mean = values.array(site.mean, (*site.places, site.inner[0]))
    square = values.array(site.square, (*site.places, *site.inner))
    eye = np.eye(size)
    covariance = square - mean[..., None] * mean[..., None, :] if together else (
        (square - mean**2)[..., None] * eye)  # fmt: skip
    back = np.linalg.inv(np.linalg.cholesky(covariance))
    root = np.linalg.inv(back)
    own = Symbol(f"`{site.variable.name}")
    at = put(site.function, {site.variable.name: lambda k: symbol(own, *site.places, *k)})
    total, slope, bend = np.zeros(mean.shape[:-1]), np.zeros_like(mean), np.zeros_like(covariance)
    widest = float(np.sqrt(np.linalg.eigvalsh(covariance).max()))
    for z, w in _lattice(size, min(STEP, STEP / widest)):
        held = Values({**values.arrays, own.name: mean + root @ z}, values.sizes)
        f = held.array(at, site.places)
        total, slope = total + w * f, slope + w * f[..., None] * z
        bend = bend + w * f[..., None, None] * (np.outer(z, z) - eye)
    turned = np.swapaxes(back, -1, -2)
    slopes = (turned @ slope[..., None])[..., 0]
    second = turned @ bend @ back / 2
    found = {site.expected.name: total}
    found[site.second.name] = second if together else np.einsum("...kk->...k", second)
    for r, part in zip(site.firsts, site.means, strict=True):
        means = values.array(part, (*site.places, site.inner[0]))
        bent = second if together else second * eye
        found[r.name] = slopes - 2 * (bent @ means[..., None])[..., 0]
    return found


def _lattice(size: int, step: float) -> list[tuple[Any, float]]:
    """Points of a cubic lattice around the origin and weights for N(0, I)."""
    line = step * (np.arange(-int(FAR / step) - 1, int(FAR / step) + 1) + 0.5)
    points = np.stack(np.meshgrid(*[line] * size, indexing="ij"), -1).reshape(-1, size)
    points = points[(points**2).sum(1) <= FAR**2]
    weights = np.exp(-(points**2).sum(1) / 2)
    return list(zip(points, weights / weights.sum(), strict=True))


def number_values(site: Site, own: Line, natural: Sequence[Any], values: Values) -> dict[str, Any]:
    """E[f] and F⁻¹ Cov[T, f] of one number, element by element on a fine grid of t."""
    letters = [i.name for i in site.places]
    shape = tuple(values.size(i.axis) for i in site.places)
    total = np.zeros(shape)
    r = np.zeros((len(site.firsts), *shape))
    for at in np.ndindex(*shape):
        where = dict(zip(letters, at, strict=True))
        lam = [np.asarray(x)[tuple(where[i.name] for i in own.element)] for x in natural]
        t, level = _grid(own, lam, values, where)
        p = np.exp(level - level.max())
        p /= p.sum()
        x = np.array([_of(own.chart, own.variable.name, y, values, where) for y in t])
        T = np.array([_at_number(s, site, x, values, where) for s in own.statistics])
        f = np.array([_of(site.function, site.variable.name, y, values, where) for y in x])
        total[at] = p @ f
        gap = T - (T @ p)[:, None]
        r[(slice(None), *at)] = np.linalg.solve((gap * p) @ gap.T, (gap * p) @ (f - p @ f))
    pairs = zip(site.firsts, r, strict=True)
    return {site.expected.name: total, **{s.name: x for s, x in pairs}}


def _of(e: Expression, name: str, x: float, values: Values, where: dict[str, int]) -> float:
    """An expression with a number for one symbol."""
    return float(Values({**values.arrays, name: np.asarray(x)}, values.sizes).of(e, where))


def _at_number(e: Expression, site: Site, x: Any, values: Values, where: dict[str, int]) -> Any:
    """T_j at numbers x."""
    name = "`x"
    held = put(e, {k: lambda _: symbol(Symbol(name)) for k in site.nodes})
    return np.array([_of(held, name, y, values, where) for y in x])


def _grid(
    own: Line, lam: Sequence[Any], values: Values, where: dict[str, int]
) -> tuple[Any, Any]:  # fmt: skip
    """Equidistant t, and log p there: as far as p is more than a rounding error of its top."""
    names = {k for e in own.statistics for k in e.symbols()}
    inside = [put(e, {k: lambda _: own.chart for k in names}) for e in own.statistics]
    rest = add(own.base, own.jacobian)

    def level(t: float) -> float:
        parts = (_of(e, own.variable.name, t, values, where) for e in inside)
        return float(sum(a * b for a, b in zip(lam, parts, strict=True))
                     + _of(rest, own.variable.name, t, values, where))  # fmt: skip

    t = np.linspace(-30, 30, 241)
    for _ in range(4):
        found = np.array([level(x) for x in t])
        kept = np.flatnonzero(found > found.max() - 40)
        step = t[1] - t[0]
        t = np.linspace(t[kept[0]] - step, t[kept[-1]] + step, 241)
    return t, np.array([level(x) for x in t])
