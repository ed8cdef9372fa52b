"""Stochastic approximation: minibatches for sums over data, a draw for an expectation under q."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Assignment, Derivation, Probe, Quantity

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import refuse, say, set_probes

    if d.facts.free is not None:
        from blrgen.approximate.tools.masked import one_mask

        return one_mask(d, option)
    if any(p.at in ("score", "weighted", "implicit") for p in d.facts.probes):
        return _by_the_caller(d, option)
    if any(p.order == 0 and not p.component for p in d.facts.probes):
        raise refuse(
            "stochastic",
            "this rule asks for expected losses, not for gradients: enumeration leaves no draw",
            "--relax turns a two-valued variable into one with gradients",
        )
    if all(p.minibatch for p in d.facts.probes):
        raise refuse("stochastic", "every probe of the loss is already a minibatch estimate")
    because = "a minibatch stands for the data"
    if any(p.at == "q" for p in d.facts.probes):
        d = add_draw(d)
        because = "one draw θ ~ q and a minibatch stand for the expectation and the data"
    d = set_probes(d, lambda p: replace(p, minibatch=True))
    return say(d, "stochastic", option, "Stochastic approximation", because)


def _by_the_caller(d: Derivation, option: str | None) -> Derivation:
    """Inputs that are expectations under a candidate of any kind: estimates of them do."""
    from blrgen.approximate.tools.rewrite import refuse, say, set_probes

    if any(p.minibatch for p in d.facts.probes):
        raise refuse("stochastic", "every input is already an estimate")

    def estimated(p: Probe) -> Probe:
        here, _, words = p.meaning.partition(": ")
        return replace(
            p, minibatch=True, meaning=f"{here}: {words}; an unbiased estimate from draws and a "
            "minibatch",
        )  # fmt: skip

    d = set_probes(d, estimated)
    return say(
        d, "stochastic", option, "Stochastic approximation",
        "draws from q and a minibatch, averaged by the caller, stand for the expectation and the "
        "data",
    )  # fmt: skip


def add_draw(d: Derivation) -> Derivation:
    """θ ~ q: where the loss is probed from here on."""
    from dataclasses import replace as change

    from blrgen.approximate.tools.rewrite import refuse, set_probes, with_quantities

    if d.geometry.integral.quadratic is None:
        raise refuse("stochastic", "blrgen knows how to draw from Gaussian candidates only")
    if d.rule.until:
        raise refuse("stochastic", "with fresh draws the rule has no fixed point", "--delta first")
    quantities, assignments = draw(d)
    d = with_quantities(d, quantities)
    rule = change(d.rule, assignments=(*assignments, *d.rule.assignments))
    return set_probes(d.with_(rule=rule), lambda p: replace(p, at="theta") if p.at == "q" else p)


def draw(d: Derivation) -> tuple[tuple[Quantity, ...], tuple[Assignment, ...]]:
    """θ = mean + P^{−½} ε, read off the quadratic exponent of q; a vector draw when P is full."""
    import sympy as sp

    from blrgen.approximate.tools.rewrite import law_of
    from blrgen.core import Assignment, Quantity

    posterior = dict(d.rule.posterior)
    mean, precision = posterior["mean"], posterior["precision"]
    theta = d.geometry.ring.symbol_like(d.family.variable, "theta")
    ring = d.geometry.ring
    if not ring.elementwise and not ring.components:
        return (
            (Quantity("theta", "draw", "vector", theta, "where the loss is probed",
                      distribution=law_of(d)),),
            (),
        )  # fmt: skip
    eps = ring.symbol_like(theta, "eps") if ring.components else sp.Symbol("eps", real=True)
    return (
        (
            Quantity("eps", "draw", "elementwise", eps, "standard normal noise",
                     distribution="N(0, 1)", domain="(-oo, oo)", text="ε", latex=r"\varepsilon"),
            Quantity("theta", "intermediate", "elementwise", theta, "where the loss is probed"),
        ),
        (Assignment("theta", mean + eps / sp.sqrt(precision), "draw"),),
    )  # fmt: skip


APPROXIMATION = Approximation(
    flag="stochastic",
    summary="a minibatch stands for the data, and one draw θ ~ q for an expectation still there",
    rewrites="∇ℓ → ĝ; 𝔼_q[∇ℓ] → ĝ(θ) with θ ~ q",
    requires="gradients or Hessians of the loss in the rule",
    citation="Robbins & Monro (1951); Khan & Rue (2023)",
    apply=apply,
)
