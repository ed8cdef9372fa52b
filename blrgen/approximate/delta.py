"""The delta method: an expectation is replaced by the value at the mean."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.rewrite import probes, refuse, say, set_probes

    if d.fact("relaxed"):
        return _mean_of_the_noise(d)
    if not any(p.at == "q" for p in probes(d)):
        if any(p.order == 0 for p in probes(d)):
            raise refuse(
                "delta",
                "the variable takes finitely many values: the loss has no value at their mean",
                "relax the variable first: --relax",
            )
        raise refuse("delta", "no expectation under q is left in the rule")
    d = set_probes(d, lambda p: replace(p, at="m") if p.at == "q" else p)
    return say(d, "delta", option, "Delta method", APPROXIMATION.summary)


def _mean_of_the_noise(d: Derivation) -> Derivation:
    """For a relaxed variable the randomness is the noise: it is put to its mean, zero."""
    from blrgen.approximate.rewrite import drop_unused, refuse, say, substitute, symbol

    if "eps" not in d.rule:
        raise refuse("delta", "no noise is left in the rule")
    d = drop_unused(substitute(d, {symbol(d, "eps"): 0}))
    return say(
        d, "delta", None, "Delta method", "the noise of the relaxation is put to its mean, 0"
    )


APPROXIMATION = Approximation(
    flag="delta",
    summary="𝔼_q[f(θ)] ≈ f(m): the expectation is replaced by the value at the mean",
    rewrites="𝔼_q[∇ℓ] → ∇ℓ(m) and 𝔼_q[∇²ℓ] → ∇²ℓ(m)",
    requires="an expectation under q in the rule; good where ℓ varies little over the spread of q",
    citation="Khan & Rue (2023); Dorfman (1938)",
    apply=apply,
)
