"""A slowly moving scale: successive scales are taken as equal where momentum compares them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import refuse, say, scale

    name = scale(d, "slow-scale")
    if "slow-scale" in d.assumptions:
        raise refuse("slow-scale", "the scale is already taken as slowly moving")
    d = d.with_(assumptions=(*d.assumptions, "slow-scale"))
    if f"{name}_prev" not in d.rule:
        return say(
            d, "slow-scale", option, "Slowly moving scale",
            f"from here on {name}₋ ≈ {name} where momentum compares two scales; "
            "nothing to rewrite yet",
        )  # fmt: skip
    return _drop_previous(d, name, option)


def _drop_previous(d: Derivation, name: str, option: str | None) -> Derivation:
    from blrgen.approximate.momentum import carry
    from blrgen.approximate.square_root import from_zero
    from blrgen.approximate.tools.rewrite import say, substitute, symbol, with_quantities

    kept = tuple(a for a in d.rule.assignments if a.name != f"{name}_prev_next")
    d = substitute(
        d.with_(rule=replace(d.rule, assignments=kept)),
        {symbol(d, f"{name}_prev"): symbol(d, name)},
    )
    d = with_quantities(d, drop=(f"{name}_prev",))
    if made(d, "square-root"):
        d, _ = from_zero(d, name)
    return carry(say(d, "slow-scale", option, "Slowly moving scale", APPROXIMATION.summary))


APPROXIMATION = Approximation(
    flag="slow-scale",
    summary="the scale moves slowly: s₋ ≈ s where momentum compares two scales",
    rewrites="s₋ → s in the momentum term, and the scale's own momentum γ(s − s₋) → 0",
    requires="a scale that is learned",
    citation="Khan & Rue (2023)",
    apply=apply,
)
