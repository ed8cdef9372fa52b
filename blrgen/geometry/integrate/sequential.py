"""Several variables, one after the other: each by the rules, with the others as parameters.

    log ∫∫ exp(e(x, y)) dx dy = log ∫ exp( log ∫ exp(e(x, y)) dx ) dy

Every order is tried; scalar parameters that are negative all over their domain stand with
their sign taken out, so that the logarithm of a product opens.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import logdet
from blrgen.core import Domain, Family, Parameter, Support
from blrgen.geometry.integrate.primitive import fresh, law
from blrgen.geometry.integrate.problem import Integral, Problem
from blrgen.geometry.readable import rational

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """The first order in which every variable can be integrated."""
    if problem.support.kind != "joint":
        return None
    letters = _letters(problem)
    turned = {p: -letter for p, letter in letters.items()}
    back = {letter: -p for p, letter in letters.items()}
    pairs = tuple(zip(problem.family.variables, problem.family.supports, strict=True))
    start = problem.with_(exponent=problem.exponent.xreplace(turned))
    for order in permutations(range(len(pairs))):
        found = _in_order(start, [pairs[i] for i in order])
        if found is not None:
            return found.with_(
                log_partition=_joined(problem.ring.tidy(found.log_partition.xreplace(back)))
                if problem.ring.elementwise
                else problem.ring.tidy(found.log_partition.xreplace(back)),
                conditions=tuple(c.xreplace(back) for c in found.conditions),
                one_by_one=tuple((x, s.xreplace(back)) for x, s in found.one_by_one),
            )
    return None


def _in_order(problem: Problem, pairs: list[tuple[Expr, Any]]) -> Integral | None:
    from blrgen.geometry.integrate.rules import integrate as by_rules

    exponent, conditions, steps = problem.exponent, list[Expr](), list[str]()
    samplers: list[tuple[Expr, Expr | None]] = []
    for x, support in pairs:
        part = problem.with_(
            exponent=exponent,
            variable=x,
            support=support,
            family=_alone(problem.family, x, support),
        )
        found = by_rules(part)
        if found is None:
            return None
        # the law of x given the variables that are still to be integrated
        samplers.append((x, found.sampler or law(exponent, x, support)))
        exponent = opened(found.log_partition)
        conditions += found.conditions
        if found.quadratic is not None:
            conditions.append(found.quadratic[2])
        steps.append(f"over {x} by the {found.method}")
    return Integral(
        exponent,
        "sequential integration",
        f"integrated {', then '.join(steps)}",
        conditions=tuple(conditions),
        one_by_one=_drawn_last_first(samplers),
    )


def _joined(e: Expr) -> Expr:
    """What the steps left over different denominators, over one; c log a + c log b as c log ab.

    Two pivots are a determinant then, P₁₁(P₂₂ − P₁₂²/P₁₁) = P₁₁P₂₂ − P₁₂², and A has nothing
    else below a fraction.
    """
    logs: dict[Expr, list[Expr]] = {}
    rest, left = [], sp.S.Zero
    for term in sp.Add.make_args(e):
        c, f = term.as_coeff_Mul()
        if isinstance(f, sp.log) and rational(f.args[0]) and not f.is_number:
            logs.setdefault(c, []).append(f.args[0])
        elif rational(term) and not term.is_number:
            rest.append(term)
        else:
            left += term
    for c, inside in logs.items():
        apart = sp.Add(*map(sp.log, inside))
        alone = not any(left.has(sp.log(x)) for x in inside)
        left += c * (_log_of_product(inside) if alone else apart)
    return left + min((sp.Add(*rest), sp.factor(sp.together(sp.Add(*rest)))), key=sp.count_ops)


def _log_of_product(parts: list[Expr]) -> Expr:
    """log ∏ of positive parts, as one where that has no denominator."""
    apart = sp.Add(*map(sp.log, parts))
    whole = sp.factor(sp.together(sp.Mul(*parts)))
    number, core = whole.as_coeff_Mul()
    if number < 0 and core.is_Add:
        number, core = -number, sp.expand(-core)
    plain = core.is_polynomial(*core.free_symbols) and core.is_Add and number > 0
    return sp.log(number) + sp.log(core) if len(parts) > 1 and plain else apart


def _drawn_last_first(
    samplers: list[tuple[Expr, Expr | None]],
) -> tuple[tuple[Expr, Expr], ...]:
    """The variables with their samplers as they are drawn: the last integrated comes first.

    Draws of different variables get different numbers; nothing where a sampler lacks.
    """
    found: list[tuple[Expr, Expr]] = []
    for x, sampler in reversed(samplers):
        if sampler is None:
            return ()
        found.append((x, fresh(sp.Tuple(*[s for _, s in found]), sampler)))
    return tuple(found)


def _alone(family: Family, x: Expr, support: Support) -> Family:
    """The density as one of x alone: the other variables are known constants."""
    others = tuple(
        Parameter(y.name, Domain(s.kind, s.lower, s.upper, s.size, s.text), y)
        for y, s in zip(family.variables, family.supports, strict=True)
        if y != x
    )
    return replace(family, variable=x, support=support, joint=(), fixed=(*family.fixed, *others))


def _letters(problem: Problem) -> dict[Expr, Expr]:
    """A positive ν for every scalar parameter below zero, which is −ν then."""
    found = {}
    for p in problem.family.natural:
        d = p.domain
        if d.kind == "interval" and d.upper is not None and sp.sympify(d.upper).is_nonpositive:
            found[p.symbol] = sp.Dummy(f"minus_{p.name}", positive=True)
    return found


def opened(e: Expr) -> Expr:
    """Logarithms of products whose factors are positive, and log|c X|, written as sums."""
    e = sp.expand_log(e)
    determinants = {
        f: logdet(f.args[0], *f.args[1:]) for f in e.atoms(logdet) if not f.args[0].is_Symbol
    }
    return sp.expand(e.xreplace(determinants))
