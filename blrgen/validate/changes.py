"""Exact changes of state, proved: the old recurrence and the new one describe one algorithm.

With u = φ(old states) the new rule is the old one when, for all values, φ of the next old
states is the new next u, and every other state moves alike.
"""

from __future__ import annotations

from blrgen.algebra.components import put
from blrgen.core import Change, Derivation
from blrgen.decide.equal import equal
from blrgen.decide.proof import Proof
from blrgen.rule.expand import domains_of, expanded


def prove_changes(d: Derivation) -> tuple[Proof, ...]:
    """One proof for each equation of each recorded change of state."""
    proofs: list[Proof] = []
    for change in d.facts.changes:
        proofs += _prove(change)
    return tuple(proofs)


def _prove(change: Change) -> list[Proof]:
    import sympy as sp

    from blrgen.text.expression import ascii

    t = sp.Symbol("t", integer=True, positive=True)
    name, state_map, old, new = change.state, change.value, change.before, change.after
    before, after = expanded(old), expanded(new)
    domains = {**domains_of(old), **domains_of(new)}
    here = {new[name].symbol: state_map}
    forward = {old[k].symbol: v for k, v in before.items()} | {t: t + 1}
    shown = f"{name} = {ascii(state_map)}"
    proofs = [
        equal(
            put(after[name], here),
            put(state_map, forward),
            domains,
            claim=f"{name}_next is the next value of {shown}",
        )
    ]
    for state, value in after.items():
        if state != name and state in before:
            proofs.append(
                equal(
                    put(value, here),
                    before[state],
                    domains,
                    claim=f"under {shown}, {state}_next is the same",
                )
            )
    return proofs
