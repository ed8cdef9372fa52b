"""E[f], r and s of a site in numbers, by a rule and by derivatives of their own.

Gauss–Hermite sums of f alone: ∂E[f]/∂m = E[f z]/√v and ∂E[f]/∂v = E[f (z² − 1)]/(2v), so that
no derivative of f is trusted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from blrgen.algebra.indexed.build import put, symbol
from blrgen.algebra.indexed.values import Symbol
from blrgen.expect.sites.values import Site
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
    return {
        site.expected.name: total,
        site.first.name: slope / spread - 2 * mean * second,
        site.second.name: second,
    }
