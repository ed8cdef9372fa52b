"""The square root of the scale in the mean step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    import sympy as sp

    from blrgen.algebra.components import put
    from blrgen.approximate.bias_correction import again
    from blrgen.approximate.tools.rewrite import (
        add_hyper,
        elementwise,
        mean_step,
        next_symbol,
        refuse,
        rewrite,
        say,
        scale,
        shown,
        symbol,
    )  # fmt: skip

    name = scale(d, "square-root")
    elementwise(d, "square-root", "the root of a full matrix is not taken coordinate by coordinate")
    if made(d, "square-root"):
        raise refuse("square-root", "the root of the scale is already taken")
    d = _not_negative(d, name)
    step = mean_step(d, "square-root")
    s_next = next_symbol(d, name)
    if not step.divisor.has(s_next):
        raise refuse(
            "square-root",
            f"the new {name} does not divide the mean step",
            "give --square-root before what changes the divisor",
        )
    sign = shown(symbol(d, name))
    note = f"{sign} → √{sign} where it divides the mean step"
    small: Expr = sp.S.Zero
    if step.divisor.subs(s_next, 0) == 0:
        d = add_hyper(d, "c")
        small = symbol(d, "c")
        note += ", and a small c keeps the divisor from zero"
    held = [s_next, symbol(d, name)] + [symbol(d, p) for p in (f"{name}_prev",) if p in d.rule]
    root = {x: sp.sqrt(x) + small for x in held}
    d = rewrite(d, {f"{step.name}_next": put(step.expr, root)})
    last = d.facts.momentum and d.facts.momentum.map(lambda x: put(x, root))
    d = d.with_(facts=replace(d.facts, momentum=last))
    d, zero = from_zero(d, name)
    note += f"; {sign} is an average and may start at 0" if zero else ""
    return again(say(d, "square-root", option, "Square root of the scale", note))


def _not_negative(d: Derivation, name: str) -> Derivation:
    """What a root is taken of is not negative, also where it was known to be real only."""
    import sympy as sp

    from blrgen.approximate.tools.rewrite import next_symbol, substitute, symbol, with_quantities

    held = [x for x in (name, f"{name}_prev") if x in d.rule]
    if symbol(d, name).is_nonnegative:
        return d
    known = {x: sp.Symbol(x.name, positive=True) for n in held
             for x in (symbol(d, n), next_symbol(d, n))}  # fmt: skip
    own = tuple(replace(d.rule[n], symbol=known[symbol(d, n)]) for n in held)
    return with_quantities(substitute(d, known), own)


def from_zero(d: Derivation, name: str) -> tuple[Derivation, bool]:
    """An average x⁺ = βx + (1−β)y can start at 0 once the divisor stays positive there."""
    import sympy as sp

    from blrgen.approximate.bias_correction import decay_of
    from blrgen.approximate.tools.rewrite import with_quantities

    if not sp.sympify(d.rule[name].init).is_number:
        return d, False  # its first value has been made a choice
    q = replace(d.rule[name], init=sp.S.Zero, domain="[0, oo)")
    started = with_quantities(d, (q,))
    return (d, False) if decay_of(started, name) is None else (started, True)


APPROXIMATION = Approximation(
    flag="square-root",
    summary="the mean step is divided by the root of the scale (and a small constant)",
    rewrites="1/s⁺ → 1/(√s⁺ + c) in the mean step; an additive prior already there takes c's place",
    requires="a diagonal scale that divides the mean step",
    citation="Tieleman & Hinton (2012); Khan & Rue (2023)",
    apply=apply,
)
