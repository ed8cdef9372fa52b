"""A quadratic exponent c + bᵀθ − ½θᵀPθ on R^d: c + ½bᵀP⁻¹b − ½log|P| + (d/2)log 2π."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient, jacobian
from blrgen.algebra.ring import Ring
from blrgen.core import Support
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """The Gaussian integral, in one dimension and in any."""
    if not _covers_the_line(problem.support):
        return None
    quadratic = quadratic_form(problem.exponent, problem.variable, problem.ring)
    return _gaussian_integral(quadratic, problem) if quadratic else None


def _covers_the_line(s: Support) -> bool:
    return s.kind == "vector" or (s.kind == "interval" and s.lower == -sp.oo and s.upper == sp.oo)


def _logdet(precision: Expr, ring: Ring) -> Expr:
    found = ring.logdet(precision)
    return sp.expand_log(found) if ring.elementwise and precision.is_Pow else found


def quadratic_form(exponent: Expr, theta: Expr, ring: Ring) -> tuple[Expr, Expr, Expr] | None:
    """(c, b, P) with exponent = c + ⟨b, θ⟩ − ½⟨θ, Pθ⟩, or None when it is not of that form."""
    if not ring.elementwise and not _polynomial_words(exponent, theta):
        return None
    slope = ring.tidy(gradient(exponent, theta))
    precision = ring.tidy(-jacobian(slope, theta))
    if precision == 0 or precision.has(theta):
        return None
    at_zero = {theta: sp.S.Zero}
    c = exponent.subs(theta, 0) if ring.elementwise else _drop(exponent, theta)
    b = slope.subs(at_zero) if ring.elementwise else _drop(slope, theta)
    return c, b, precision


def _polynomial_words(x: Expr, theta: Expr) -> bool:
    """Whether θ stands in x only inside traces of words (not in an inverse or a function)."""
    from blrgen.algebra.ranks import trace

    holders = [a for a in x.atoms(sp.Function) if a.has(theta) and not a.is_commutative]
    return all(h.args[0] == theta for h in holders) and not any(
        p.has(theta) and not isinstance(p, trace) for p in x.atoms(sp.Pow)
    )


def _drop(x: Expr, theta: Expr) -> Expr:
    """The part of a sum that is free of θ."""
    return sp.Add(*[a for a in sp.Add.make_args(x) if not a.has(theta)])


def quadratic_integral(quadratic: tuple[Expr, Expr, Expr], variable: Expr, ring: Ring) -> Expr:
    """log ∫ exp(c + bᵀθ − ½θᵀPθ)."""
    c, b, precision = quadratic
    return (
        c
        + ring.inner(b, precision**-1 * b) / 2
        - _logdet(precision, ring) / 2
        + ring.dim_of(variable) * sp.log(2 * sp.pi) / 2
    )


def _gaussian_integral(quadratic: tuple[Expr, Expr, Expr], problem: Problem) -> Integral:
    (_, b, precision), ring = quadratic, problem.ring
    return Integral(
        quadratic_integral(quadratic, problem.variable, ring),
        "gaussian integral",
        "the exponent is c + bᵀθ − ½θᵀPθ, and ∫ exp of it is exp(c + ½bᵀP⁻¹b) (2π)^(d/2) |P|^(−½)",
        quadratic,
        sampler=_sampler(b, precision, problem),
        conditions=(precision,) if ring.elementwise else (),
    )


def _sampler(b: Expr, precision: Expr, problem: Problem) -> Expr:
    if problem.variable.is_commutative:
        return b / precision + draw("normal") / sp.sqrt(precision)
    return draw("gaussian", b, precision)
