"""c + a log x + b xᵖ on (0, ∞), b < 0: e^c Γ(k) (−b)^(−k) / |p| with k = (a + 1)/p.

Exponential, gamma, inverse gamma, χ, Rayleigh, Weibull, Maxwell, …: p may be any number or
known constant that is not 0.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.geometry.integrate.gammas import log_gamma
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem, said
from blrgen.geometry.integrate.terms import power_of

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """∫ x^a exp(b xᵖ) dx by u = xᵖ."""
    if not problem.is_interval or problem.ends != (0, sp.oo):
        return None
    x, terms = problem.variable, dict(problem.coefficients)
    a = terms.pop(sp.log(x), sp.S.Zero)
    if len(terms) != 1:
        return None
    ((f, b),) = terms.items()
    p = power_of(f, x)
    side = problem.sign(p) if p is not None else None
    if p is None or not side:
        return None
    shape, rate = sp.cancel((a + 1) / p), sp.expand(-b)
    value = problem.constant + log_gamma(shape) - shape * sp.log(rate) - sp.log(side * p)
    return Integral(
        value,
        "gamma integral",
        f"the exponent is c + a·log({said(x)}) + b·{said(f)}; "
        f"with {problem.letter} = −b·{said(f)} the integral is "
        "Γ(k) (−b)^(−k)/|p|, k = (a+1)/p",
        sampler=_sampler(shape, rate, p),
        conditions=(shape, rate),
    )


def _sampler(shape: Expr, rate: Expr, p: Expr) -> Expr:
    """u^(1/p) of a gamma variate; by its logarithm where a small shape leaves none of it."""
    if p == 1 or (p.is_number and shape.is_number and shape >= 1):
        return (draw("gamma", shape) / rate) ** (1 / p)
    return sp.exp((draw("loggamma", shape) - sp.log(rate)) / p)
