"""Log-partition and expectations at a point, at mpmath's current precision."""

from __future__ import annotations

from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family

Expr = Any


def log_partition_at(family: Family, args: tuple[Any, ...]) -> Any:
    """A at numeric natural parameters and constants."""
    return mpmath.log(_mass(family, args, sp.S.One))


def mean_at(family: Family, f: Expr, args: tuple[Any, ...]) -> Any:
    """E_q[f] at numeric natural parameters and constants."""
    return _mass(family, args, f) / _mass(family, args, sp.S.One)


def _mass(family: Family, args: tuple[Any, ...], f: Expr) -> Any:
    from blrgen.algebra.ring import ring_of
    from blrgen.geometry.integrate import exponent_of
    from blrgen.geometry.verify import total_mass
    from blrgen.numeric.nodes import arguments

    point = {x: sp.Float(a, mpmath.mp.dps) for x, a in zip(arguments(family), args, strict=True)}
    exponent = exponent_of(family, ring_of(family)).subs(point)
    return total_mass(family, exponent, f.subs(point))
