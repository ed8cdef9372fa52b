"""A step size measured in units of the first scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.start import with_start
    from blrgen.approximate.tools.rewrite import (
        chosen,
        final,
        location,
        refuse,
        rewrite,
        say,
        scale,
        symbol,
    )  # fmt: skip
    from blrgen.text.expression import unicode

    name, m = scale(d, "rescale"), location(d, "rescale")
    if made(d, "rescale"):
        raise refuse("rescale", "the step size is already rescaled")
    if not chosen(d, "alpha"):
        raise refuse("rescale", "the mean has no step size of its own", "--separate-rates first")
    if d.rule[name].init == 0:
        raise refuse("rescale", f"{name} starts at zero, which is no unit to measure in")
    d = d if chosen(d, "h0") else with_start(d, name)
    start = symbol(d, "h0")
    unit = start + symbol(d, "delta") if made(d, "prior", "apart") else start
    alpha = symbol(d, "alpha")
    d = rewrite(d, {f"{m}_next": final(d.rule, m).subs(alpha, alpha * unit)})
    return say(d, "rescale", option, "Rescaled step size",
               f"α is measured in units of the first scale, α → α({unicode(unit)})")  # fmt: skip


APPROXIMATION = Approximation(
    flag="rescale",
    summary="the step size is measured in units of the first scale",
    rewrites="α → α(h₀ + δ), with h₀ the first value of the scale",
    requires="a scale, and a step size α of the mean",
    citation="Shen et al. (2024)",
    apply=apply,
)
