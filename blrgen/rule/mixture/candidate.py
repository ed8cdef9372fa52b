"""A mixture of members of one family: the rule of each component and of the weights.

The blocks of the joint over (z, θ) are the components (`component`) and the law of z, which
has the natural parameters log(π_k/π_K).  Of z given its law the rule is that of a variable
with finitely many values: η_k⁺ = η_k − ρ(f_k − f_K) with f_k = E_{q_k}[ℓ + log q], so that

    π_k⁺ = π_k exp(−ρ f_k) / Σ_j π_j exp(−ρ f_j).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.core import (
    Assignment,
    Derivation,
    Equation,
    Family,
    Loss,
    Mixture,
    Probe,
    Quantity,
    Rule,
    Step,
)
from blrgen.errors import UserError
from blrgen.rule.lines import sym
from blrgen.rule.mixture.component import component_derivation
from blrgen.rule.mixture.lines import apart_lines, weight_lines
from blrgen.rule.quantities import probe_quantity
from blrgen.rule.rule import RHO

Expr = Any
OF = "k"
WEIGHT, VALUE, SUM = "pi", "l", "w_sum"


def mixture_derivation(family: Family, loss: Loss) -> Derivation:
    """The exact rule of Σ_k π_k q_k, q_k a member of the family."""
    if family.factors:
        raise UserError(
            f"a mixture of products is not derived: {family.name}",
            why="a component is one family", how="a family file of the whole density",
        )  # fmt: skip
    d = component_derivation(family, OF, _candidate())
    _check_names(d)
    own = (value_of_loss(family), value_of_loss(family, of_mixture=True))
    d = d.with_(
        loss=loss,
        rule=_with_weights(d, own),
        facts=replace(d.facts, probes=(*d.facts.probes, *own)),
        family=replace(
            family, name=f"mixture:{family.name}", title=f"Mixture of components: {family.title}"
        ),
        mixture=Mixture(family),
    )
    return d.with_(steps=(*d.steps, *apart_lines(d), *weight_lines(d)))


def value_of_loss(family: Family, *, of_mixture: bool = False) -> Probe:
    """E_{q_k}[ℓ], and E_{q_k}[log q]."""
    name = f"{VALUE}_q" if of_mixture else VALUE
    return Probe(name, sp.Symbol(name, real=True), 0, "q", of_mixture=of_mixture, component=OF)


def _candidate() -> Step:
    """q(θ) = Σ_k π_k q_k(θ)."""
    return Step(
        "The mixture",
        (Equation(sym("q_theta"), sym("sum_q")),),
        "q_k has the law of the family above with parameters of its own, z says which: "
        "P(z = k) = π_k",
        "sample",
        notation=(
            ("q_theta", "q(θ)", r"q(\theta)"),
            ("sum_q", "Σₖ πₖ qₖ(θ)", r"\textstyle\sum_k \pi_k q_k(\theta)"),
        ),
    )


def _check_names(d: Derivation) -> None:
    """The names that the weights bring in must be free."""
    taken = {WEIGHT, VALUE, SUM, "w", f"{VALUE}_q"} & {q.name for q in d.rule.quantities}
    if taken:
        names = ", ".join(sorted(taken))
        raise UserError(
            f"the name {names} is taken", where=d.family.path,
            why=f"in a mixture {names} is of the weights", how="another name in the family file",
        )  # fmt: skip


def _with_weights(d: Derivation, own: tuple[Probe, Probe]) -> Rule:
    """The rule of a component with that of its weight behind it."""
    pi, w, total = (sp.Symbol(x, positive=True) for x in (WEIGHT, "w", SUM))
    value, known = (p.symbol for p in own)
    quantities = list(d.rule.quantities)
    states = sum(q.kind == "state" for q in quantities)
    quantities.insert(
        states,
        Quantity(WEIGHT, "state", "scalar", pi, "weight of the component", domain="(0, 1)"),
    )
    asked = [probe_quantity(p, d.geometry) for p in own]
    letters = [
        Quantity("w", "intermediate", "scalar", w, "weight before it is divided by the sum"),
        Quantity(SUM, "known", "scalar", total, "sum of w over all components",
                 text="Σₖ wₖ", latex=r"\textstyle\sum_k w_k"),
    ]  # fmt: skip
    # the loss's own inputs first, as `step` takes them, then what is known of log q
    inputs = [q for q in (*quantities, *asked) if q.kind == "input"]
    names = {p.name for p in (*d.facts.probes, *own) if p.of_mixture}
    inputs.sort(key=lambda q: q.name in names)
    others = [q for q in quantities if q.kind != "input"]
    first = next(i for i, q in enumerate(quantities) if q.kind == "input")
    quantities = [*others[:first], *inputs, *others[first:], *letters]
    made = (
        *d.rule.assignments,
        Assignment("w", pi * sp.exp(-RHO * (value + known))),
        Assignment(f"{WEIGHT}_next", w / total),
    )
    return replace(d.rule, quantities=tuple(quantities), assignments=made)
