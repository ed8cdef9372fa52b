"""∇_μ𝓗 = −λ − ∇_μ E_q[log h], held against −F⁻¹ Cov_q(T, log q) of the density itself.

Equal to −λ only where the base measure is constant; the line says which case it is.
"""

from __future__ import annotations

from typing import Any

import mpmath

from blrgen.check.context import Context
from blrgen.check.finding import within
from blrgen.check.measure import DPS, Table

NAME = "entropy gradient"
NEEDS: tuple[str, ...] = ()


def run(context: Context) -> tuple[str, str]:
    """The derived gradient against the density's, and how the base measure enters."""
    gaps = []
    for point, table in context.tables:
        found = gradient_of(table)
        for k, (e, should) in enumerate(zip(context.geometry.entropy_gradient, found, strict=True)):
            gaps.append(context.compare(f"∂𝓗/∂μ{k + 1}", e, should, point))
    near = within(max(gaps))
    return "numeric", f"{base_case(context)}; within {near} of −F⁻¹Cov(T, log q)"


def gradient_of(table: Table) -> list[Any]:
    """∇_μ𝓗 from moments of the density alone: F⁻¹ ∂𝓗/∂λ."""
    with mpmath.workdps(DPS):
        fisher = mpmath.matrix(table.covariances)
        return list(mpmath.lu_solve(fisher, mpmath.matrix(table.entropy_slope)))


def base_case(context: Context) -> str:
    """Constant h, log h in the span of the statistics, or the general case."""
    from blrgen.geometry.integrate import log_base

    geometry, x = context.geometry, context.family.variable
    if not context.family.base_measure.has(x) or not log_base(context.family):
        return "h is constant: ∇_μ𝓗 = −λ"
    slopes = geometry.mean_gradient_of(geometry.expected_log_base)
    if not any(s.has(*geometry.natural) for s in slopes):
        given = ", ".join(str(s) for s in slopes)
        return f"log h in the span of T: ∇_μ𝓗 = −λ − ({given})"
    return "h depends on x: ∇_μ𝓗 = −λ − ∇_μE[log h]"
