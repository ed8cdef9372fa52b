"""A rule as functions of its old state: what a step function is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.bessel import RATIOS
from blrgen.algebra.components import Component, has_components, total
from blrgen.core import Quantity, Rule
from blrgen.decide.functions import plain

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


def is_coupled(rule: Rule) -> bool:
    """Whether the rule has sums over the components of a vector, or how many they are."""
    known = {q.symbol for q in rule.quantities}
    return any(
        a.expr.has(total) or any(s in known_sizes(rule) for s in a.expr.free_symbols - known)
        for a in rule.assignments
    )


def known_sizes(rule: Rule) -> dict[Expr, Expr]:
    """The symbol in the size of the rule's vectors → what is added to it there."""
    found = {}
    for q in rule.quantities:
        if isinstance(q.symbol, Component):
            more, size = q.symbol.size.as_coeff_Add()
            if size.is_Symbol:
                found[size] = more
    return found


@dataclass(frozen=True)
class Elements:
    """The rule for element i of its arrays: every elementwise symbol gets an index.

    Sums over components are written out for vectors of `count` components.
    """

    rule: Rule
    count: int = 2

    def is_array(self, q: Quantity) -> bool:
        """Whether it has elements; a rule that keeps numbers only acts on arrays of them."""
        spread = all(x.rank == "scalar" for x in self.rule.of("state"))
        of_each = ("state", "input", "draw", "intermediate")
        return q.rank == "elementwise" or (spread and q.rank == "scalar" and q.kind in of_each)

    def symbol(self, q: Quantity, i: int) -> Expr:
        if not self.is_array(q):
            return q.symbol
        given = {k: v for k, v in q.symbol._assumptions_orig.items() if v is not None}
        return sp.Symbol(f"{q.name}_{i}", **given)

    def at(self, e: Expr, i: int) -> Expr:
        """An expression of the rule, for element i."""
        e = self.written_out(e)
        named = {c: self.symbol(self.rule[c.name], i) for c in e.atoms(Component)}
        return e.xreplace({**{q.symbol: self.symbol(q, i) for q in self.rule.quantities}, **named})

    def written_out(self, e: Expr) -> Expr:
        """An expression with its sums over components term by term, sizes as numbers."""
        if not has_components(e) and e.free_symbols.isdisjoint(known_sizes(self.rule)):
            return e
        if isinstance(e, total):
            return sp.Add(*[self.at(e.args[0], j) for j in range(self.count)])
        if e in known_sizes(self.rule):
            return self.count - known_sizes(self.rule)[e]
        if not e.args:
            return e
        e = e.func(*[self.written_out(a) for a in e.args])
        return e.plain() if isinstance(e, RATIOS) else e

    def moved(self, e: Expr, i: int, j: int) -> Expr:
        """An expression for element i as that for element j."""
        return e.xreplace({self.symbol(q, i): self.symbol(q, j) for q in self.rule.quantities})

    @property
    def domains(self) -> dict[Any, str]:
        return {
            self.symbol(q, i): q.domain
            for q in self.rule.quantities if q.domain for i in range(self.count)
        }  # fmt: skip
