"""A is strictly convex on the domain: F = ∇²A is symmetric and positive definite."""

from __future__ import annotations

from typing import Any

import mpmath

from blrgen.algebra.nodes import has_nodes
from blrgen.check.context import Context
from blrgen.check.finding import NotChecked, Wrong
from blrgen.geometry.tabulated import DPS, number
from blrgen.value.evaluate import Undefined, evaluate

NAME = "convexity"
NEEDS: tuple[str, ...] = ("minimality",)


def run(context: Context) -> tuple[str, str]:
    """The pivots of F at interior points and near the edges, with 30 digits."""
    if not context.family.elementwise:
        raise NotChecked("the Fisher information of matrices is a quadratic form")
    for point in context.points:
        zero = mpmath.mpf(0)
        fisher = [
            [context.value(e, point, f"F[{i + 1},{j + 1}]", zero) for j, e in enumerate(row)]
            for i, row in enumerate(context.geometry.fisher)
        ]
        _symmetric(fisher, point)
        pivot = _bad_pivot(fisher)
        if pivot and pivot[1] > -(mpmath.mpf(10) ** -16):  # rounding? q is nearly sure there
            sharper = _with_more_digits(context, point)
            pivot = _bad_pivot(sharper, 2 * DPS) if sharper else pivot
        if pivot:
            raise Wrong(
                f"pivot {pivot[0]} of F (relative to its diagonal)", point,
                str(mpmath.nstr(pivot[1], 6)), "positive",
                "the Fisher information is not positive definite: A is not strictly convex",
            )  # fmt: skip
    return "numeric", f"F is symmetric positive definite at {len(context.points)} points"


def _with_more_digits(context: Context, point: Any) -> list[list[Any]] | None:
    """F where the usual digits are all rounding; None of what is a quadrature."""
    fisher = context.geometry.fisher
    if any(has_nodes(e) for row in fisher for e in row):
        return None
    with mpmath.workdps(4 * DPS):
        try:
            at = {k: number(v) for k, v in point.items()}
            return [[evaluate(e, at) for e in row] for row in fisher]
        except Undefined:
            return None


def _symmetric(fisher: list[list[Any]], point: Any) -> None:
    for i, row in enumerate(fisher):
        for j in range(i):
            if abs(row[j] - fisher[j][i]) > mpmath.mpf(10) ** -20 * max(1, abs(row[j])):
                raise Wrong(
                    f"F[{i + 1},{j + 1}]", point, mpmath.nstr(row[j], 12),
                    mpmath.nstr(fisher[j][i], 12), "F is not symmetric",
                )  # fmt: skip


def _bad_pivot(fisher: list[list[Any]], digits: int = 16) -> tuple[int, Any] | None:
    """The first pivot of elimination that is not positive, beyond rounding."""
    with mpmath.workdps(4 * DPS):
        rows = [list(r) for r in fisher]
        for k, row in enumerate(rows):
            if not row[k] > abs(fisher[k][k]) * mpmath.mpf(10) ** -digits:
                return k + 1, row[k] / abs(fisher[k][k]) if fisher[k][k] else row[k]
            for below in rows[k + 1 :]:
                factor = below[k] / row[k]
                for j in range(k, len(row)):
                    below[j] -= factor * row[j]
    return None
