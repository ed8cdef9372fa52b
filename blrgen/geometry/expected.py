"""E_q[f] of a function of the variable, in closed form where a rule gives one.

* a combination of the statistics: the same combination of μ;
* a source: E_q[f] = ∂_s log ∫ exp(exponent + s f) at s = 0, integrated by the same rules;
* a ratio: E_q[f] = ∫ f exp(exponent) / ∫ exp(exponent), for a positive f;
* otherwise a node, a number by quadrature or summation.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.partial import NoDerivative, partial
from blrgen.algebra.ring import Ring, gradient
from blrgen.core import Family
from blrgen.errors import InternalError
from blrgen.geometry.integrate import Integral, Problem, exponent_of, shallowest
from blrgen.geometry.integrate.gammas import close
from blrgen.geometry.integrate.terms import split
from blrgen.geometry.numbers.nodes import mean_node

Expr = Any


def expected(
    family: Family, f: Expr, integral: Integral, mean: tuple[Expr, ...], ring: Ring
) -> Expr:
    """E_q[f] as a function of the natural parameters, of a scalar variable."""
    whole = in_statistics(family, f, mean)
    if whole is not None:
        return whole
    problem = Problem(family, exponent_of(family, ring), family.variable, family.support, ring)
    known, rest = sp.S.Zero, sp.S.Zero
    for g, c in split(f, family.variable).items():  # a statistic, before it is opened
        found = in_statistics(family, g, mean)
        known, rest = (known, rest + c * g) if found is None else (known + c * found, rest)
    opened = problem.with_(exponent=rest).terms
    total, left = known + opened.get(sp.S.One, sp.S.Zero), sp.S.Zero
    for g, c in opened.items():
        if g == 1:
            continue
        found = in_statistics(family, g, mean)
        if found is None and integral.method not in ("given", "numeric"):
            found = _by_source(problem, g, integral) or _by_ratio(problem, g, integral)
        if found is None:
            left += c * g
        else:
            total += c * found
    return total + (mean_node(family, left) if left != 0 else sp.S.Zero)


def in_statistics(family: Family, f: Expr, mean: tuple[Expr, ...]) -> Expr | None:
    """E_q[f] when f is an affine combination of the statistics: read off from μ."""
    names = [sp.Symbol(f"_c{i}") for i in range(len(mean) + 1)]
    combination = names[0] + sp.Add(
        *[c * t for c, t in zip(names[1:], family.statistics, strict=True)]
    )
    gap = sp.expand(sp.expand(f) - sp.expand(combination))
    parts = gap.as_independent(family.variable, as_Add=True)
    collected: dict[Expr, Expr] = {}
    for term in sp.Add.make_args(parts[1]):
        free, dependent = term.as_independent(family.variable, as_Add=False)
        collected[dependent] = collected.get(dependent, 0) + free
    solution = sp.linsolve([parts[0], *collected.values()], names)
    if not solution:
        return None
    values = next(iter(solution)).xreplace(dict.fromkeys(names, sp.S.Zero))
    return values[0] + sp.Add(*[c * m for c, m in zip(values[1:], mean, strict=True)])


def from_source(family: Family, f: Expr, ring: Ring) -> Expr | None:
    """E_q[f] of matrices: ∂_s log ∫ exp(exponent + s f) at s = 0, where a rule integrates it."""
    source = sp.Dummy("s", real=True)
    exponent = ring.tidy(exponent_of(family, ring) + source * f)
    found = shallowest(
        Problem(family, exponent, family.variable, family.support, ring, source=source)
    )
    if found is None:
        return None
    try:
        return ring.tidy(gradient(found.log_partition, source).subs(source, 0))
    except (NoDerivative, InternalError):
        return None


def _by_source(problem: Problem, f: Expr, integral: Integral) -> Expr | None:
    """∂A/∂s; the changes of variable are about as many as for A."""
    source = sp.Dummy("s", real=True)
    moved = problem.with_(exponent=problem.exponent + source * f, source=source)
    found = shallowest(moved, integral.depth + 1)
    if found is None:
        return None
    try:
        slope = partial(found.log_partition, source)
    except NoDerivative:
        return None
    value = slope.subs(source, 0)
    return None if value.has(sp.nan, sp.zoo, sp.oo) else value


def _by_ratio(problem: Problem, f: Expr, integral: Integral) -> Expr | None:
    if problem.sign(f) != 1:
        return None
    found = shallowest(problem.with_(exponent=problem.exponent + sp.log(f)), integral.depth + 1)
    if found is None or has_nodes(found.log_partition):
        return None
    return sp.exp(close(sp.expand(found.log_partition - integral.log_partition)))
