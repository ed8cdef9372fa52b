"""Straight-through: the slope of the relaxation, over the Fisher information, is taken as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import (
        carrier_of,
        drop_unused,
        mean_step,
        refuse,
        rewrite,
        say,
        step_size,
    )  # fmt: skip

    if not made(d, "relax"):
        raise refuse("straight-through", "the variable is not relaxed", "--relax first")
    step = mean_step(d, "straight-through")
    carrier, rate = carrier_of(d, "straight-through"), step_size(d, "straight-through")
    if step.factor == rate:
        raise refuse("straight-through", "the slope is already one")
    rest = step.expr + step.factor * carrier
    rest = d.geometry.ring.tidy(rest) if not rest.has(carrier) else rest.subs(carrier, 0)
    d = rewrite(d, {f"{step.name}_next": rest - rate * carrier})
    used = {s.name for a in d.rule.assignments for s in a.expr.free_symbols}
    kept = tuple(a for a in d.rule.assignments if a.name != "mu" or "mu" in used)
    d = drop_unused(d.with_(rule=replace(d.rule, assignments=kept)))
    return say(d, "straight-through", option, "Straight-through", APPROXIMATION.summary)


APPROXIMATION = Approximation(
    flag="straight-through",
    summary="the relaxation's slope over the Fisher information, (1−θ²)/(τ(1−μ²)), is taken as 1",
    rewrites="(1−θ²)/(τ(1−μ²)) → 1",
    requires="a relaxed variable",
    citation="Bengio, Léonard & Courville (2013); Khan & Rue (2023)",
    apply=apply,
)
