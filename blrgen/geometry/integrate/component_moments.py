"""E_q[Σ_k g(x_k)] of vectors: by the statistics, else by the law of one component.

Where Σ g is an affine combination of the statistics its mean is the same one of the mean
parameters.  A count among n draws is binomial, a component of a unit vector 0 or 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.binomial import COUNT, binomial_mean
from blrgen.algebra.components import Component, head, total, varies
from blrgen.algebra.partial import NoDerivative
from blrgen.algebra.ring import Ring, gradient
from blrgen.algebra.woodbury import lowest
from blrgen.core import Family
from blrgen.errors import InternalError, UserError
from blrgen.geometry.integrate.problem import Problem, exponent_of
from blrgen.geometry.integrate.separable import Separated, integrate, opened, separate

Expr = Any


def expected(family: Family, f: Expr, mean: tuple[Expr, ...], ring: Ring) -> Expr:
    """E_q[f] as a function of λ, for f = c + Σ_k g(x_k); refused where none is found."""
    f = sp.expand(opened(f), log=False)
    separated = separate(f, family.variable)
    found = None
    if separated is not None:
        found = _affine(family, separated, mean)
        if found is None and family.support.kind in ("one-hot", "counts"):
            found = _by_component(family, separated, mean)
        if found is None:
            found = _by_source(family, f, ring)
    if found is None:
        raise UserError(
            f"E_q[{f}] of {family.name!r} was not found in closed form",
            where=family.path,
            why="it is no affine combination of the statistics",
            how="absorb part of the base measure into the statistics, where that is possible",
        )
    return found


def _affine(family: Family, s: Separated, mean: tuple[Expr, ...]) -> Expr | None:
    """c + Σ_i ⟨c_i, μ_i⟩ when the terms of g are statistics, component by component."""
    if s.last is not None:
        return None
    value, left = s.constant, sp.expand(s.each)
    for t, m in zip(family.statistics, mean, strict=True):
        basis = t if varies(t) else _summand(t)
        if basis is None or not basis.has(s.x):
            continue
        lead = sp.Add.make_args(sp.expand(basis))[0]
        free, atom = lead.as_independent(s.x, as_Add=False)
        weight = left.coeff(atom) / free if left.has(atom) else sp.S.Zero
        if weight == 0 or weight.has(s.x) or (varies(weight) and not varies(t)):
            continue
        left = sp.expand(left - weight * basis)
        value += total(weight * m, s.size) if varies(t) else weight * m
    return None if left.has(s.x) else value + total(left, s.size)


def _summand(t: Expr) -> Expr | None:
    """f of a statistic Σ f(x_k)."""
    outer, inner = t.as_coeff_Mul()
    return outer * inner.args[0] if isinstance(inner, total) else None


def _by_source(family: Family, f: Expr, ring: Ring) -> Expr | None:
    """∂_s log ∫ exp(exponent + s f) at s = 0, where a rule integrates it."""
    source = sp.Dummy("s", real=True)
    exponent = sp.expand(exponent_of(family, ring) + source * f, log=False)
    found = integrate(
        Problem(family, exponent, family.variable, family.support, ring, source=source)
    )
    if found is None:
        return None
    try:
        slope = gradient(found.log_partition, source).subs(source, 0)
    except (NoDerivative, InternalError):
        return None
    return None if slope.has(sp.nan, sp.zoo, sp.oo) else ring.tidy(slope)


def _by_component(family: Family, s: Separated, mean: tuple[Expr, ...]) -> Expr | None:
    """Each count is binomial with mean μ_k: the statistics must be the counts themselves."""
    if s.last is None and family.statistics == (head(s.x),):
        each = s.each.xreplace({s.x: head(s.x)})
        s = Separated(s.constant, each, each, head(s.x), s.size - 1)
    if family.statistics != (s.x,):
        return None
    n = family.support.upper
    share = mean[0] / n

    def of(g: Expr, p: Expr) -> Expr:
        here = g.xreplace({s.x: COUNT})
        free, bound = here.as_independent(COUNT, as_Add=True)
        if any(isinstance(c, Component) for c in bound.free_symbols):
            return None
        return free + binomial_mean(bound, n, p)

    parts = [of(s.each, share)]
    if s.last is not None:
        parts.append(of(s.last, lowest(1 - total(share, s.size))))
    if any(p is None for p in parts):
        return None
    return s.constant + total(parts[0], s.size) + sp.Add(*parts[1:])
