"""Displacements: a symbol for one, and how far a function moves along it."""

from __future__ import annotations

from typing import Any

from blrgen.algebra.calculus import differential, increment
from blrgen.algebra.components import Component, has_components, move
from blrgen.algebra.partial import partial
from blrgen.algebra.ranks import like
from blrgen.algebra.words import normal

Expr = Any


def direction_symbol(x: Expr, name: str) -> Expr:
    """A symbol of the same rank as x, for a displacement of it."""
    if isinstance(x, Component):
        return Component(name, x.size)
    return like(x, name)


def directional(f: Expr, x: Expr, direction: Expr) -> Expr:
    """D f[direction] when only x moves."""
    if x.is_commutative:
        return move(f, x, direction) if has_components(f) else partial(f, x) * direction
    dx = increment(x)
    return normal(differential(f, x, dx)).xreplace({dx: direction})
