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


def site_values(site: Site, values: Values) -> dict[str, Any]:
    """By the names of the site's symbols."""
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
