"""c + a cos kx + b sin kx over a whole turn: e^c 2π I₀(√(a² + b²))."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.bessel import log_kernel
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem
from blrgen.geometry.integrate.terms import affine

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """∫ exp(a cos kx + b sin kx) dx over an interval of length 2π."""
    low, high = problem.ends if problem.is_interval else (sp.oo, sp.oo)
    if low.is_infinite or sp.expand(high - low) != 2 * sp.pi or not problem.coefficients:
        return None
    found = _waves(problem)
    if found is None:
        return None
    k, a, b = found
    square = sp.expand(a**2 + b**2)
    size, angle = sp.sqrt(square), sp.atan2(b, a)
    if a == 0 or b == 0:
        size = a + b
    single = _one_wave(problem)
    if single is not None:
        size, angle = single
        square = sp.expand(size**2)
    if problem.sign(size) != 1:
        size, angle = sp.sqrt(sp.expand(a**2 + b**2)), sp.atan2(b, a)
    turn = (angle + draw("vonmises", size)) / k - low
    if k != 1:  # k equal arcs
        turn += 2 * sp.pi / k * sp.floor(k * draw("uniform"))
    turn -= 2 * sp.pi * sp.floor(turn / (2 * sp.pi))
    return Integral(
        problem.constant + sp.log(2 * sp.pi) + log_kernel(0, square),
        "circular integral",
        "∫ exp(a cos x + b sin x) dx over a turn is 2π I₀(κ), κ² = a² + b²; "
        "Iₙ(κ)/κⁿ is whole in κ², and 1/(2ⁿ n!) at 0",
        sampler=low + turn,
    )


def _one_wave(problem: Problem) -> tuple[Expr, Expr] | None:
    """(a, m) where the exponent is a cos(x − m)."""
    if len(problem.coefficients) != 1:
        return None
    ((f, c),) = problem.coefficients.items()
    line = affine(f.args[0], problem.variable)
    if line is None or line[1] not in (1, -1):
        return None
    if isinstance(f, sp.cos):
        return c, -line[0] * line[1]
    return c * line[1], sp.pi / 2 - line[0] * line[1]


def _waves(problem: Problem) -> tuple[Expr, Expr, Expr] | None:
    """(k, a, b) with the exponent a cos kx + b sin kx, phases opened."""
    waves: dict[Expr, list[Expr]] = {}
    for f, c in problem.coefficients.items():
        line = affine(f.args[0], problem.variable) if isinstance(f, sp.cos | sp.sin) else None
        if line is None or line[1].is_Integer is not True:
            return None
        phase, k = line if line[1] > 0 else (-line[0], -line[1])
        sign = 1 if line[1] > 0 else -1
        even, odd = waves.setdefault(k, [sp.S.Zero, sp.S.Zero])
        if isinstance(f, sp.cos):
            waves[k] = [even + c * sp.cos(phase), odd - c * sp.sin(phase)]
        else:
            waves[k] = [even + sign * c * sp.sin(phase), odd + sign * c * sp.cos(phase)]
    if len(waves) != 1:
        return None
    ((k, (a, b)),) = waves.items()
    return k, sp.expand(a), sp.expand(b)
