"""A determinant and a linear exponent over SPD: the Wishart integral.

    ∫_{SPD(d)} |X|^a e^{−tr BX} dX = Γ_d(a + (d+1)/2) |B|^{−(a + (d+1)/2)},   a > −1, B ∈ SPD

dX is the volume in the d(d+1)/2 entries on and above the diagonal.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient
from blrgen.algebra.multigamma import multigammaln
from blrgen.algebra.ranks import logdet, rows_of, trace
from blrgen.errors import InternalError
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """The integral over X itself."""
    x = problem.variable
    if problem.support.kind != "spd" or x.is_commutative:
        return None
    parts = split(problem.exponent, x)
    if parts is None:
        return None
    c, a, linear = parts
    try:
        rate = problem.ring.tidy(-gradient(linear, x))
    except InternalError:
        return None
    if rate == 0 or rate.has(x):
        return None
    d = rows_of(x)
    shape = sp.expand(a + (d + 1) / 2)
    value = c + multigammaln(shape, d) - sp.expand(shape * logdet(rate, d))
    return Integral(
        value,
        "Wishart integral",
        f"the exponent is c + a log|{x}| − tr(B{x}), and ∫|{x}|^a exp(−tr B{x}) over SPD is "
        "Γ_d(a + (d+1)/2) |B|^(−a − (d+1)/2)",
        sampler=draw("wishart", shape, rate),
        conditions=(sp.expand(a + 1), rate),
    )


def split(exponent: Expr, x: Expr) -> tuple[Expr, Expr, Expr] | None:
    """(c, a, linear) with exponent = c + a log|X| + linear, where the rest has X in traces."""
    free, power, linear = sp.S.Zero, sp.S.Zero, sp.S.Zero
    volume = logdet(x, rows_of(x))
    for term in sp.Add.make_args(sp.expand(exponent)):
        if not term.has(x):
            free += term
        elif term.has(volume):
            factor = term / volume
            if factor.has(x):
                return None
            power += factor
        else:
            holders = [f for f in term.atoms(sp.Function) if f.has(x)]
            if not all(isinstance(f, trace) for f in holders):
                return None
            linear += term
    return free, power, linear
