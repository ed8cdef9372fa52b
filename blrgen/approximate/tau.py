"""A fixed temperature, or its limit at zero: tanh(x/τ) → sign(x)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    import sympy as sp

    from blrgen.approximate.tools.rewrite import (
        chosen,
        drop_unused,
        refuse,
        rewrite,
        say,
        shown,
        substitute,
        symbol,
    )
    from blrgen.errors import UserError
    from blrgen.read.expression import parse

    value = parse(str(option), {}, where="--tau")
    if not (value.is_Rational and value >= 0):
        raise UserError(f"--tau {option} is not a temperature", how="--tau 0, or a positive number")
    if not chosen(d, "tau"):
        raise refuse("tau", "there is no temperature in the rule", "--relax introduces one")
    tau = symbol(d, "tau")
    if value > 0:
        return say(
            drop_unused(substitute(d, {tau: value})),
            "tau",
            option,
            "Temperature",
            f"τ = {shown(value)}",
        )
    cooled = {
        a.name: a.expr.replace(
            lambda e: isinstance(e, sp.tanh) and e.has(tau),
            lambda e: sp.sign(sp.cancel(e.args[0] * tau)),
        )
        for a in d.rule.assignments
    }
    if any(x.has(tau) for x in cooled.values()):
        raise refuse(
            "tau 0",
            "1/τ is still in the step, which has no limit",
            "--straight-through first, which takes the slope of the relaxation as 1",
        )
    return say(drop_unused(rewrite(d, cooled)), "tau", option, "Zero temperature",
               "tanh(x/τ) → sign(x) as τ → 0")  # fmt: skip


APPROXIMATION = Approximation(
    flag="tau",
    summary="the temperature of the relaxation is fixed; at 0 the relaxed variable is a sign again",
    rewrites="τ → the value; tanh(x/τ) → sign(x) at 0",
    requires="a relaxed variable; at 0, no 1/τ left in the step",
    citation="Khan & Rue (2023)",
    apply=apply,
    options="value",
)
