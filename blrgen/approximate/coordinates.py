"""Which coordinates the step is taken in: natural ones (the rule), or the working ones.

A natural-gradient step in coordinates ψ is ψ⁺ = ψ − ρ F_ψ⁻¹ ∇_ψ(𝔼_q[ℓ] − 𝓗), F_ψ the
Fisher metric transported to ψ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from dataclasses import replace

    from blrgen.approximate.rewrite import put, refuse, say
    from blrgen.core import Assignment
    from blrgen.rule.arrange import arrange
    from blrgen.rule.assemble import _rule

    if option == "natural":
        return say(d, "coordinates", option, "Natural coordinates", "the rule's own coordinates")
    geometry = d.geometry
    if not geometry.family.working or not d.expectation.working_gradient:
        raise refuse(
            "coordinates working", f"{d.family.name} has no working coordinates to step in"
        )
    exact = _rule(geometry, d.expectation, d.exact)
    if exact.assignments != d.rule.assignments:
        raise refuse(
            "coordinates working",
            "the rule has been rewritten already",
            "put --coordinates before everything but --delta and --stochastic",
        )
    rho = d.rule["rho"].symbol
    made = tuple(
        Assignment(f"{x.name}_next", arrange(geometry.ring.tidy(x + rho * step), [rho]))
        for x, step in zip(geometry.working, working_step(d), strict=True)
    )
    d = put(d.with_(rule=replace(d.rule, assignments=made)), coordinates="working")
    names = ", ".join(p.name for p in geometry.family.working)
    return say(d, "coordinates", option, "Working coordinates",
               f"the natural-gradient step taken in ({names}): "
               "ψ⁺ = ψ − ρF_ψ⁻¹∇_ψ(𝔼_q[ℓ] − 𝓗)")  # fmt: skip


def working_step(d: Derivation) -> tuple[Expr, ...]:
    """−F_ψ⁻¹ ∇_ψ(𝔼_q[ℓ] − 𝓗), block by block of the transported metric."""
    from blrgen.algebra.calculus import gradient
    from blrgen.algebra.solve import isolate
    from blrgen.approximate.rewrite import refuse
    from blrgen.geometry.geometry import direction_symbol

    geometry, ring = d.geometry, d.geometry.ring
    entropy = geometry.to_working(geometry.entropy)
    steps = []
    for x, slope in zip(geometry.working, d.expectation.working_gradient, strict=True):
        for other in geometry.working:
            if other != x and geometry.mixed_metric(x, other) != 0:
                raise refuse("coordinates working", f"the Fisher metric couples {x} and {other}")
        unknown, probe = direction_symbol(x, "X"), direction_symbol(x, "Y")
        pull = gradient(geometry.metric(x, unknown, probe), probe)
        downhill = gradient(entropy, x) - slope
        steps.append(ring.tidy(isolate(ring.tidy(pull - downhill), unknown)))
    return tuple(steps)


APPROXIMATION = Approximation(
    flag="coordinates",
    summary="the coordinates in which the step is straight: natural (the rule) or working",
    rewrites="λ⁺ = λ − ρ∇_μL → ψ⁺ = ψ − ρF_ψ⁻¹∇_ψL",
    requires="working coordinates with a block-diagonal Fisher metric; before other rewritings",
    citation="Amari (1998)",
    apply=apply,
    options=("natural", "working"),
)
