"""The delta method: an expectation is replaced by the value at the mean."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import refuse, say, set_probes

    if made(d, "relax"):
        return _mean_of_the_noise(d)
    if d.facts.free is not None:
        from blrgen.approximate.tools.masked import at_each_component

        return at_each_component(d, option)
    if not any(p.at == "q" for p in d.facts.probes):
        if any(p.at in ("score", "weighted", "implicit") for p in d.facts.probes):
            return _at_the_mean(d, option)
        if any(p.order == 0 for p in d.facts.probes):
            raise refuse(
                "delta",
                "the variable takes finitely many values: the loss has no value at their mean",
                "relax the variable first: --relax",
            )
        raise refuse("delta", "no expectation under q is left in the rule")
    d = set_probes(d, lambda p: replace(p, at="m") if p.at == "q" else p)
    return say(d, "delta", option, "Delta method", APPROXIMATION.summary)


def _at_the_mean(d: Derivation, option: str | None) -> Derivation:
    """E_q[p ℓ′] → p(E[x])·ℓ′(E[x]), where E_q[x] has a closed form and nothing else is asked."""
    from blrgen.approximate.tools.rewrite import (
        drop_unused,
        refuse,
        say,
        substitute,
        with_quantities,
    )
    from blrgen.core import Probe
    from blrgen.expect.moments import expected_value
    from blrgen.rule.quantities import probe_quantity
    from blrgen.text.expression import latex, unicode

    x = d.family.variable
    for p in d.facts.probes:
        if p.at == "score":
            raise refuse(
                "delta",
                f"{p.name} is the loss weighted by the score, whose mean is zero: its value at one "
                "point says nothing of it",
                "a candidate all of whose parameters have a differential identity",
            )
        if p.at == "implicit" or p.order == 0 or d.expectation.folded:
            raise refuse("delta", f"{p.name} is no derivative of the loss that could be taken "
                         f"at a mean of {x}")  # fmt: skip
    mean = expected_value(x, d.geometry)
    if mean is None:
        raise refuse("delta", f"the mean of {x} was not found in closed form")
    mean = d.geometry.to_working(mean)
    at, tex = unicode(mean), latex(mean)
    g = Probe(
        "g", d.geometry.ring.gradient_symbol(), 1, "m",
        meaning=f"ℓ′({at}): the derivative of the loss at the mean of {unicode(x)}, {at}",
        text=f"ℓ′({at})", latex=rf"\ell'({tex})",
    )  # fmt: skip
    table = {p.symbol: p.weight.subs(x, mean) * g.symbol for p in d.facts.probes}
    gone = tuple(p.name for p in d.facts.probes)
    d = substitute(d, table)
    d = with_quantities(d, (probe_quantity(g, d.geometry, mean),), drop=gone)
    d = drop_unused(d)
    d = d.with_(facts=replace(d.facts, probes=(g,), place=mean))
    return say(d, "delta", option, "Delta method", APPROXIMATION.summary)


def _mean_of_the_noise(d: Derivation) -> Derivation:
    """For a relaxed variable the randomness is the noise: it is put to its mean, zero."""
    from blrgen.approximate.tools.rewrite import drop_unused, refuse, say, substitute, symbol

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
