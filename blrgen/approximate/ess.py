"""Effective sample size: the loss as N times a mean loss, the scale counted per example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import (
        add_hyper,
        chosen,
        final,
        location,
        next_symbol,
        refuse,
        rewrite,
        say,
        set_probes,
        shown,
        substitute,
        symbol,
    )  # fmt: skip

    if chosen(d, "N"):
        raise refuse("ess", "the effective sample size is already in the rule")
    if any(p.order == 0 or p.at == "score" for p in d.facts.probes):
        raise refuse("ess", "this rule does not probe gradients of the loss")
    m, scale_name = location(d, "ess"), d.facts.scale
    d = add_hyper(d, "N")
    n = symbol(d, "N")
    probed = [p.symbol for p in d.facts.probes]
    probed += [symbol(d, x) for x in ("delta", "u") if x in d.rule and (x == "u" or chosen(d, x))]
    probed += [next_symbol(d, "u")] if "u" in d.rule else []
    probed += [q.symbol for q in d.rule.of("intermediate") if q.name.endswith("_hat")]
    scaled = {x: n * x for x in probed}
    kept = [x for x in (str(scale_name), f"{scale_name}_prev") if x in d.rule]
    unit = _unit(d, scaled, str(scale_name), n) if kept else n
    scaled |= {x: unit * x for k in kept for x in (symbol(d, k), next_symbol(d, k))}
    d = substitute(d, scaled)
    units = {f"{k}_next": unit for k in kept} | {"u_next": n} | {str(x): n for x in probed}
    divided = {
        a.name: d.geometry.ring.tidy(a.expr / units[a.name])
        for a in d.rule.assignments if a.name in units
    }  # fmt: skip
    d = rewrite(d, {**divided, f"{m}_next": final(d.rule, m)})
    d = set_probes(d, lambda p: p)
    text = "ℓ is N times the mean loss ℓ̄ that the probes now mean"
    for k in [k for k in (scale_name, "delta") if k and (k == scale_name or chosen(d, k))]:
        d = per_example(d, k)
    if kept:
        s = symbol(d, kept[0])
        text += f", and {shown(s)} → {shown(unit * s)}, so that N stands in front of the precision"
    return say(d, "ess", option, "Effective sample size", text)


def _unit(d: Derivation, scaled: dict[Expr, Expr], name: str, n: Expr) -> Expr:
    """c such that the precision at c·state is N times the precision at the state."""
    from blrgen.algebra.components import put
    from blrgen.approximate.tools.rewrite import refuse, symbol

    precision, s = dict(d.rule.posterior)["precision"], symbol(d, name)
    for unit in (n, 1 / n, n ** -_half()):
        moved = put(precision, {**scaled, s: unit * s})
        if d.geometry.ring.tidy(moved - n * precision) == 0:
            return unit
    raise refuse("ess", f"N times the precision {precision} is no multiple of {name}")


def _half() -> Expr:
    import sympy as sp

    return sp.S.Half


def per_example(d: Derivation, name: str) -> Derivation:
    """The same quantity, now counted per example."""
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import with_quantities

    q, words = d.rule[name], ", per example"
    return with_quantities(d, (replace(q, meaning=q.meaning.removesuffix(words) + words),))


APPROXIMATION = Approximation(
    flag="ess",
    summary="the loss is N times a mean loss, and the precision N times one per example",
    rewrites="∇ℓ → N∇ℓ̄, ∇²ℓ → N∇²ℓ̄, s → N s, δ → N δ",
    requires="gradients of the loss in the rule",
    citation="Khan et al. (2018); Shen et al. (2024)",
    apply=apply,
)
