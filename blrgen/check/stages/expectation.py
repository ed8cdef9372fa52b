"""The route by which gradients of E_q[ℓ] are found."""

from __future__ import annotations

from blrgen.check.context import Context

NAME = "expectation"
NEEDS: tuple[str, ...] = ("minimality", "charts")


def run(context: Context) -> tuple[str, str]:
    """The first route that applies, and why."""
    from blrgen.expect import expectation_of

    expectation = expectation_of(context.geometry)
    return "derived", f"{expectation.route}: {expectation.because}"
