"""The way to ∇_μ 𝔼_q[ℓ], chosen instead of the first that applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import refuse, say
    from blrgen.expect.expectation import NoRoute
    from blrgen.expect.identities import NoIdentity
    from blrgen.rule.assemble import exact_derivation

    if d.approximations:
        raise refuse(
            f"route {option}", "the rule has been rewritten already", f"--route {option} first"
        )
    try:
        other = exact_derivation(d.family, d.loss, str(option))
    except (NoRoute, NoIdentity) as e:
        raise refuse(f"route {option}", str(e), "--route score, which every family has") from e
    because = f"{WORDS[str(option)]}: exact, like every other route; what differs is what the "
    return say(other, "route", option, "Route", because + "caller is asked for")


WORDS = {
    "moments": "expectations in closed form",
    "enumeration": "a sum over the points of the support",
    "identities": "differential identities found on the density",
    "implicit": "derivatives through a draw, implicit reparameterisation",
    "score": "the loss weighted by the score",
}

APPROXIMATION = Approximation(
    flag="route",
    summary="the way to ∇_μ𝔼_q[ℓ] is chosen by hand; without it the first that applies is taken",
    rewrites="what the rule asks of the loss: expectations of ℓ, of ℓ′ or of ℓ·(T − μ)",
    requires="a route that the candidate (for moments: the loss) has; first of all flags",
    citation="Williams (1992); Figurnov et al. (2018); Lin, Khan & Schmidt (2019)",
    apply=apply,
    stated=("enumeration", "identities", "implicit", "moments", "score"),
    options=("enumeration", "identities", "implicit", "moments", "score"),
)
