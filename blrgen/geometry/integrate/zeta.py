"""Powers of whole numbers: Σ_{k ≥ m} (k + r)^a = ζ(−a, m + r), Riemann's and Hurwitz's zeta."""

from __future__ import annotations

import sympy as sp

from blrgen.geometry.integrate.problem import Integral, Problem
from blrgen.geometry.integrate.terms import affine


def integrate(problem: Problem) -> Integral | None:
    """log of the zeta function."""
    support = problem.support
    endless = support.kind == "integers" and support.upper == sp.oo and support.lower != -sp.oo
    if not endless or len(problem.coefficients) != 1:
        return None
    ((f, a),) = problem.coefficients.items()
    line = affine(f.args[0], problem.variable) if isinstance(f, sp.log) else None
    if line is None:
        return None
    start = sp.cancel(support.lower + line[0] / line[1])
    power = sp.expand(-a)
    return Integral(
        problem.constant - sp.expand(power * sp.log(line[1])) + sp.log(sp.zeta(power, start)),
        "summation",
        "Σ (k + r)^(−s) is the zeta function ζ(s, r)",
        conditions=(sp.expand(power - 1), start),
    )
