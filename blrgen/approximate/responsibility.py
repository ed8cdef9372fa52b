"""The responsibility of a component at its own mean is taken as one.

∇log q = Σ_j r_j ∇log q_j with the responsibilities r_j(θ) = π_j q_j(θ)/q(θ).  Where r₁ ≈ 1 only
the component's own density is left: ∇log q₁, which is zero at its mean, and ∇²log q₁, which
brings back the entropy of q₁ alone.  Good where the components lie apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation, Probe

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import refuse, say, substitute, with_quantities

    asked = [p for p in d.facts.probes if p.of_mixture]
    if not asked:
        raise refuse("responsibility", "no component of a mixture is asked for log q",
                     "--spike first")  # fmt: skip
    if any(p.at != "m" for p in asked):
        raise refuse(
            "responsibility", "log q is asked under the whole component, and the responsibility is "
            "near one around its mean only", "--delta first",
        )  # fmt: skip
    known = {p.symbol: own_density(d, p) for p in asked}
    d = substitute(d, known)
    d = with_quantities(d, drop=tuple(p.name for p in asked))
    left = tuple(p for p in d.facts.probes if not p.of_mixture)
    d = d.with_(facts=replace(d.facts, probes=left))
    return say(d, "responsibility", option, "Responsibility", APPROXIMATION.summary)


def own_density(d: Derivation, probe: Probe) -> Expr:
    """∇ or ∇² of the component's own log density at its mean, in working parameters."""
    from blrgen.algebra.calculus import gradient, jacobian
    from blrgen.algebra.partial import partial
    from blrgen.geometry.integrate import exponent_of

    ring, theta = d.geometry.ring, d.family.variable
    slope = gradient(exponent_of(d.family, ring), theta)
    if probe.order == 2:
        slope = partial(slope, theta) if ring.elementwise else jacobian(slope, theta)
    at = dict(d.candidate)["mean"]
    return ring.tidy(d.geometry.to_working(slope).subs(theta, at))


APPROXIMATION = Approximation(
    flag="responsibility",
    summary="r₁(m) ≈ 1, with r₁ = πq₁/q: at the mean of a component that lies apart from the "
    "others log q is its own log density",
    rewrites="∇log q(m) → ∇log q₁(m) = 0, ∇²log q(m) → ∇²log q₁(m)",
    requires="a component of a mixture with log q at its mean; good where |m| is large beside the "
    "spreads of both components",
    citation="Khan & Rue (2023)",
    apply=apply,
)
