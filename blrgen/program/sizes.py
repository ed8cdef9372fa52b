"""The sizes of a rule's vectors and matrices: names without a quantity of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import lengths_of
from blrgen.core import Rule
from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.program import Variable
from blrgen.program.types import EACH, SCALAR

Expr = Any


@dataclass(frozen=True)
class Count:
    """How many entries an array has, and `more`; `label` is what the rule calls that."""

    array: str
    more: int = 0
    label: str = "d"


def counts(rule: Rule) -> dict[Expr, Count]:
    """The size of the rule's vectors by the length of the array that the caller holds."""
    kept = rule.of("state", "input", "hyper")
    held = [q.symbol for q in kept if isinstance(q.symbol, Component)]
    sizes = {x.size for x in held}
    if len(sizes) > 1:
        raise UserError(
            f"vectors of sizes {' and '.join(sorted(map(str, sizes)))} are not emitted together",
            how="one size for all vectors that the rule keeps or reads",
        )
    return counts_of(held)


def counts_of(vectors: Sequence[Expr]) -> dict[Expr, Count]:
    """The sizes of vectors, d of what has d − 1 entries, as what counts them."""
    found: dict[Expr, Count] = {}
    for x in vectors:
        own = lengths_of(x)
        more, size = own[0].as_coeff_Add() if len(own) == 1 else (0, sp.S.One)
        if size.is_Symbol:
            found.setdefault(size, Count(x.name, -int(more), size.name))
    return found


def sizes_of(rule: Rule) -> tuple[str, ...]:
    """The names that stand for sizes of vectors and matrices and are no quantities."""
    found: set[str] = set()
    for q in rule.quantities:
        found |= {
            s.name for n in getattr(q.symbol, "shape", ()) for s in sp.sympify(n).free_symbols
        }
        found |= {s.name for s in sp.sympify(q.init or 0).free_symbols if _counts(s)}
    for a in rule.assignments:
        found |= {s.name for s in a.expr.free_symbols if _counts(s)}
    return tuple(sorted(found - {q.name for q in rule.quantities} - {"t"}))


def _counts(s: Expr) -> bool:
    return bool(s.is_commutative and s.is_integer and s.is_positive)


def size_variables(rule: Rule, variables: Sequence[Variable]) -> list[Variable]:
    """The sizes that numbers are computed from."""
    held = {x for v in variables if v.kind in ("state", "hyper") for x in v.type.shape}
    used = {s.name for a in rule.assignments for s in a.expr.free_symbols}
    starts = [sp.sympify(x) for q in rule.quantities for x in (q.init, q.default) if x is not None]
    used |= {s.name for x in starts for s in x.free_symbols}
    used |= {x for v in variables for e in (v.lower, v.upper) if e is not None for x in n.names(e)}
    told = held & used - {s.name for s in counts(rule)}
    found = [Variable(x, "size", SCALAR) for x in sizes_of(rule) if x in told]
    if {x for v in variables for x in v.type.shape} - {EACH}:
        return found
    words = "how many components the variable has"  # no array of the rule says it
    free = used - {s.name for s in counts(rule)}
    made = [Variable(x, "hyper", SCALAR, words, domain="[1, oo)") for x in sizes_of(rule)]
    return [*found, *(v for v in made if v.name in free)]
