"""∇_μ𝓗 = −λ − ∇_μ E_q[log h], held against −F⁻¹ Cov_q(T, log q) of the density itself.

Equal to −λ only where the base measure is constant; the line says which case it is.
"""

from __future__ import annotations

from typing import Any

import mpmath

from blrgen.check.context import TOLERANCE, Context
from blrgen.check.finding import Wrong, digits, within
from blrgen.geometry.tabulated import DPS, Table

NAME = "entropy gradient"
NEEDS: tuple[str, ...] = ("minimality",)


def run(context: Context) -> tuple[str, str]:
    """The derived gradient against the density's, and how the base measure enters."""
    gaps = []
    for point, table in context.tables:
        claimed = [
            context.value(e, point, f"∂𝓗/∂μ{k + 1}", mpmath.mpf(0))
            for k, e in enumerate(context.geometry.entropy_gradient)
        ]
        gaps.append(_residual(table, claimed, point))
    near = within(max(gaps))
    return "numeric", f"{base_case(context)}; within {near} of −F⁻¹Cov(T, log q)"


def _residual(table: Table, claimed: list[Any], point: Any) -> Any:
    """How far F∇_μ𝓗 is from ∂𝓗/∂λ, which needs no inverse; beyond tolerance the wrong entry."""
    worst = mpmath.mpf(0)
    for row, slope in zip(table.covariances, table.entropy_slope, strict=True):
        terms = [f * g for f, g in zip(row, claimed, strict=True)]
        size = max(1, abs(slope), *(abs(t) for t in terms))
        worst = max(worst, abs(mpmath.fsum(terms) - slope) / size)
    if worst > TOLERANCE:
        found = gradient_of(table)
        k = max(range(len(found)), key=lambda i: abs(found[i] - claimed[i]))
        raise Wrong(f"∂𝓗/∂μ{k + 1}", point, digits(claimed[k]), digits(found[k]))
    return worst


def gradient_of(table: Table) -> list[Any]:
    """∇_μ𝓗 from moments of the density alone: F⁻¹ ∂𝓗/∂λ."""
    with mpmath.workdps(DPS):
        fisher = mpmath.matrix(table.covariances)
        return list(mpmath.lu_solve(fisher, mpmath.matrix(table.entropy_slope)))


def well_conditioned(table: Table) -> bool:
    """Whether F can be inverted with digits to spare."""
    size = len(table.covariances)
    scale = [mpmath.sqrt(table.covariances[i][i]) for i in range(size)]
    scaled = mpmath.matrix(
        [
            [c / scale[i] / scale[j] for j, c in enumerate(r)]
            for i, r in enumerate(table.covariances)
        ]
    )
    return bool(abs(mpmath.det(scaled)) > mpmath.mpf(10) ** -8)


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
