"""Separate step sizes for mean and scale."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import (
        add_hyper,
        chosen,
        drop_unused,
        final,
        hold_corrections,
        location,
        refuse,
        rewrite,
        say,
        scale,
        symbol,
    )  # fmt: skip

    m, s = location(d, "separate-rates"), scale(d, "separate-rates")
    if "rho" not in d.rule:
        raise refuse("separate-rates", "the two step sizes are already separate, or fixed")
    rho = symbol(d, "rho")
    averaged = chosen(d, "beta1")
    d = add_hyper(d, "alpha", "beta2" if averaged else "beta")
    last = d.facts.momentum
    rate = 1 - symbol(d, "beta2") if averaged else symbol(d, "beta")
    if last and last.shares_rate:  # momentum has made the shared rate ρ(1 − β₁)
        rate = rate / (1 - symbol(d, "beta1"))
    step = final(d.rule, s).subs(rho, rate)
    # what corrects an average knows the scale's rate, and stands in the mean step
    factors = tuple((n, x.subs(rho, rate)) for n, x in d.facts.corrections)
    mean, held = hold_corrections(d, final(d.rule, m))
    mean = mean.subs(rho, symbol(d, "alpha"))
    d = rewrite(
        d,
        {
            f"{m}_next": mean.subs({h: x.subs(rho, rate) for h, x in held.items()}),
            f"{s}_next": d.geometry.ring.tidy(step) if not averaged else _reduced(step),
        },
    )
    # in what momentum remembers of the divisor, ρ stands in such factors only
    last = last and last.map(lambda x: x.subs(rho, rate))
    d = d.with_(facts=replace(d.facts, corrections=factors, momentum=last))
    return say(
        drop_unused(d), "separate-rates", option, "Separate step sizes", APPROXIMATION.summary
    )


def _reduced(x: Expr) -> Expr:
    """A sum whose coefficients are fractions in hyperparameters, each in lowest terms."""
    import sympy as sp

    if x.is_commutative:
        return sp.cancel(x)
    parts = [term.args_cnc() for term in sp.Add.make_args(sp.expand(x))]
    return sp.Add(*[sp.Mul(sp.cancel(sp.Mul(*c)), *word) for c, word in parts])


APPROXIMATION = Approximation(
    flag="separate-rates",
    summary="once mean and scale have equations of their own, each gets a step size of its own",
    rewrites="ρ → α in the step of the mean, ρ → β in the step of the scale",
    requires="a mean and a scale that share ρ",
    citation="Khan & Rue (2023)",
    apply=apply,
)
