"""One component: log q is its own log density, and the rule must be that of its family.

What the rule asks of log q has then a closed form: its derivatives at the mean, or in
expectation 0 for the slope and the Fisher information of θ, taken negative, for the curvature.
Put into the rule of a component it must give the family's own rule under the same
approximations, line by line.
"""

from __future__ import annotations

from typing import Any

from blrgen.approximate.responsibility import own_density
from blrgen.approximate.tools.road import derive
from blrgen.core import Derivation
from blrgen.decide.equal import equal
from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict
from blrgen.errors import UserError
from blrgen.rule.expand import domains_of, expanded
from blrgen.rule.mixture.candidate import SUM, WEIGHT

Expr = Any


def one_component(d: Derivation) -> tuple[str, Verdict]:
    """(what the family's rule is called, a proof a state)."""
    name = d.geometry.family.name
    kept = tuple(a for a in d.approximations if a[0] != "fixed-weights")
    try:
        alone = derive(d.geometry.family.path or name, kept)
    except UserError as refusal:
        why = f"of {name} alone these approximations are not derived: {refusal.what}"
        claim = "with K = 1 it is the rule of the family"
        return name, Verdict((("all", Proof(NOT_COMPARED, claim, why)),))
    known = {p.symbol: own_density(d, p) for p in d.known if p.order}
    ours, theirs = expanded(d.rule), expanded(alone.rule)
    domains = {**domains_of(d.rule), **domains_of(alone.rule)}
    proofs = []
    for state, value in theirs.items():
        claim = f"with K = 1, {state}_next is that of {name}"
        mine = ours[state].subs(known, simultaneous=True)
        proofs.append((state, equal(_tidied(d, mine), _tidied(d, value), domains, claim=claim)))
    if f"{WEIGHT}" in ours:
        proofs.append((WEIGHT, _weight_of_one(d, ours[WEIGHT], domains)))
    return _called(alone) or name, Verdict(tuple(proofs))


def _tidied(d: Derivation, x: Expr) -> Expr:
    return d.geometry.ring.tidy(x) if not x.is_commutative else x


def _weight_of_one(d: Derivation, value: Expr, domains: dict[Expr, Any]) -> Proof:
    """The only weight, 1, stays 1: the sum over all components is the one term."""
    total, term = d.rule[SUM].symbol, d.rule.expr("w")
    alone = value.subs(total, term)
    return equal(alone, alone / alone, domains, claim="with K = 1, the weight is 1")


def _called(alone: Derivation) -> str:
    """The recipe that the family's rule is, if it is one."""
    from blrgen.identify import identify

    matches = identify(alone).matches
    return matches[0].name if matches else ""
