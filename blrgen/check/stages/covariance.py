"""Cov_q[T] = ∇²A."""

from __future__ import annotations

from blrgen.check.context import SMALL, Context
from blrgen.check.finding import within

NAME = "covariance"
NEEDS: tuple[str, ...] = ("minimality",)


def run(context: Context) -> tuple[str, str]:
    """Every entry of the Fisher matrix against the density's second moments."""
    names, gaps = [str(t) for t in context.family.statistics], []
    for point, table in context.tables:
        for i, row in enumerate(context.geometry.fisher):
            for j, entry in enumerate(row):
                should = table.covariances[i][j]
                what = f"Cov[{names[i]}, {names[j]}]"
                gaps.append(context.compare(what, entry, should, point, SMALL))
    return "numeric", f"∇²A within {within(max(gaps))} of Cov[T] at {len(context.tables)} points"
