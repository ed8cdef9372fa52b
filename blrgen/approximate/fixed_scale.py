"""A scale that is not learned: held at one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.rewrite import (
        drop_unused, next_symbol, put, say, scale, substitute, symbol, with_quantities,
    )  # fmt: skip

    name = scale(d, "fixed-scale")
    kept = tuple(a for a in d.rule.assignments if a.name != f"{name}_next")
    one = {symbol(d, name): 1, next_symbol(d, name): 1}
    d = substitute(d.with_(rule=replace(d.rule, assignments=kept)), one)
    d = with_quantities(d, drop=(name,))
    d = put(drop_unused(d), scale=None, scale_fixed=True)
    return say(d, "fixed-scale", option, "Fixed scale", f"{name} is held at 1 and not learned")


APPROXIMATION = Approximation(
    flag="fixed-scale",
    summary="the scale of the candidate is held at one and not learned",
    rewrites="s, s⁺ → 1 and the update of s → nothing",
    requires="a candidate with a scale",
    citation="Khan & Rue (2023), section 1.3.1",
    apply=apply,
)
