"""Clipping the preconditioned step, coordinate by coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    import sympy as sp

    from blrgen.approximate.tools.rewrite import (
        add_hyper,
        chosen,
        elementwise,
        final,
        location,
        refuse,
        rewrite,
        say,
        shown,
        step_size,
        symbol,
    )  # fmt: skip
    from blrgen.rule.quantities import hyper

    elementwise(d, "clip", "clipping acts on coordinates, and a full precision mixes them")
    m = location(d, "clip")
    if made(d, "clip"):
        raise refuse("clip", "the step is already clipped")
    if f"{m}_prev" in d.rule:
        raise refuse(
            "clip",
            "the last step still stands beside the gradient, and only the gradient is clipped",
            "--slow-scale first, after which an average carries both",
        )
    name = "c" if not chosen(d, "c") else "clip"
    d = add_hyper(d) if name in d.rule else d
    from blrgen.approximate.tools.rewrite import with_quantities

    bound = hyper(name, default="oo", meaning="largest step of a coordinate, before the step size")
    from dataclasses import replace

    d = with_quantities(d, (replace(bound, domain="(0, oo]"),))
    x, rate, c = symbol(d, m), step_size(d, "clip"), symbol(d, name)
    direction = (x - final(d.rule, m)) / rate
    clipped = sp.Max(-c, sp.Min(c, direction))
    d = rewrite(d, {f"{m}_next": x - rate * clipped})
    return say(
        d, "clip", option, "Clipping", f"no coordinate moves by more than {shown(rate)}·{shown(c)}"
    )


APPROXIMATION = Approximation(
    flag="clip",
    summary="the preconditioned gradient is clipped to ±c, coordinate by coordinate",
    rewrites="x → max(−c, min(c, x)) in m⁺ = m − α x",
    requires="an elementwise mean step",
    citation="Shen et al. (2024)",
    apply=apply,
)
