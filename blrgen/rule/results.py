"""What an assignment makes: its symbol, and which rank it has."""

from __future__ import annotations

from typing import Any

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import scalar
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
    """A symbol of that name, by components where the state has them."""
    base = name.removesuffix("_next")
    like = rule[base].symbol if base in rule else None
    return Component(name, like.size) if isinstance(like, Component) else scalar(name)
