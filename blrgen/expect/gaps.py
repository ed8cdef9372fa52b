"""Coordinates in which a moved domain is a cone: G = S − X for a parameter X in −SPD + S.

The metric of a joint family has more zeros in them than in its natural parameters, so that
F ∇_μ f = ∇_λ f is solved in them where no working parameters are declared.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient as slope_of
from blrgen.algebra.ranks import like
from blrgen.core import Family, Parameter
from blrgen.geometry.geometry import Geometry

Expr = Any


def gap_of(p: Parameter) -> Expr | None:
    """What the domain says must be positive definite, where that is not ±X itself."""
    if p.domain.kind not in ("spd", "-spd") or p.domain.lower is None:
        return None
    apart = p.symbol - p.domain.lower
    return apart if p.domain.kind == "spd" else -p.symbol + p.domain.lower


def gaps_of(family: Family) -> list[Expr]:
    """All of them."""
    found = [gap_of(p) for p in (family.working or family.natural)]
    return [g for g in found if g is not None]


def solved_in_gaps(geometry: Geometry, slopes: list[Expr]) -> tuple[Expr, ...] | None:
    """∇_μ f from ∇_λ f by way of the gaps; None where no domain is moved."""
    family, ring = geometry.family, geometry.ring
    there: dict[Expr, Expr] = {}
    back: dict[Expr, Expr] = {}
    for p in family.natural:
        gap = gap_of(p)
        if gap is not None:
            letter = like(p.symbol, f"gap_{p.name}")
            sign = 1 if p.domain.kind == "spd" else -1
            there[p.symbol] = p.domain.lower + sign * letter
            back[letter] = gap
    if not there:
        return None
    coordinates = tuple(
        next(iter(there[x].free_symbols & back.keys()), x) if x in there else x
        for x in geometry.natural
    )
    carried = sp.Add(*[
        ring.inner(r, ring.tidy(there.get(x, x)))
        for r, x in zip(slopes, geometry.natural, strict=True)
    ])  # fmt: skip
    moved = [ring.tidy(slope_of(carried, x)) for x in coordinates]
    means = tuple(ring.tidy(m.subs(there)) for m in geometry.mean)
    found = geometry.solve_dual(moved, means, coordinates)
    return tuple(ring.tidy(x.subs(back)) for x in found)
