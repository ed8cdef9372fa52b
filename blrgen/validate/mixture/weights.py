"""The weights' rule is that of a variable with finitely many values.

The law of z is categorical.  Its own rule, for the loss f_k − log π_k at z = k, is a step in
log(π_k/π_K); with f_k = ℓ_k + log q_k it must move the log ratios as the weights' rule does.
"""

from __future__ import annotations

import sympy as sp

from blrgen.core import Derivation
from blrgen.decide.equal import equal
from blrgen.decide.proof import Proof
from blrgen.rule.expand import domains_of
from blrgen.rule.mixture.candidate import WEIGHT


def weights_proof(d: Derivation) -> Proof:
    """log(π_k⁺/π_K⁺) = log(π_k/π_K) − ρ(f_k − f_K) for a pair of components."""
    w, pi = d.rule.expr("w"), d.rule[WEIGHT].symbol
    named = [p for p in d.facts.probes if p.name in ("l", "l_q")]
    first, last = (_of(w, pi, [p.symbol for p in named], mark) for mark in ("k", "K"))
    ratio = sp.expand_log(sp.log(first[0]) - sp.log(last[0]), force=True)
    rate = _rate(d)
    wanted = sp.log(first[1]) - sp.log(last[1]) - rate * (sum(first[2]) - sum(last[2]))
    claim = "log(π_k/π_K) moves by −ρ(𝔼_k − 𝔼_K)[ℓ + log q], the rule of z"
    return equal(sp.expand(ratio), sp.expand(wanted), domains_of(d.rule), claim=claim)


def _rate(d: Derivation) -> sp.Expr:
    return d.rule["rho"].symbol if "rho" in d.rule else sp.S.One


def _of(
    w: sp.Expr, pi: sp.Expr, values: list[sp.Expr], mark: str
) -> tuple[sp.Expr, sp.Expr, list[sp.Expr]]:
    """w of one component, its weight, and what is asked there."""
    weight = sp.Symbol(f"pi_{mark}", positive=True)
    own = [sp.Symbol(f"{x.name}_{mark}", real=True) for x in values]
    return w.subs({pi: weight, **dict(zip(values, own, strict=True))}), weight, own
