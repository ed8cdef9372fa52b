"""One component: log q is its own log density, and the rule must be that of its family.

What the rule asks of log q has then a closed form: its derivatives at the mean, or in
expectation 0 for the slope and the Fisher information of θ, taken negative, for the curvature.
Put into the rule of a component it must give the family's own rule under the same
approximations, line by line.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient
from blrgen.approximate.responsibility import own_density
from blrgen.approximate.tools.road import derive
from blrgen.core import Derivation, Probe
from blrgen.decide.equal import equal
from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict
from blrgen.errors import UserError
from blrgen.expect.moments import expected_value
from blrgen.geometry.integrate import exponent_of
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
    known = {p.symbol: own_value(d, p) for p in d.known if not p.name.startswith("l_")}
    if lacking := [p.name for p in d.known if known.get(p.symbol, 0) is None]:
        claim = f"with K = 1 it is the rule of {name}"
        why = f"no closed form was found for {', '.join(lacking)}, which one component has of log q"
        return name, Verdict((("all", Proof(NOT_COMPARED, claim, why)),))
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


def own_value(d: Derivation, p: Probe) -> Expr | None:
    """What one component has for what is asked of log q; None where no closed form is found."""
    if p.at == "m":
        return own_density(d, p)
    g, x = d.geometry, d.family.variable
    exponent = exponent_of(g.family, g.ring)
    if p.at == "q":
        return own_density(d, p) if "mean" in dict(d.candidate) else None
    if p.at == "score":
        return _score(d, p)
    if p.at != "weighted" or not g.ring.elementwise:
        return None
    moved = exponent.subs(x, x + 1) - exponent if p.order == 0 else gradient(exponent, x)
    found = expected_value(sp.expand(p.weight * moved), g)
    return None if found is None else g.to_working(found)


def _score(d: Derivation, p: Probe) -> Expr | None:
    """E[log q·(T − μ)] = Cov(T, log q) = −F∇_μ𝓗, row by row."""
    g = d.geometry
    if not g.ring.elementwise:
        return None
    try:
        rows, slope = g.fisher, g.entropy_gradient
    except UserError:
        return None
    row = rows[g.family.statistics.index(p.weight)]
    found = -sum(f * h for f, h in zip(row, slope, strict=True))
    return g.to_working(found)


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
