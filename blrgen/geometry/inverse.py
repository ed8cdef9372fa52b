"""μ → λ in closed form, where the mean map can be solved one equation at a time.

The equations μ_i = μ_i(ψ) are solved for the working parameters and carried to the
natural ones; a family whose mean map does not separate has no known closed form here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.errors import InternalError
from blrgen.geometry.charts import _solve_triangular

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any


def mean_symbols(geometry: Geometry) -> tuple[Expr, ...]:
    """mu for one statistic, mu1, mu2, … for several, of the ranks of the statistics."""
    from blrgen.algebra.directions import direction_symbol

    several = len(geometry.natural) > 1
    return tuple(
        direction_symbol(x, f"mu{i + 1}" if several else "mu")
        for i, x in enumerate(geometry.natural)
    )


def inverse_mean(geometry: Geometry) -> tuple[Expr, ...] | None:
    """λ(μ), or None where there is no known closed form; through the working parameters first."""
    ring = geometry.ring
    symbols = mean_symbols(geometry)
    for means, unknowns in (
        (geometry.mean_in_working, geometry.working),
        (geometry.mean, geometry.natural),
    ):
        equations = [ring.tidy(m - mu) for m, mu in zip(means, symbols, strict=True)]
        try:
            found = _solve_triangular(equations, list(unknowns), ring, geometry.family)
        except (InternalError, NotImplementedError):
            continue
        if unknowns == geometry.natural:
            values = [found[x] for x in geometry.natural]
        else:
            values = [geometry.natural_of_working[x].xreplace(found) for x in geometry.natural]
        if any(v.has(sp.zoo, sp.nan) for v in values):
            continue
        return tuple(ring.tidy(v) if not ring.elementwise else v for v in values)
    return None
