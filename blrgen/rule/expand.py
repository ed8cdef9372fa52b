"""A rule as functions of the old state: earlier assignments substituted into later ones."""

from __future__ import annotations

from typing import Any

from blrgen.core import Rule

Expr = Any


def expanded(rule: Rule) -> dict[str, Expr]:
    """NAME → its next value, in old states, inputs, draws and hyperparameters only."""
    known: dict[str, Expr] = {}
    for a in rule.assignments:
        table = {x: known[x.name] for x in a.expr.free_symbols if x.name in known}
        known[a.name] = a.expr.xreplace(table) if table else a.expr
    states = [q.name for q in rule.of("state")]
    return {n: known[f"{n}_next"] for n in states if f"{n}_next" in known}


def domains_of(rule: Rule) -> dict[Expr, str]:
    """Symbol → domain text, for every quantity of a rule."""
    return {q.symbol: q.domain for q in rule.quantities if q.domain}
