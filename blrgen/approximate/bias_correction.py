"""Bias correction: a moving average started at zero is divided by the weight it has gathered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import refuse, say

    if "bias-correction" in d.assumptions:
        raise refuse("bias-correction", "averages are corrected already")
    names = averages(d)
    if not names and f"{d.facts.location}_prev" in d.rule:
        d = d.with_(assumptions=(*d.assumptions, "bias-correction"))
        return say(
            d, "bias-correction", option, "Bias correction",
            "from here on, of every moving average started at 0; "
            "with momentum on the scale there is none yet",
        )  # fmt: skip
    if not names:
        raise refuse(
            "bias-correction",
            "no state is a moving average started at zero: x⁺ = βx + (1−β)y with x = 0 at first",
            "--square-root starts the scale at zero, --momentum the gradient average",
        )
    d = d.with_(assumptions=(*d.assumptions, "bias-correction"))
    return correct(d, names)


def averages(d: Derivation) -> tuple[str, ...]:
    """The states that are moving averages started at zero and not yet corrected."""
    done = dict(d.facts.corrections)
    return tuple(
        q.name for q in d.rule.of("state") if q.name not in done and decay_of(d, q.name) is not None
    )


def decay_of(d: Derivation, name: str) -> Expr | None:
    """β of a state with x⁺ = βx + (1−β)y that starts at zero; None when it is not one."""
    import sympy as sp

    from blrgen.approximate.tools.rewrite import final, hyper_symbols

    q = d.rule[name]
    if q.init != 0 or name == d.facts.location:
        return None
    expr = sp.expand(final(d.rule, name))
    if not expr.is_commutative:
        return None
    beta = expr.coeff(q.symbol, 1)
    rest = sp.expand(expr - beta * q.symbol)
    if beta == 0 or rest.has(q.symbol) or not beta.free_symbols <= set(hyper_symbols(d)):
        return None
    weight = sp.cancel(rest / (1 - beta))
    return beta if not weight.has(*beta.free_symbols) else None


def correct(d: Derivation, names: tuple[str, ...]) -> Derivation:
    """x⁺ → x⁺/(1 − βᵗ) wherever another assignment uses it."""
    from blrgen.approximate.tools.rewrite import (
        TIME,
        next_symbol,
        rewrite,
        say,
        shown,
        symbol,
        with_quantities,
    )  # fmt: skip
    from blrgen.rule.quantities import step_counter

    factors = dict(d.facts.corrections)
    for name in names:
        beta = decay_of(d, name)
        if beta is None:
            continue
        x = next_symbol(d, name)
        factors[name] = 1 - beta**TIME
        d = rewrite(
            d,
            {
                a.name: a.expr.subs(x, x / factors[name])
                for a in d.rule.assignments
                if a.name != x.name and a.expr.has(x)
            },
        )
    d = with_quantities(d, (step_counter(),))
    d = d.with_(facts=replace(d.facts, corrections=tuple(factors.items())))
    listed = " and ".join(shown(symbol(d, n)) for n in names if n in factors)
    return say(
        d, "bias-correction", None, "Bias correction",
        f"{listed}: after t steps an average that started at 0 has gathered the weight 1 − βᵗ",
    )  # fmt: skip


def again(d: Derivation) -> Derivation:
    """Once asked for, the correction acts on averages that appear later."""
    if "bias-correction" not in d.assumptions or f"{d.facts.location}_prev" in d.rule:
        return d
    names = averages(d)
    return correct(d, names) if names else d


APPROXIMATION = Approximation(
    flag="bias-correction",
    summary="a moving average that starts at zero is divided by the weight it has gathered, 1 − βᵗ",
    rewrites="x⁺ → x⁺/(1 − βᵗ) where the mean step uses it",
    requires="a state x⁺ = βx + (1−β)y with first value 0",
    citation="Kingma & Ba (2015), section 3",
    apply=apply,
)
