"""c + a log x + b log(r + s x) on (0, ∞): the beta integral of the second kind."""

from __future__ import annotations

import sympy as sp

from blrgen.geometry.integrate.gammas import log_beta
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem
from blrgen.geometry.integrate.terms import affine


def integrate(problem: Problem) -> Integral | None:
    """∫ x^a (r + s x)^b dx = r^(a+b+1) s^(−a−1) B(a + 1, −a − b − 1)."""
    if not problem.is_interval or problem.ends != (0, sp.oo):
        return None
    x, terms = problem.variable, dict(problem.coefficients)
    a = terms.pop(sp.log(x), sp.S.Zero)
    if len(terms) != 1:
        return None
    ((f, b),) = terms.items()
    line = affine(f.args[0], x) if isinstance(f, sp.log) else None
    if line is None or problem.sign(line[0]) != 1 or problem.sign(line[1]) != 1:
        return None
    r, s = line
    one, other = sp.expand(a + 1), sp.expand(-a - b - 1)
    value = problem.constant - other * sp.log(r) - one * sp.log(s) + log_beta(one, other)
    return Integral(
        value,
        "beta integral",
        "∫ x^(a−1) (1+x)^(−a−b) dx over (0, ∞) is B(a, b)",
        sampler=r / s * sp.exp(draw("loggamma", one) - draw("loggamma", other, number=1)),
        conditions=(one, other),
    )
