"""Which coordinates the step is taken in: natural ones (the rule), or the working ones.

A natural-gradient step in coordinates ψ is ψ⁺ = ψ − ρ F_ψ⁻¹ ∇_ψ(𝔼_q[ℓ] − 𝓗), F_ψ the
Fisher metric transported to ψ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import drop_unused, refuse, say
    from blrgen.core import Assignment
    from blrgen.rule.arrange import arrange
    from blrgen.rule.assemble import rule_of

    if option == "natural":
        if made(d, "coordinates", "working"):
            raise refuse("coordinates natural", "the step is taken in working coordinates already")
        return say(d, "coordinates", option, "Natural coordinates", "the rule's own coordinates")
    geometry = d.geometry
    if not geometry.family.working or not (
        d.expectation.working_gradient or geometry.ring.elementwise
    ):
        raise refuse(
            "coordinates working", f"{d.family.name} has no working coordinates to step in"
        )
    if rule_of(d).assignments != d.rule.assignments:
        raise refuse(
            "coordinates working",
            "the rule has been rewritten already",
            "put --coordinates before everything but --delta and --stochastic",
        )
    rho = d.rule["rho"].symbol
    steps = tuple(
        Assignment(f"{x.name}_next", arrange(geometry.ring.tidy(x + rho * step), [rho]))
        for x, step in zip(geometry.working, working_step(d), strict=True)
    )
    letters = {s.name for s, _ in d.expectation.metric}
    kept = tuple(a for a in d.rule.assignments if a.name in letters)
    d = drop_unused(d.with_(rule=replace(d.rule, assignments=(*kept, *steps))))
    names = ", ".join(p.name for p in geometry.family.working)
    return say(d, "coordinates", option, "Working coordinates",
               f"the natural-gradient step taken in ({names}): "
               "ψ⁺ = ψ − ρF_ψ⁻¹∇_ψ(𝔼_q[ℓ] − 𝓗)")  # fmt: skip


def working_step(d: Derivation) -> tuple[Expr, ...]:
    """−F_ψ⁻¹ ∇_ψ(𝔼_q[ℓ] − 𝓗): block by block of the transported metric where it has blocks.

    Where it couples scalar parameters the same displacement comes from the chart,
    (∂ψ/∂λ)·(−∇_μ(𝔼_q[ℓ] − 𝓗)).
    """
    from blrgen.algebra.calculus import gradient
    from blrgen.algebra.directions import direction_symbol
    from blrgen.algebra.solve import isolate
    from blrgen.approximate.tools.rewrite import refuse

    geometry, ring = d.geometry, d.geometry.ring
    coupled = _coupled(d)
    if ring.elementwise and (coupled or not d.expectation.identities):
        return _through_the_chart(d)
    if coupled:
        raise refuse(
            "coordinates working", f"the Fisher metric couples {coupled[0]} and {coupled[1]}"
        )
    entropy = geometry.to_working(geometry.entropy)
    steps = []
    for x, slope in zip(geometry.working, d.expectation.working_gradient, strict=True):
        unknown, probe = direction_symbol(x, "X"), direction_symbol(x, "Y")
        pull = gradient(geometry.metric(x, unknown, probe), probe)
        downhill = gradient(entropy, x) - slope
        steps.append(ring.tidy(isolate(ring.tidy(pull - downhill), unknown)))
    return tuple(steps)


def _coupled(d: Derivation) -> tuple[Expr, Expr] | None:
    """Two working parameters between which the Fisher metric has an entry."""
    for i, x in enumerate(d.geometry.working):
        for y in d.geometry.working[:i]:
            if d.geometry.mixed_metric(y, x) != 0:
                return y, x
    return None


def _through_the_chart(d: Derivation) -> tuple[Expr, ...]:
    import sympy as sp

    from blrgen.algebra.partial import partial

    geometry = d.geometry
    steps = []
    for x in geometry.working:
        chart = geometry.working_of_natural[x]
        slopes = [geometry.to_working(partial(chart, lam)) for lam in geometry.natural]
        step = sp.Add(*[s * v for s, v in zip(slopes, d.exact.direction.parts, strict=True)])
        steps.append(sp.expand(step))
    return tuple(steps)


APPROXIMATION = Approximation(
    flag="coordinates",
    summary="the coordinates in which the step is straight: natural (the rule) or working",
    rewrites="λ⁺ = λ − ρ∇_μL → ψ⁺ = ψ − ρF_ψ⁻¹∇_ψL",
    requires="working coordinates (of matrices: with a block-diagonal Fisher metric); "
    "before other rewritings",
    citation="Amari (1998)",
    apply=apply,
    options=("natural", "working"),
    stated=("natural",),
)
