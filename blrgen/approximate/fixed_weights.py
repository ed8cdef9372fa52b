"""The weights of a mixture are held as they are given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import drop_unused, refuse, say
    from blrgen.rule.mixture.candidate import SUM, WEIGHT

    if d.mixture is None:
        raise refuse("fixed-weights", f"{d.family.name} is no mixture",
                     "a candidate such as mixture:gaussian-full")  # fmt: skip
    mixture = d.mixture
    if not mixture.learned:
        raise refuse("fixed-weights", "the weights are held already")
    kept = tuple(a for a in d.rule.assignments if a.name not in ("w", f"{WEIGHT}_next"))
    d = d.with_(rule=replace(d.rule, assignments=kept))
    values = {p.name for p in d.facts.probes if p.order == 0 and p.symbol.is_commutative}
    gone = values - {s.name for a in kept for s in a.expr.free_symbols}
    d = drop_unused(d)
    probes = tuple(p for p in d.facts.probes if p.name not in gone)
    quantities = tuple(q for q in d.rule.quantities if q.name not in (*gone, "w", SUM))
    d = d.with_(
        rule=replace(d.rule, quantities=quantities),
        facts=replace(d.facts, probes=probes),
        mixture=replace(mixture, learned=False),
    )
    return say(d, "fixed-weights", option, "Fixed weights", APPROXIMATION.summary)


APPROXIMATION = Approximation(
    flag="fixed-weights",
    summary="the weights of the components are given and not learned",
    rewrites="the update of π → nothing",
    requires="a mixture whose weights are learned",
    citation="Khan & Rue (2023)",
    apply=apply,
)
