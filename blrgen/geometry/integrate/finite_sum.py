"""A finite support: the sum over its points."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.geometry.integrate.primitive import one_of
from blrgen.geometry.integrate.problem import Integral, Problem

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """log Σ_k exp(a_k); of two points in the stable form ½(a+b) + log 2cosh ½(a−b)."""
    if problem.support.kind != "finite":
        return None
    points = problem.support.points
    levels = [sp.expand(problem.exponent.subs(problem.variable, p)) for p in points]
    because = f"the sum over the points {', '.join(map(str, points))}"
    sampler = one_of(levels, [sp.sympify(p) for p in points])
    if len(levels) == 2:
        return Integral(*_two(levels[0], levels[1], because), sampler=sampler)
    value = sp.log(sp.Add(*[sp.exp(a) for a in levels]))
    return Integral(value, "enumeration", because, sampler=sampler)


def _two(a: Expr, b: Expr, because: str) -> tuple[Expr, str, str]:
    if a.is_number or b.is_number:
        least, other = (a, b) if a.is_number else (b, a)
        value = least + sp.log(1 + sp.exp(sp.expand(other - least)))
        return value, "enumeration", because
    half = sp.expand((b - a) / 2)
    if half.could_extract_minus_sign():
        half = -half
    value = sp.expand((a + b) / 2) + sp.log(2 * sp.cosh(half))
    return value, "enumeration", because + "; eᵃ + eᵇ = 2 exp(½(a+b)) cosh(½(a−b))"
