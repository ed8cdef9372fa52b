"""A deviation of public code: the mean parameter of the step before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.momentum import _remember
    from blrgen.approximate.tools.rewrite import location, refuse, rewrite, say, symbol

    if "mu" not in d.rule:
        raise refuse("stale-mean", "no mean parameter scales the step", "--relax introduces one")
    name = location(d, "stale-mean")
    if f"{name}_prev" in d.rule:
        raise refuse("stale-mean", "the rule already remembers the step before")
    d, previous = _remember(d, name)
    d = rewrite(d, {"mu": d.rule.expr("mu").subs(symbol(d, name), previous)})
    return say(d, "stale-mean", option, "Stale mean parameter",
               "a deviation: the rule has the mean of this step, "
               "public code that of the step before")  # fmt: skip


APPROXIMATION = Approximation(
    flag="stale-mean",
    summary="a deviation: the step is scaled with the mean parameter of the step before",
    rewrites="μ(λ) → μ(λ₋)",
    requires="a mean parameter in the step",
    citation="the published BayesBiNN code",
    apply=apply,
)
