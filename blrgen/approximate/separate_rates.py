"""Separate step sizes for mean and scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.rewrite import (
        add_hyper, drop_unused, final, location, refuse, rewrite, say, scale, symbol,
    )  # fmt: skip

    m, s = location(d, "separate-rates"), scale(d, "separate-rates")
    if "rho" not in d.rule:
        raise refuse("separate-rates", "the two step sizes are already separate, or fixed")
    rho = symbol(d, "rho")
    averaged = "beta1" in d.rule
    d = add_hyper(d, "alpha", "beta2" if averaged else "beta")
    rate = 1 - symbol(d, "beta2") if averaged else symbol(d, "beta")
    d = rewrite(
        d,
        {
            f"{m}_next": final(d.rule, m).subs(rho, symbol(d, "alpha")),
            f"{s}_next": final(d.rule, s).subs(rho, rate),
        },
    )
    return say(drop_unused(d), "separate-rates", option, "Separate step sizes", APPROXIMATION.summary)


APPROXIMATION = Approximation(
    flag="separate-rates",
    summary="once mean and scale have equations of their own, each gets a step size of its own",
    rewrites="ρ → α in the step of the mean, ρ → β in the step of the scale",
    requires="a mean and a scale that share ρ",
    citation="Khan & Rue (2023), section 4.2",
    apply=apply,
)
