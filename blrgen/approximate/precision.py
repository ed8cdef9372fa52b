"""Which scale divides the mean step: the new one (the rule's) or the old one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import (
        final,
        location,
        next_symbol,
        refuse,
        rewrite,
        say,
        scale,
        symbol,
    )  # fmt: skip

    name, m = scale(d, "precision"), location(d, "precision")
    old, new = symbol(d, name), next_symbol(d, name)
    source, target = (new, old) if option == "old" else (old, new)
    expr = final(d.rule, m)
    if not expr.has(source):
        raise refuse(f"precision {option}", f"the {option} {name} already divides the mean step")
    d = rewrite(d, {f"{m}_next": expr.subs(source, target)})
    because = (
        f"a deviation: the rule in natural coordinates divides by the new {name}"
        if option == "old"
        else f"the new {name} divides the mean step, as in natural coordinates"
    )
    return say(d, "precision", option, f"The {option} scale in the mean step", because)


APPROXIMATION = Approximation(
    flag="precision",
    summary="which scale divides the mean step; the rule in natural coordinates gives the new one",
    rewrites="s⁺ ↔ s in the mean step",
    requires="a scale in the mean step",
    citation="Khan & Rue (2023)",
    apply=apply,
    options=("new", "old"),
)
