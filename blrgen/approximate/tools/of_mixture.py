"""Which approximations the rule of a mixture's component takes, and how log q is told of.

A component has the rule of its family for ℓ + log q, so that what acts on a rule acts on it.
What an approximation takes for granted of a family alone is refused with what is missing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import made
from blrgen.approximate.tools.rewrite import refuse

if TYPE_CHECKING:
    from blrgen.core import Derivation, Quantity

_REFUSED = {
    "square-root": "∇²log q is part of what the scale gathers, so that the scale is no average of "
    "squares, and its root may not exist",
    "bias-correction": "the scale starts inside its domain and gathers ∇²log q: it is no average "
    "that starts at zero",
    "ess": "log q is counted once, whatever the number of rows is",
    "relax": "the noise of the relaxation is of one component",
    "straight-through": "the noise of the relaxation is of one component",
    "no-shrinkage": "the entropy of a mixture is in log q, and there is no term (1−ρ)λ",
    "tau": "the noise of the relaxation is of one component",
    "stale-mean": "the noise of the relaxation is of one component",
    "fixed-point": "the components meet in log q: where one rests depends on all others",
    "backtracking": "all components and the weights would have to take halved steps together",
    "spike": "the candidate is a mixture already",
    "inverted": "no mask is drawn in this rule",
    "route": "the way to ∇_μ is the family's",
    "coordinates": "the blocks of a mixture are natural coordinates of each component",
    "rescale": "each component would start with a scale of its own",
    "start": "the first scales are given to the class",
    "clip": "a component far from all others would be clipped by where it started",
    "prior": "δ, δm and ½δ‖m‖² are parts of H, g and l: a prior belongs to ℓ",
    "rename": "the names of a component's parameters are the family's",
}


def check_for_mixture(d: Derivation, flag: str, option: str | None) -> Derivation:
    """Refuse what a component does not take; what it takes is applied to its rule."""
    if flag in _REFUSED:
        raise refuse(flag, f"of a mixture: {_REFUSED[flag]}")
    if flag == "delta" and any(p.at in ("score", "weighted", "implicit") for p in d.facts.probes):
        raise refuse(
            "delta",
            "of a mixture: a component is asked for more than the derivatives of "
            "ℓ and log q at its mean",
            "a Gaussian component, such as gaussian-full",
        )
    if flag == "hessian" and option in ("reparam",):
        raise refuse("hessian reparam", "of a mixture: the draw would be of one component")
    if flag == "stochastic" and not made(d, "delta"):
        raise refuse("stochastic", "of a mixture: each component would draw for itself, and log q "
                     "would be asked at all draws", "--delta first")  # fmt: skip
    return d


def with_log_q_said(d: Derivation) -> Derivation:
    """What is known of log q is no input of `step`: it follows from all components."""
    known = {p.name for p in d.known}

    def said(q: Quantity) -> Quantity:
        return replace(q, kind="known") if q.name in known and q.kind == "input" else q

    quantities = tuple(said(q) for q in d.rule.quantities)
    order = ("state", "input", "data", "known", "draw", "intermediate", "hyper", "counter")
    ranked = tuple(sorted(quantities, key=lambda q: order.index(q.kind)))
    return d.with_(rule=replace(d.rule, quantities=ranked))
