"""What a rule asks under a component, as expectations of values alone.

The identities that moved derivatives onto the loss are read backwards: with f held,

    E_q[∇f] = E_q[f·(−∇log q)],       E_q[∇²f] = E_q[f·(∇log q ∇log qᵀ + ∇²log q)],
    E_q[p f′] = E_q[f·(−p′ − p (log q)′)],   E_q[f·(T − μ)] as it is,

so that ℓ may have corners and jumps: only its values are looked at.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient
from blrgen.core import Probe
from blrgen.errors import UserError
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import exponent_of

Expr = Any


def weight_of(p: Probe, geometry: Geometry) -> Expr | None:
    """w with E_q[f·w] what is asked; None where it is asked of a difference."""
    x = geometry.family.variable
    slope = gradient(geometry.to_working(exponent_of(geometry.family, geometry.ring)), x)
    if p.at == "score":
        return p.weight - geometry.to_working(
            geometry.mean[geometry.family.statistics.index(p.weight)]
        )
    if p.at == "weighted":
        return None if p.order == 0 else -gradient(p.weight, x) - p.weight * slope
    if p.at == "q" and p.order == 1:
        return -slope
    if p.at == "q" and p.order == 2:
        return slope**2 + gradient(slope, x)
    if p.at == "q":
        return sp.S.One
    raise UserError(
        f"{p.name} is not integrated here ({p.at})",
        why="fit knows derivatives, differences and scores under a component",
    )
