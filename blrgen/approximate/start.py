"""The first value of the scale as a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import chosen, refuse, say, scale

    name = scale(d, "start")
    if chosen(d, "h0"):
        raise refuse("start", f"the first value of {name} is a choice already")
    if d.rule[name].init == 0:
        raise refuse("start", f"{name} is an average that starts at zero")
    return say(with_start(d, name), "start", option, "First value of the scale",
               f"{name} starts at h₀, to be chosen", equations=())  # fmt: skip


def with_start(d: Derivation, name: str) -> Derivation:
    """The first value of the scale becomes the hyperparameter h₀."""
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import add_hyper, symbol, with_quantities

    d = add_hyper(d, "h0")
    first = replace(d.rule["h0"], meaning=f"first value of {name}")
    return with_quantities(d, (replace(d.rule[name], init=symbol(d, "h0")), first))


APPROXIMATION = Approximation(
    flag="start",
    summary="the first value of the scale is a choice, h₀",
    rewrites="the scale's first value 1 → h₀",
    requires="a scale that does not start at zero",
    citation="Shen et al. (2024)",
    apply=apply,
)
