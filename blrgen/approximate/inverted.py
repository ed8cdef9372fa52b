"""Inverted dropout: the weights kept are the means πm, and what is drawn is divided by π.

With w = πm, the mean of the candidate, the loss is probed at z∘w/π.  An exact change of state;
the step size is that of w, α → α/π.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation, Equation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.rename import _renamed
    from blrgen.approximate.tools.rewrite import (
        final,
        location,
        refuse,
        rewrite,
        say,
        step_size,
        substitute,
        symbol,
    )  # fmt: skip
    from blrgen.core import Change, Equation

    if d.facts.free is None or "z" not in d.rule:
        raise refuse("inverted", "no mask is drawn in this rule", "--spike --delta --stochastic")
    if "w" in d.rule:
        raise refuse("inverted", "the weights are scaled already")
    m, pi = location(d, "inverted"), symbol(d, "pi")
    rate = step_size(d, "inverted")
    d = substitute(d, {rate: rate / pi})
    before, x = d.rule, symbol(d, m)
    d = _renamed(d, m, "w")
    w = symbol(d, "w")
    d = substitute(d, {w: w / pi})
    d = rewrite(d, {"w_next": (pi * final(d.rule, "w")).expand()})
    said = replace(d.rule["w"], meaning="mean")
    quantities = tuple(said if q.name == "w" else q for q in d.rule.quantities)
    d = d.with_(rule=replace(d.rule, quantities=quantities))
    change = Change("w", pi * x, before, d.rule)
    d = d.with_(facts=replace(d.facts, changes=(*d.facts.changes, change)))
    return say(
        d, "inverted", option, "The mean of the candidate as the state",
        "an exact change of state; the step size is that of w: α/π in the place of α",
        equations=(Equation(w, pi * x), *_equations(d)),
    )  # fmt: skip


def _equations(d: Derivation) -> tuple[Equation, ...]:
    from blrgen.rule.lines import equations_of

    return equations_of(d.rule, d.geometry)


APPROXIMATION = Approximation(
    flag="inverted",
    summary="the weights kept are w = πm, and what is drawn is z∘w/π",
    rewrites="m → w/π, α → α/π: an exact change of state",
    requires="a mask that is drawn",
    citation="Srivastava et al. (2014)",
    apply=apply,
)
