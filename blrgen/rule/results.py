"""What an assignment makes: its symbol, and which rank it has."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import like, scalar
from blrgen.core import Rule

Expr = Any


def rank_of_result(rule: Rule, name: str) -> str:
    """The rank of an assigned name: that of the state it is the next value of, or its own."""
    base = name.removesuffix("_next")
    for known in (name, base):
        if known in rule:
            return rule[known].rank
    return ""


def is_matrix_result(rule: Rule, name: str) -> bool:
    """Whether a number that is assigned to the name stands for that multiple of the identity."""
    return rank_of_result(rule, name) in ("symmetric", "matrix")


def symbol_of_result(rule: Rule, name: str) -> Expr:
    """A symbol of that name: as that of the quantity, or of the state it is the next value of."""
    known = next((x for x in (name, name.removesuffix("_next")) if x in rule), "")
    return named(rule[known].symbol, name) if known else scalar(name)


def named(x: Expr, name: str) -> Expr:
    """A symbol of that name of the same kind."""
    if not x.is_commutative:
        return like(x, name)
    known = {k: v for k, v in x._assumptions_orig.items() if v is not None}
    size = getattr(x, "size", None)
    return sp.Symbol(name, **known) if size is None else Component(name, size, **known)
