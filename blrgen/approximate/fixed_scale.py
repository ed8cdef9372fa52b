"""A scale that is not learned: held at one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.momentum import carry
    from blrgen.approximate.tools.rewrite import (
        drop_unused,
        next_symbol,
        refuse,
        say,
        scale,
        substitute,
        symbol,
        with_quantities,
    )  # fmt: skip

    name = scale(d, "fixed-scale")
    held = [x for x in (name, f"{name}_prev") if x in d.rule]
    if {q.name for q in d.rule.of("state")} <= {*held}:
        raise refuse("fixed-scale", f"{name} is all that the rule learns")
    gone = [f"{x}_next" for x in held]
    kept = tuple(a for a in d.rule.assignments if a.name not in gone)
    one = {x: 1 for n in held for x in (symbol(d, n), next_symbol(d, n))}
    d = substitute(d.with_(rule=replace(d.rule, assignments=kept)), one)
    d = with_quantities(d, drop=tuple(held))
    d = drop_unused(d)
    d = d.with_(facts=replace(d.facts, scale=None))
    d = say(d, "fixed-scale", option, "Fixed scale", f"{name} is held at 1 and not learned")
    return carry(d) if len(held) == 2 else d


APPROXIMATION = Approximation(
    flag="fixed-scale",
    summary="the scale of the candidate is held at one and not learned",
    rewrites="s, s⁺ → 1 and the update of s → nothing",
    requires="a candidate with a scale",
    citation="Khan & Rue (2023)",
    apply=apply,
)
