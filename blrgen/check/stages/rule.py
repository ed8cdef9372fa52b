"""The exact rule in working coordinates."""

from __future__ import annotations

from blrgen.check.context import Context

NAME = "rule"
NEEDS: tuple[str, ...] = ("minimality", "charts")


def run(context: Context) -> tuple[str, str]:
    """Every working parameter's next value."""
    from blrgen.expect import expectation_of
    from blrgen.rule import exact_rule

    rule = exact_rule(context.geometry, expectation_of(context.geometry))
    return "derived", ", ".join(f"{x}_next = {v}" for x, v in rule.working_next)
