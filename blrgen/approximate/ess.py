"""Effective sample size: the loss as N times a mean loss, the scale counted per example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from dataclasses import replace

    from blrgen.approximate.rewrite import (
        add_hyper, final, location, next_symbol, probes, put, refuse, rewrite, say, set_probes,
        substitute, symbol,
    )  # fmt: skip

    if "N" in d.rule:
        raise refuse("ess", "the effective sample size is already in the rule")
    if any(p.order == 0 or p.at == "score" for p in probes(d)):
        raise refuse("ess", "this rule does not probe gradients of the loss")
    location(d, "ess")
    scale_name = d.fact("scale")
    d = add_hyper(d, "N")
    n = symbol(d, "N")
    scaled = [p.symbol for p in probes(d)]
    scaled += [symbol(d, x) for x in ("delta",) if x in d.rule]
    names = [x for x in (scale_name, "u") if x and x in d.rule]
    for name in names:
        scaled += [symbol(d, name), next_symbol(d, name)]
    scaled += [q.symbol for q in d.rule.of("intermediate") if q.name.endswith("_hat")]
    d = substitute(d, {x: n * x for x in scaled})
    fixed = [f"{x}_next" for x in names]
    fixed += [q.name for q in d.rule.of("intermediate") if q.name.endswith("_hat")]
    d = rewrite(d, {x: d.geometry.ring.tidy(d.rule.expr(x) / n) for x in fixed if x})
    m = location(d, "ess")
    d = rewrite(d, {f"{m}_next": final(d.rule, m)})
    d = set_probes(
        d,
        lambda p: replace(p, meaning=p.meaning) if p.meaning else p,
    )
    return say(
        put(d, ess=True), "ess", option, "Effective sample size",
        "ℓ is N times the mean loss ℓ̄ that the probes now mean"
        + (f", and the scale N times the {scale_name} that is kept" if scale_name else ""),
    )  # fmt: skip


APPROXIMATION = Approximation(
    flag="ess",
    summary="the loss is written as N times a mean loss, and the scale as N times a scale per example",
    rewrites="∇ℓ → N∇ℓ̄, ∇²ℓ → N∇²ℓ̄, s → N s, δ → N δ",
    requires="gradients of the loss in the rule",
    citation="Khan et al. (2018); Shen et al. (2024)",
    apply=apply,
)
