"""The log-partition A(λ) = log ∫ h(θ) exp⟨λ, T(θ)⟩ dθ, by rules on the exponent.

* finite support: a sum over the points;
* quadratic exponent c + bᵀθ − ½θᵀPθ on R^d, P free of θ: the Gaussian integral
  c + ½bᵀP⁻¹b − ½log|P| + (d/2)log 2π, in one dimension and in any;
* otherwise the declaration must give A, which is then checked against quadrature
  or summation of the density itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient, jacobian
from blrgen.algebra.ring import Ring
from blrgen.core import Family
from blrgen.errors import UserError

Expr = Any


@dataclass(frozen=True)
class Integral:
    """A and how it was found; `quadratic` = (c, b, P) when the exponent is one."""

    log_partition: Expr
    method: str
    because: str
    quadratic: tuple[Expr, Expr, Expr] | None = None


def log_integral(family: Family, ring: Ring) -> Integral:
    """A(λ) for the family, by the first rule that applies."""
    exponent = exponent_of(family, ring)
    if family.support.kind == "finite":
        return _finite_sum(family, exponent)
    quadratic = quadratic_form(exponent, family.variable, ring)
    if quadratic and _covers_the_line(family):
        return _gaussian_integral(quadratic, ring)
    if family.log_partition is not None:
        return Integral(
            family.log_partition,
            "given",
            "given by the declaration and checked against the density",
        )
    raise UserError(
        f"no closed form found for the log-partition of {family.name!r}",
        where=family.path,
        why="its exponent is neither quadratic in the variable nor over a finite support",
        how='give it in the file, log_partition = "…"; it is then checked against the density',
    )


def exponent_of(family: Family, ring: Ring) -> Expr:
    """⟨λ, T(θ)⟩ + log h(θ)."""
    inner = [
        ring.inner(p.symbol, t) for p, t in zip(family.natural, family.statistics, strict=True)
    ]
    return sp.Add(*inner) + log_base(family)


def log_base(family: Family) -> Expr:
    """log h(θ), opened up where h is a product of powers and exponentials."""
    return sp.expand_log(sp.log(family.base_measure), force=True) if family.base_measure != 1 else 0


def _covers_the_line(family: Family) -> bool:
    s = family.support
    return s.kind == "vector" or (s.kind == "interval" and s.lower == -sp.oo and s.upper == sp.oo)


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


def _gaussian_integral(quadratic: tuple[Expr, Expr, Expr], ring: Ring) -> Integral:
    c, b, precision = quadratic
    value = (
        c
        + ring.inner(b, precision**-1 * b) / 2
        - ring.logdet(precision) / 2
        + ring.dim * sp.log(2 * sp.pi) / 2
    )
    return Integral(
        value,
        "gaussian integral",
        "the exponent is c + bᵀθ − ½θᵀPθ, and ∫ exp of it is exp(c + ½bᵀP⁻¹b) (2π)^(d/2) |P|^(−½)",
        quadratic,
    )


def _finite_sum(family: Family, exponent: Expr) -> Integral:
    """log Σ_k exp(a_k); of two points in the stable form ½(a+b) + log 2cosh ½(a−b)."""
    theta = family.variable
    levels = [sp.expand(exponent.subs(theta, p)) for p in family.support.points]
    because = f"the sum over the points {', '.join(map(str, family.support.points))}"
    if len(levels) == 2:
        a, b = levels
        half = sp.expand((b - a) / 2)
        if half.could_extract_minus_sign():
            half = -half
        value = sp.expand((a + b) / 2) + sp.log(2 * sp.cosh(half))
        return Integral(value, "enumeration", because + "; eᵃ + eᵇ = 2 exp(½(a+b)) cosh(½(a−b))")
    return Integral(sp.log(sp.Add(*[sp.exp(a) for a in levels])), "enumeration", because)
