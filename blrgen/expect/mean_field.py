"""What a factor of a product is told by a concrete loss: E_{q∖k}[ℓ] as a function of x_k.

ℓ = Σ c Π_j f_j(x_j), so that E_{q∖k}[ℓ] = Σ c (Π_{j≠k} E_j[f_j]) f_k: each factor's expectations
by its own moments.  Where f_k is in the span of its statistics this is conjugacy, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.span import canonical
from blrgen.expect.moments import expected_value, span
from blrgen.geometry.geometry import Geometry

Expr = Any
_TERMS = 200  # of a loss multiplied out


def factor_losses(factors: Sequence[Geometry], loss: Expr) -> tuple[Expr | None, ...]:
    """E_{q∖k}[ℓ] for every factor, in the others' working parameters; None where not found."""
    terms = _terms(factors, loss)
    if terms is None:
        return tuple(None for _ in factors)
    known: dict[tuple[int, Expr], Expr | None] = {}
    found: list[Expr | None] = []
    for k, _ in enumerate(factors):
        total: Expr | None = sp.S.Zero
        for c, parts in terms:
            if parts[k] == 1:
                continue  # no gradient in this factor
            term = c * parts[k]
            for j, f in enumerate(parts):
                if j == k or f == 1:
                    continue
                if (j, f) not in known:
                    known[j, f] = _mean_of(f, factors[j])
                mean = known[j, f]
                term = None if mean is None or term is None else mean * term
            total = None if total is None or term is None else total + term
        found.append(total)
    return tuple(found)


def _terms(factors: Sequence[Geometry], loss: Expr) -> list[tuple[Expr, list[Expr]]] | None:
    """(c, [f_1, f_2, …]) of every term; None where a factor of one mixes variables."""
    own = [set(g.family.variables) for g in factors]
    scalars = [x for vs in own for x in vs if x.is_commutative]
    opened = canonical(loss, scalars) if scalars else sp.expand(loss)
    terms = sp.Add.make_args(sp.expand(opened, log=False, power_exp=False))
    if len(terms) > _TERMS:
        return None
    found = []
    for term in terms:
        c, parts = sp.S.One, [sp.S.One for _ in factors]
        for f in sp.Mul.make_args(term):
            of = [k for k, vs in enumerate(own) if f.has(*vs)]
            if len(of) > 1 or not f.is_commutative:
                return None
            if of:
                parts[of[0]] *= f
            else:
                c *= f
        found.append((c, parts))
    return found


def _mean_of(f: Expr, geometry: Geometry) -> Expr | None:
    """E[f] under one factor, in its working parameters."""
    family, ring = geometry.family, geometry.ring
    if family.elementwise:
        value = expected_value(f, geometry)
        return None if value is None else geometry.to_working(value)
    c = span(f, family)
    if c is None:
        return None
    inside = sp.Add(*[ring.inner(a, t) for a, t in zip(c, family.statistics, strict=True)])
    rest = ring.tidy(f - inside)
    if rest.has(*family.variables):
        return None
    mean = sp.Add(*[ring.inner(a, m) for a, m in zip(c, geometry.mean, strict=True)])
    return geometry.to_working(ring.tidy(rest + mean))
