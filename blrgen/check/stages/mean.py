"""E_q[T] = ∇A."""

from __future__ import annotations

from blrgen.check.context import SMALL, Context
from blrgen.check.finding import within

NAME = "mean"
NEEDS: tuple[str, ...] = ("minimality",)


def run(context: Context) -> tuple[str, str]:
    """Every mean parameter against the density's first moments."""
    family, gaps = context.family, []
    for point, table in context.tables:
        for statistic, mu, should in zip(
            family.statistics, context.geometry.mean, table.means, strict=True
        ):
            gaps.append(context.compare(f"E[{statistic}]", mu, should, point, SMALL))
    return "numeric", f"∇A within {within(max(gaps))} of E[T] at {len(context.tables)} points"
