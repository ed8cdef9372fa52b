"""The square root of the scale in the mean step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    import sympy as sp

    from blrgen.approximate.rewrite import (
        add_hyper, elementwise, mean_step, next_symbol, put, refuse, rewrite, say, scale, symbol,
        with_quantities,
    )  # fmt: skip

    name = scale(d, "square-root")
    elementwise(d, "square-root", "the root of a full matrix is not taken coordinate by coordinate")
    if d.fact("square_root"):
        raise refuse("square-root", "the root of the scale is already taken")
    step = mean_step(d, "square-root")
    s_next = next_symbol(d, name)
    if not step.divisor.has(s_next):
        raise refuse(
            "square-root",
            f"the new {name} does not divide the mean step",
            "give --square-root before what changes the divisor",
        )
    root = {s_next: sp.sqrt(s_next)}
    new = step.expr.subs(root)
    note = f"{name} → √{name} where it divides the mean step"
    if step.divisor.subs(s_next, 0) == 0:
        d = add_hyper(d, "c")
        c = symbol(d, "c")
        new = step.expr.subs({s_next: sp.sqrt(s_next) + c})
        note += f", and a small c keeps the divisor from zero, so {name} may start at 0"
    d = rewrite(d, {f"{step.name}_next": new})
    d = with_quantities(d, (replace(d.rule[name], init=sp.S.Zero),))
    return say(put(d, square_root=True), "square-root", option, "Square root of the scale", note)


APPROXIMATION = Approximation(
    flag="square-root",
    summary="the mean step is divided by the root of the scale (and a small constant)",
    rewrites="1/s⁺ → 1/(√s⁺ + c) in the mean step; an additive prior already there takes c's place",
    requires="a diagonal scale that divides the mean step",
    citation="Tieleman & Hinton (2012); Khan & Rue (2023), section 4.2",
    apply=apply,
)
