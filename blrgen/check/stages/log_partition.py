"""A(λ): derived, or the given closed form against the derived one or the density itself."""

from __future__ import annotations

from blrgen.check.context import Context

NAME = "log-partition"
NEEDS: tuple[str, ...] = ()


def run(context: Context) -> tuple[str, str]:
    """The evidence of A."""
    from blrgen.geometry.geometry import verified_integral

    _, evidence = verified_integral(context.family, context.ring)
    level = evidence.partition(":")[0]
    if level == "given":
        return "not checked", evidence
    return level, evidence
