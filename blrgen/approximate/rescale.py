"""A step size measured in units of the first scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from dataclasses import replace

    from blrgen.approximate.rewrite import (
        add_hyper, final, location, put, refuse, rewrite, say, scale, symbol, with_quantities,
    )  # fmt: skip

    name, m = scale(d, "rescale"), location(d, "rescale")
    if d.fact("rescaled"):
        raise refuse("rescale", "the step size is already rescaled")
    if "alpha" not in d.rule:
        raise refuse("rescale", "the mean has no step size of its own", "--separate-rates first")
    d = add_hyper(d, "h0")
    start = symbol(d, "h0")
    d = with_quantities(d, (replace(d.rule[name], init=start),
                            replace(d.rule["h0"], meaning=f"first value of {name}")))  # fmt: skip
    unit = start + symbol(d, "delta") if d.fact("split") else start
    alpha = symbol(d, "alpha")
    d = rewrite(d, {f"{m}_next": final(d.rule, m).subs(alpha, alpha * unit)})
    return say(put(d, rescaled=True), "rescale", option, "Rescaled step size",
               f"α is measured in units of the first scale, α → α({unit})")  # fmt: skip


APPROXIMATION = Approximation(
    flag="rescale",
    summary="the step size is measured in units of the first scale",
    rewrites="α → α(h₀ + δ), with h₀ the first value of the scale",
    requires="a scale, and a step size α of the mean",
    citation="Shen et al. (2024)",
    apply=apply,
)
