"""A rule as functions of its old state: what a step function is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.core import Quantity, Rule
from blrgen.prove.functions import plain

Expr = Any


def expanded(rule: Rule) -> dict[str, Expr]:
    """Every assigned name as an expression in states, inputs, draws, data and hyperparameters."""
    known: dict[str, Expr] = {}
    for a in rule.assignments:
        e = plain(sp.sympify(a.expr))
        earlier = {s: known[s.name] for s in e.free_symbols if s.name in known}
        known[a.name] = e.xreplace(earlier) if earlier else e
    return known


def next_states(rule: Rule) -> dict[str, Expr]:
    """NAME → its next value; a state without an assignment stays."""
    known = expanded(rule)
    return {q.name: known.get(f"{q.name}_next", q.symbol) for q in rule.of("state")}


def domains(rule: Rule) -> dict[Any, str]:
    """Symbol → domain text, for every quantity."""
    return {q.symbol: q.domain for q in rule.quantities if q.domain}


def is_matrix(rule: Rule) -> bool:
    """Whether the rule computes with vectors and matrices."""
    return any(q.rank in ("vector", "symmetric", "matrix") for q in rule.quantities)


@dataclass(frozen=True)
class Elements:
    """The rule for element i of its arrays: every elementwise symbol gets an index."""

    rule: Rule
    count: int = 2

    def symbol(self, q: Quantity, i: int) -> Expr:
        if q.rank != "elementwise":
            return q.symbol
        given = {k: v for k, v in q.symbol._assumptions_orig.items() if v is not None}
        return sp.Symbol(f"{q.name}_{i}", **given)

    def at(self, e: Expr, i: int) -> Expr:
        """An expression of the rule, for element i."""
        return e.xreplace({q.symbol: self.symbol(q, i) for q in self.rule.quantities})

    def moved(self, e: Expr, i: int, j: int) -> Expr:
        """An expression for element i as that for element j."""
        return e.xreplace({self.symbol(q, i): self.symbol(q, j) for q in self.rule.quantities})

    @property
    def domains(self) -> dict[Any, str]:
        return {
            self.symbol(q, i): q.domain
            for q in self.rule.quantities if q.domain for i in range(self.count)
        }  # fmt: skip
