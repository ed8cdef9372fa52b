"""Sizes that a rule computes with and that none of its arrays tells are chosen by the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.core import Assignment, Parameter, Quantity

Expr = Any


def with_sizes(
    quantities: Sequence[Quantity],
    assignments: Iterable[Assignment],
    posterior: Iterable[tuple[str, Expr]],
    parameters: Iterable[Parameter],
) -> list[Quantity]:
    """The quantities without matrix constants that nothing reads, and with the sizes to choose."""
    read = set().union(*(a.expr.free_symbols for a in assignments))
    read |= set().union(*(e.free_symbols for _, e in posterior))
    kept = [
        q for q in quantities
        if q.kind != "hyper" or q.symbol.is_commutative or q.symbol in read
    ]  # fmt: skip
    told = set().union(*(_sizes_of(q.symbol) for q in kept))
    names = {q.name for q in kept}
    ends = [b for p in parameters if p.name in names for b in (p.domain.lower, p.domain.upper)]
    values = [x for q in kept for x in (q.init, q.default)]
    for x in (*ends, *values):
        read |= sp.sympify(x).free_symbols if x is not None else set()
    sizes = {s for s in read if s.is_commutative and s.is_integer and s.is_positive}
    free = sorted((s for s in sizes - told if s.name not in names), key=lambda s: s.name)
    made = [
        Quantity(s.name, "hyper", "scalar", s, "size of the variable", domain="[1, oo)")
        for s in free
    ]
    return [*kept, *made]


def elementwise_if_scalars(quantities: list[Quantity]) -> list[Quantity]:
    """A rule of numbers alone acts on every entry of an array of them."""
    if any(q.rank != "scalar" for q in quantities):
        return quantities
    arrays = ("state", "input", "draw", "intermediate")
    return [replace(q, rank="elementwise") if q.kind in arrays else q for q in quantities]


def _sizes_of(x: Expr) -> set[Expr]:
    shape = map(sp.sympify, getattr(x, "shape", ()))
    return {s for size in shape for s in size.free_symbols}
