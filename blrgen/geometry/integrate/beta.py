"""c + a log(x − l) + b log(u − x) on (l, u): e^c (u − l)^(a+b+1) B(a + 1, b + 1)."""

from __future__ import annotations

import sympy as sp

from blrgen.geometry.integrate.gammas import log_beta
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem
from blrgen.geometry.integrate.terms import affine


def integrate(problem: Problem) -> Integral | None:
    """The beta integral on any finite interval."""
    low, high = problem.ends if problem.is_interval else (sp.oo, sp.oo)
    if low.is_infinite or high.is_infinite or not problem.coefficients:
        return None
    powers, value = {low: sp.S.Zero, high: sp.S.Zero}, problem.constant
    for f, c in problem.coefficients.items():
        line = affine(f.args[0], problem.variable) if isinstance(f, sp.log) else None
        if line is None:
            return None
        root = sp.cancel(-line[0] / line[1])
        end = next((e for e in powers if sp.cancel(root - e) == 0), None)
        if end is None:
            return None
        powers[end] += c
        value += c * sp.log(line[1] if end == low else -line[1])
    a, b = (sp.expand(p + 1) for p in powers.values())
    width = sp.expand(high - low)
    value += sp.expand((a + b - 1) * sp.log(width)) + log_beta(a, b)
    # both gammas may be below what a double holds: their quotient by logarithms
    one, other = draw("loggamma", a), draw("loggamma", b, number=1)
    return Integral(
        value,
        "beta integral",
        "∫ (x−l)^(a−1) (u−x)^(b−1) dx over (l, u) is (u−l)^(a+b−1) B(a, b)",
        sampler=low + width / (1 + sp.exp(other - one)),
        conditions=(a, b),
    )
