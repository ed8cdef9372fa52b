"""The rule of one component of a mixture, derived from the rule of its family.

q(θ) = Σ_k π_k q_k(θ) is the marginal of a joint over (z, θ) with the statistics 1{z = k} and
1{z = k} T(θ): a minimal conditional exponential family.  With μ_k = E[1{z = k} T] =
π_k E_{q_k}[T] the chain rule gives, block by block,

    ∇_{μ_k} {E_q[ℓ] − 𝓗(q)} = ∇_{E_{q_k}[T]} E_{q_k}[ℓ + log q],

as −𝓗(q) = E_q[log q], as E_q of a derivative of log q is zero, and as π_k stands in the
slope and in μ_k alike.  So λ_k⁺ = λ_k − ρ∇_μ E_{q_k}[f] with f = ℓ + log q held as it stands:
the rule of the family without its entropy, for f.  What it asks of f it asks of ℓ and of
log q; the first is an input, the second is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from blrgen.core import Derivation, Family, Loss, Probe, Rule, Step
from blrgen.geometry.geometry import Geometry
from blrgen.rule.assemble import exact_derivation
from blrgen.rule.mixture.lines import component_lines
from blrgen.rule.quantities import probe_quantity

Expr = Any


def component_derivation(family: Family, of: str, candidate: Step) -> Derivation:
    """The exact rule of one component, `of` its index; log q is asked beside the loss.

    `candidate` is the line that says what q is.
    """
    d = exact_derivation(family, Loss(), current=True)
    own = tuple(replace(p, component=of) for p in d.facts.probes)
    twins = tuple(_twin(p, d.geometry) for p in own)
    both = {p.symbol: p.symbol + t.symbol for p, t in zip(own, twins, strict=True)}
    d = d.with_(rule=_asking(d.rule, both, (*own, *twins), d.geometry))
    d = d.with_(facts=replace(d.facts, probes=(*own, *twins)))
    return d.with_(steps=component_lines(d, of, candidate))


def _twin(p: Probe, geometry: Geometry) -> Probe:
    """What is asked of log q where `p` is asked of the loss."""
    name = f"{p.name}_q"
    return replace(
        p,
        name=name,
        symbol=geometry.ring.symbol_like(p.symbol, name),
        meaning=_of_log_q(p.meaning),
        text=_of_log_q(p.text),
        latex=p.latex.replace(r"\ell", r"\log q"),
        formula=(_of_log_q(p.formula[0]), p.formula[1].replace(r"\ell", r"\log q")),
        of_mixture=True,
    )


def _of_log_q(words: str) -> str:
    """The reading of an input of the loss, for log q."""
    return words.replace("the loss", "log q").replace("ℓ′", "(log q)′").replace("ℓ", "log q")


def _asking(
    rule: Rule, both: dict[Expr, Expr], probes: tuple[Probe, ...], geometry: Geometry
) -> Rule:
    """The rule with ℓ + log q where the loss stood."""
    made = tuple(replace(a, expr=a.expr.subs(both, simultaneous=True)) for a in rule.assignments)
    asked = tuple(probe_quantity(p, geometry) for p in probes)
    first = next(i for i, q in enumerate(rule.quantities) if q.kind == "input")
    others = tuple(q for q in rule.quantities if q.kind != "input")
    quantities = (*others[:first], *asked, *others[first:])
    return replace(rule, quantities=quantities, assignments=made)
