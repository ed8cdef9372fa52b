"""No shrinkage: the entropy's pull (1−ρ)λ is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    import sympy as sp

    from blrgen.approximate.tools.rewrite import (
        drop_unused,
        final,
        location,
        refuse,
        rewrite,
        say,
        symbol,
        with_quantities,
    )  # fmt: skip
    from blrgen.rule.quantities import hyper

    name = location(d, "no-shrinkage")
    if "rho" not in d.rule:
        raise refuse(
            "no-shrinkage", "ρ is no longer in the rule", "put --no-shrinkage before --rho"
        )
    x, rho = symbol(d, name), symbol(d, "rho")
    if d.family.working:
        raise refuse(
            "no-shrinkage",
            f"{name} is no natural parameter: the entropy does not shrink it",
            "a candidate in its natural parameter, such as bernoulli-sign",
        )
    expr = sp.expand(final(d.rule, name))
    if not expr.is_commutative or expr.coeff(x, 1) == 1 or expr.coeff(x, 1).has(x):
        raise refuse("no-shrinkage", f"the step of {name} does not shrink it")
    pull = expr.coeff(x, 1) - 1
    d = with_quantities(d, (hyper("alpha", meaning="step size"),))
    new = sp.expand(final(d.rule, name) - pull * x).subs(rho, symbol(d, "alpha"))
    d = drop_unused(rewrite(d, {f"{name}_next": new}))
    return say(d, "no-shrinkage", option, "No shrinkage",
               "the entropy's pull is left out, (1−ρ)λ → λ; "
               "what is left of ρ is a step size α")  # fmt: skip


APPROXIMATION = Approximation(
    flag="no-shrinkage",
    summary="the entropy's pull is left out: (1−ρ)λ → λ",
    rewrites="(1−ρ)λ → λ, ρ → α",
    requires="a natural parameter that the step shrinks",
    citation="Khan & Rue (2023)",
    apply=apply,
)
