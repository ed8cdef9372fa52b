"""∫ q = 1: log ∫ h exp⟨λ, T⟩ by quadrature or summation is A(λ), also near the edges."""

from __future__ import annotations

from blrgen.check.context import Context
from blrgen.check.finding import within

NAME = "normalised"
NEEDS: tuple[str, ...] = ()


def run(context: Context) -> tuple[str, str]:
    """A against the logarithm of the density's own mass."""
    tables = context.tables
    gaps = [
        context.compare("A = log ∫ h exp⟨λ, T⟩", context.geometry.log_partition, t.log_mass, point)
        for point, t in tables
    ]
    return "numeric", f"within {within(max(gaps))} of the density's mass at {len(gaps)} points"
