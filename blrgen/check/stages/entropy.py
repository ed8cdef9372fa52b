"""𝓗 = −E_q[log q] = A − ⟨λ, μ⟩ − E_q[log h]."""

from __future__ import annotations

from blrgen.check.context import Context
from blrgen.check.finding import within

NAME = "entropy"
NEEDS: tuple[str, ...] = ("minimality",)


def run(context: Context) -> tuple[str, str]:
    """The derived entropy against −E[log q] of the density."""
    gaps = [
        context.compare("−E[log q]", context.geometry.entropy, table.entropy, point)
        for point, table in context.tables
    ]
    return "numeric", f"within {within(max(gaps))} of −E[log q] at {len(gaps)} points"
