"""c + a log x + b xᵖ + d x⁻ᵖ on (0, ∞), b and d < 0: a Bessel function K of index (a + 1)/p.

2 (d/b)^(ν/2) K_ν(2√(bd)) / |p| with ν = (a + 1)/p, elementary where 2ν is odd.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from blrgen.algebra.partial import LOG_SLOPES
from blrgen.core import Domain, Family, Parameter, Support
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem
from blrgen.geometry.integrate.terms import power_of
from blrgen.geometry.numbers.nodes import raw_node

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """∫ x^a exp(b xᵖ + d x⁻ᵖ) dx."""
    if not problem.is_interval or problem.ends != (0, sp.oo):
        return None
    x, terms = problem.variable, dict(problem.coefficients)
    a = terms.pop(sp.log(x), sp.S.Zero)
    powers: dict[Any, Expr] = {power_of(f, x): c for f, c in terms.items()}
    if len(powers) != 2 or None in powers or sp.expand(sum(powers)) != 0:
        return None
    up = [p for p in powers if problem.sign(p) == 1]
    if len(up) != 1:
        return None
    p = up[0]
    b, d = sp.expand(-powers[p]), sp.expand(-powers[-p])
    index = sp.cancel((a + 1) / p)
    value = problem.constant + sp.log(2) - sp.log(p)
    value += sp.expand(index / 2 * (sp.log(d) - sp.log(b)))
    ratio = sp.cancel(d / b)
    z = 2 * (b * sp.sqrt(ratio) if ratio.is_positive else sp.sqrt(sp.expand(b * d)))
    half = index.is_Rational and index.q == 2
    value = sp.expand(value + _log_half(index, b, d, z)) if half else value + _log_k(index, z)
    return Integral(
        value,
        "Bessel integral",
        "∫ x^(ν−1) exp(−bx − d/x) dx over (0, ∞) is 2 (d/b)^(ν/2) K_ν(2√(bd))"
        + (", elementary for a half-integer ν" if half else ""),
        sampler=_sampler(index, b, d) ** (1 / p) if abs(index) == sp.S.Half else None,
        conditions=(b, d),
    )


def _log_k(index: Expr, z: Expr) -> Expr:
    return sp.log(sp.besselk(-index if index.could_extract_minus_sign() else index, z))


def _log_half(index: Expr, b: Expr, d: Expr, z: Expr) -> Expr:
    """log √(π/2z) − z + log Σ_k (n+k)!/(k!(n−k)!) (2z)⁻ᵏ, n = |ν| − ½."""
    n = int(abs(index) - sp.S.Half)
    tail = sp.Add(*[
        sp.factorial(n + k) / sp.factorial(k) / sp.factorial(n - k) * (2 * z) ** -k
        for k in range(n + 1)
    ])  # fmt: skip
    log_z = sp.log(2) + (sp.log(b) + sp.log(d)) / 2
    return (sp.log(sp.pi) - sp.log(2) - log_z) / 2 - z + sp.log(tail)


def _sampler(index: Expr, b: Expr, d: Expr) -> Expr:
    """Michael, Schucany and Haas for ν = −½; its inverse, with b and d exchanged, for ½."""
    if index > 0:
        return 1 / _sampler(-index, d, b)
    mean, u = sp.sqrt(d / b), draw("uniform")
    w = sp.Abs(draw("normal")) / sp.sqrt(8 * sp.sqrt(b) * sp.sqrt(d))
    ratio = (w + sp.sqrt(1 + w**2)) ** 2  # the larger root over the mean: nothing cancels
    return sp.Piecewise((mean / ratio, u < 1 / (1 + 1 / ratio)), (mean * ratio, True))


@cache
def _canonical() -> Family:
    """x^(ν−1) exp(−½z(x + 1/x)) on (0, ∞), with the mass 2 K_ν(z)."""
    x, nu, z = (
        sp.Symbol("x", positive=True),
        sp.Symbol("nu", real=True),
        sp.Symbol("z", positive=True),
    )
    natural = (
        Parameter("nu", Domain("interval", -sp.oo, sp.oo, text="(-oo, oo)"), nu),
        Parameter("z", Domain("interval", sp.S.Zero, sp.oo, text="(0, oo)"), z),
    )
    support = Support("interval", lower=sp.S.Zero, upper=sp.oo, text="(0, oo)")
    return Family("bessel", "", x, support, (sp.log(x), -(x + 1 / x) / 2), 1 / x, natural)


def order_slope(nu: Expr, z: Expr) -> Expr:
    """∂ log K_ν(z)/∂ν, which is E[log x] of the law with mass 2 K_ν(z): a number by quadrature."""
    return _order_moment(1, nu, z)


LOG_SLOPES[sp.besselk] = order_slope


def order_square(nu: Expr, z: Expr) -> Expr:
    """E[log² x] of the same law."""
    return _order_moment(2, nu, z)


def _order_moment(power: int, nu: Expr, z: Expr) -> Expr:
    family = _canonical()
    return raw_node(family, family.statistics[0] ** power, (nu, z))


def order_power(node: Expr) -> int:
    """Which power of log x a node of that law is the mean of; 0 for any other node."""
    family = _canonical()
    if type(node).family.statistics != family.statistics or node.integrand is None:
        return 0
    log = family.statistics[0]
    return next((k for k in (1, 2) if node.integrand == log**k), 0)


def log_of_law() -> tuple[Expr, tuple[Expr, ...]]:
    """The logarithm of that law's variable, and its statistics."""
    family = _canonical()
    return family.statistics[0], family.statistics
