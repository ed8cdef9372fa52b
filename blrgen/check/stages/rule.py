"""The exact rule in working coordinates."""

from __future__ import annotations

from blrgen.check.context import Context

NAME = "rule"
_LONGEST = 240
NEEDS: tuple[str, ...] = ("minimality", "charts")


def run(context: Context) -> tuple[str, str]:
    """Every working parameter's next value."""
    from blrgen.expect import expectation_of
    from blrgen.rule import exact_rule

    rule = exact_rule(context.geometry, expectation_of(context.geometry))
    return "derived", ", ".join(_shown(f"{x}_next", str(v)) for x, v in rule.working_next)


def _shown(name: str, value: str) -> str:
    """The assignment, where it fits a line or two."""
    return f"{name} = {value}" if len(value) <= _LONGEST else f"{name} = … ({len(value)} letters)"
