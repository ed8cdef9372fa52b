"""Vectors of symbolic size: the exponent is c + Σ_k φ_k(x_k), and one rule for each support.

    unit vectors          e^c Σ_k exp(φ_k(1) − φ_k(0))
    counts with sum n     φ_k = a_k x − log x!: the multinomial theorem, e^c (Σ e^{a_k})ⁿ/n!
    simplex               φ_k = a_k log x: e^c Π Γ(a_k + 1)/Γ(Σ(a_k + 1))
    sphere                φ_k = a_k x: e^c (2π)^{d/2} I_{d/2−1}(|a|)/|a|^{d/2−1}
    a power of a line     Π_k ∫ exp φ_k(x) dx, by the rules for numbers

Where the statistics leave out the last component, it has a function ψ of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.bessel import log_kernel
from blrgen.algebra.components import Component, head, total, varies
from blrgen.algebra.partial import partial
from blrgen.algebra.ring import Elementwise
from blrgen.core import Support
from blrgen.geometry.integrate.primitive import draw, law
from blrgen.geometry.integrate.problem import Integral, Problem

Expr = Any


@dataclass(frozen=True)
class Separated:
    """c + Σ_k φ_k(x) over `size` components, + ψ(x) of one more where `last` is not None."""

    constant: Expr
    each: Expr  # φ, in the symbol x
    last: Expr | None  # ψ, in the same symbol
    x: Component
    size: Expr

    def total(self, f: Expr) -> Expr:
        return total(f, self.size)


def integrate(problem: Problem) -> Integral | None:
    """The rule of the support, when the exponent separates over the components."""
    separated = separate(problem.exponent, problem.variable)
    rule = {
        "one-hot": _unit_vectors, "counts": _counts, "simplex": _simplex, "sphere": _sphere,
    }.get(problem.support.kind, _product)  # fmt: skip
    return rule(separated, problem) if separated is not None else None


def separate(exponent: Expr, x: Component) -> Separated | None:
    """c + Σ φ_k(x_k) with c free of x, or None where components of x meet."""
    shorter = head(x)
    constant, whole, first = sp.S.Zero, sp.S.Zero, sp.S.Zero
    for term in sp.Add.make_args(sp.expand(opened(exponent))):
        weight, body = sp.S.One, None
        for factor in sp.Mul.make_args(term):
            if not factor.has(x, shorter):
                weight *= factor
            elif isinstance(factor, total) and body is None and not _meets(factor, x, shorter):
                body = factor
            else:
                return None
        if body is None:
            constant += weight
        elif body.has(shorter):
            first += weight * body.args[0]
        else:
            whole += weight * body.args[0]
    if first == 0:
        return Separated(constant, whole, None, x, x.size)
    if any(c != x for c in whole.atoms(Component)):
        return None
    return Separated(
        constant, whole.xreplace({x: shorter}) + first, whole.xreplace({x: shorter}), shorter,
        shorter.size,
    )  # fmt: skip


def _meets(outer: Expr, x: Component, shorter: Component) -> bool:
    """Whether a total inside this one has x too."""
    return any(t.has(x, shorter) for t in outer.args[0].atoms(total))


def opened(e: Expr) -> Expr:
    """log z! as loggamma(z + 1), log Γ(z) as loggamma(z)."""
    return e.replace(
        lambda f: isinstance(f, sp.log) and isinstance(f.args[0], sp.factorial),
        lambda f: sp.loggamma(f.args[0].args[0] + 1),
    ).replace(
        lambda f: isinstance(f, sp.log) and isinstance(f.args[0], sp.gamma),
        lambda f: sp.loggamma(f.args[0].args[0]),
    )


def _linear(f: Expr, atom: Expr, x: Component) -> tuple[Expr, Expr] | None:
    """(a, b) with f = a·atom + b, neither having x; None when f is not of that form."""
    letter = sp.Dummy("u", real=True)
    level = sp.expand(f).xreplace({atom: letter})
    a = partial(level, letter)
    b = sp.expand(level - a * letter)
    return (a, b) if not a.has(letter, x) and not b.has(letter, x) else None


def _unit_vectors(s: Separated, problem: Problem) -> Integral | None:
    def at(f: Expr, k: int) -> Expr:
        return f.xreplace({s.x: sp.Integer(k)})

    values = [at(f, k) for f in (s.each, s.last or sp.S.Zero) for k in (0, 1)]
    if any(v.has(sp.zoo, sp.nan, sp.oo) for v in values):
        return None
    rest, jump = s.total(values[0]), sp.expand(values[1] - values[0])
    mass, levels = s.total(sp.exp(jump)), [jump]
    if s.last is not None:
        levels.append(sp.expand(values[3] - values[2]))
        rest, mass = rest + values[2], mass + sp.exp(levels[1])
    because = "the sum over the unit vectors: one of the components is 1, the others are 0"
    value = s.constant + rest + sp.log(mass)
    return Integral(value, "enumeration", because, sampler=draw("categorical", *levels))


def _counts(s: Separated, problem: Problem) -> Integral | None:
    n = problem.support.upper
    each = _linear(s.each + sp.loggamma(s.x + 1), s.x, s.x)
    last = _linear(s.last + sp.loggamma(s.x + 1), s.x, s.x) if s.last is not None else None
    if each is None or (s.last is not None and last is None):
        return None
    mass, rest = s.total(sp.exp(each[0])), s.total(each[1])
    if last is not None:
        mass, rest = mass + sp.exp(last[0]), rest + last[1]
    value = s.constant + rest - sp.loggamma(n + 1) + n * sp.log(mass)
    because = "the multinomial theorem, Σ n!/Πx_k! Π p_k^x_k = (Σ p_k)ⁿ"
    levels = [each[0]] if last is None else [each[0], last[0]]
    return Integral(
        sp.expand(value, log=False), "multinomial theorem", because,
        sampler=draw("multinomial", n, *levels),
    )  # fmt: skip


def _simplex(s: Separated, problem: Problem) -> Integral | None:
    found = _linear(s.each, sp.log(s.x), s.x) if s.last is None else None
    if found is None:
        return None
    power = sp.expand(found[0] + 1)
    value = s.total(sp.loggamma(power)) - sp.loggamma(s.total(power))
    because = "Dirichlet's integral over the simplex, ∫ Π x_k^(a_k − 1) dx = Π Γ(a_k)/Γ(Σ a_k)"
    return Integral(
        s.constant + s.total(found[1]) + value, "Dirichlet integral", because,
        sampler=draw("dirichlet", power), conditions=(power,),
    )  # fmt: skip


def _sphere(s: Separated, problem: Problem) -> Integral | None:
    if s.last is not None:
        return None
    square = sp.Dummy("r", real=True)
    even = sp.expand(s.each).xreplace({s.x**2: square})  # Σ x² = 1
    weight = partial(even, square)
    found = _linear(even.xreplace({square: sp.S.Zero}), s.x, s.x)
    if found is None or weight.has(square, s.x) or varies(weight):
        return None
    order = s.size / 2 - 1
    value = (
        s.constant + weight + s.total(found[1])
        + s.size * sp.log(2 * sp.pi) / 2 + log_kernel(order, s.total(found[0] ** 2))
    )  # fmt: skip
    because = "∫ exp(aᵀx) over the unit sphere is (2π)^(d/2) I_{d/2−1}(κ)/κ^(d/2−1), κ = |a|"
    sampler = draw("sphere", found[0])
    return Integral(value, "spherical integral", because, sampler=sampler)


def _product(s: Separated, problem: Problem) -> Integral | None:
    """Independent components: the rules for numbers, component by component."""
    if s.last is not None:
        return None
    from blrgen.geometry.integrate.rules import shallowest

    known = {k: v for k, v in s.x._assumptions_orig.items() if v}
    one = sp.Symbol(s.x.name, **known)
    outer = problem.support
    kind = "interval" if outer.kind == "vector" else outer.kind
    line = Support(
        kind, outer.points, outer.lower, outer.upper, (), outer.text, outer.lower_open,
        outer.upper_open,
    )  # fmt: skip
    found = shallowest(
        problem.with_(
            exponent=s.each.xreplace({s.x: one}), variable=one, support=line, ring=Elementwise()
        )
    )
    if found is None:
        return None
    value = s.constant + s.total(sp.expand(found.log_partition, log=False))
    return found.with_(
        log_partition=value,
        # of one component: its draws are taken for every component
        sampler=found.sampler or law(s.each.xreplace({s.x: one}), one, line),
        method=f"{found.method}, component by component",
        because=f"the components are independent; {found.because}",
        quadratic=found.quadratic and tuple(q.xreplace({one: s.x}) for q in found.quadratic),
    )
