"""A fixed step size; ρ = 1 jumps to the fixed point of the current expectations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    import sympy as sp

    from blrgen.approximate.tools.rewrite import drop_unused, refuse, say, shown, substitute, symbol
    from blrgen.errors import UserError
    from blrgen.read.expression import parse

    value = parse(str(option), {}, where="--rho")
    if not (value.is_Rational and 0 < value <= 1):
        raise UserError(
            f"--rho {option} is not a step size of the rule",
            why="ρ is the weight of the new information: 0 < ρ ≤ 1",
            how="--rho 1, or a number between 0 and 1",
        )
    if "rho" not in d.rule:
        raise refuse("rho", "ρ has been replaced by other step sizes", "put --rho before them")
    d = drop_unused(substitute(d, {symbol(d, "rho"): sp.Rational(value)}))
    return say(d, "rho", option, "Learning rate", f"ρ = {shown(value)}" + (
        ": nothing of the old parameters is kept" if value == 1 else ""))  # fmt: skip


APPROXIMATION = Approximation(
    flag="rho",
    summary="the step size of the rule is fixed; ρ = 1 keeps nothing of the old natural parameters",
    rewrites="ρ → the value",
    requires="ρ in the rule, 0 < value ≤ 1",
    citation="Khan & Rue (2023)",
    apply=apply,
    options="value",
)
