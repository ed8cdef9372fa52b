"""A second component at zero: of each weight, q = π q₁ + (1 − π) q₀.

q₁ is the member of the family that is learned, q₀ one of the same family whose location is
held at zero; π and q₀ are given.  The rule of q₁ is that of a component of a mixture
(`blrgen.rule.mixture`): for ℓ + log q, in expectation under q given that this weight is of q₁.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation, Step


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import add_hyper, location, refuse, symbol
    from blrgen.rule.mixture.component import component_derivation

    if d.approximations:
        raise refuse("spike", "the rule has been rewritten already", "--spike before all others")
    location(d, "spike")
    if not d.geometry.ring.elementwise or d.geometry.integral.quadratic is None:
        raise refuse(
            "spike", "a weight is in or out by itself: its law is one number's, and a Gaussian",
            "the diagonal candidate, gaussian-diag",
        )  # fmt: skip
    d = add_hyper(component_derivation(d.family, "1", _candidate()).with_(loss=d.loss), "pi")
    return d.with_(facts=replace(d.facts, free=symbol(d, "pi")))


def _candidate() -> Step:
    """q(θ) = πq₁(θ) + (1 − π)q₀(θ), of each weight."""
    from blrgen.core import Equation, Step
    from blrgen.rule.lines import sym
    from blrgen.rule.quantities import hyper_symbol

    pi = hyper_symbol("pi")
    return Step(
        "The candidate of each weight",
        (Equation(sym("q_theta"), pi * sym("q_free") + (1 - pi) * sym("q_zero")),),
        APPROXIMATION.summary,
        "sample",
        "spike",
        (
            ("q_theta", "q(θ)", r"q(\theta)"),
            ("q_free", "q₁(θ)", r"q_1(\theta)"),
            ("q_zero", "q₀(θ)", r"q_0(\theta)"),
        ),
    )


APPROXIMATION = Approximation(
    flag="spike",
    summary="a weight is of q₁ with probability π, else of q₀, whose location is zero; π and q₀ "
    "are given",
    rewrites="q → πq + (1−π)q₀, ℓ → ℓ + log q",
    requires="a Gaussian candidate of independent weights, and no approximation before it",
    citation="Khan & Rue (2023)",
    apply=apply,
)
