"""The exact Bayesian learning rule of a family, in natural and then in working coordinates.

    λ⁺ = λ − ρ ∇_μ{E_q[ℓ] − 𝓗} = (1−ρ)λ − ρ ∇_μ{E_q[ℓ] + E_q[log h]}.

In working coordinates the equations λ(ψ⁺) = right-hand side are solved for ψ⁺ one at a
time; an expectation that an earlier equation already fixes is eliminated through it,
which is how the *new* precision comes to divide the mean step.  Where the equations do not
separate, the step is taken in λ and carried through the chart: ψ⁺ = ψ(λ⁺).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.components import put
from blrgen.algebra.partial import partial
from blrgen.algebra.ring import Matrix, Ring
from blrgen.algebra.solve import isolate
from blrgen.errors import InternalError
from blrgen.expect.expectation import Expectation
from blrgen.geometry.geometry import Geometry
from blrgen.rule.spaces import MEAN, NATURAL, Element, gradient_in

Expr = Any
RHO = sp.Symbol("rho", positive=True)


@dataclass(frozen=True, eq=False)
class ExactRule:
    """The rule before any approximation; all expressions in working parameters and probes."""

    point: Element  # λ(ψ)
    direction: Element  # −∇_μ(E_q[ℓ] − 𝓗): where λ moves
    natural_next: Element  # λ⁺
    working_next: tuple[tuple[Expr, Expr], ...]  # (x, x⁺) in execution order: ψ, or λ then ψ
    carried: str = ""  # why the step is taken in λ and carried to ψ; empty when solved for ψ⁺
    changes: tuple[tuple[Expr, Expr], ...] = ()  # letters of x⁺ − x, each before its x⁺


def next_of(x: Expr, ring: Ring) -> Expr:
    """The symbol of the next value."""
    return ring.symbol_like(x, f"{x.name}_next")


def exact_rule(geometry: Geometry, expectation: Expectation) -> ExactRule:
    """Derive the rule; every sum is checked to stay within one space."""
    if expectation.factors:
        return _of_product(geometry, expectation)
    ring = geometry.ring
    point = Element(NATURAL, tuple(geometry.natural_of_working[x] for x in geometry.natural))
    loss = gradient_in(MEAN, expectation.mean_gradient)
    entropy = gradient_in(MEAN, entropy_gradient(geometry, expectation))
    direction = ((-1 * loss) if expectation.current else (entropy - loss)).map(ring.tidy)
    after = (point + RHO * direction).map(ring.tidy)
    probes = [p.symbol for p in expectation.probes if p.at == "q" or isinstance(ring, Matrix)]
    try:
        return ExactRule(point, direction, after, _in_working(geometry, after, probes))
    except InternalError as e:
        return ExactRule(point, direction, after, _carried(geometry, after), str(e))


def _of_product(geometry: Geometry, expectation: Expectation) -> ExactRule:
    """The factors' rules side by side."""
    own = geometry.factors  # type: ignore[attr-defined]
    rules = [exact_rule(g, e) for g, e in zip(own, expectation.factors, strict=True)]

    def joined(parts: list[Element]) -> Element:
        return Element(NATURAL, tuple(x for p in parts for x in p.parts))

    return ExactRule(
        joined([r.point for r in rules]),
        joined([r.direction for r in rules]),
        joined([r.natural_next for r in rules]),
        tuple(pair for r in rules for pair in r.working_next),
        "; ".join(r.carried for r in rules if r.carried),
    )


def entropy_gradient(geometry: Geometry, expectation: Expectation) -> tuple[Expr, ...]:
    """∇_μ𝓗 in working parameters; −λ alone where the probes hold log h."""
    base = expectation.base
    if base is None or base.gradient is None:
        return tuple(-geometry.natural_of_working[x] for x in geometry.natural)
    if base.case == "span":
        return tuple(
            geometry.to_working(-x - b)
            for x, b in zip(geometry.natural, base.gradient, strict=True)
        )
    return tuple(geometry.to_working(e) for e in geometry.entropy_gradient)


def _carried(geometry: Geometry, after: Element) -> tuple[tuple[Expr, Expr], ...]:
    """λ⁺ first, then ψ⁺ = ψ(λ⁺) through the chart: no equation is solved."""
    ring = geometry.ring
    new = {x: next_of(x, ring) for x in geometry.natural}
    first = tuple(zip(geometry.natural, after.parts, strict=True))
    chart = geometry.working_of_natural
    return (*first, *((x, put(chart[x], new)) for x in geometry.working))


def _in_working(
    geometry: Geometry, after: Element, probes: list[Expr]
) -> tuple[tuple[Expr, Expr], ...]:
    """Solve λ(ψ⁺) = λ⁺ for ψ⁺, triangularly."""
    ring = geometry.ring
    new = {x: next_of(x, ring) for x in geometry.working}
    left = [
        (ring.tidy(geometry.natural_of_working[lam].xreplace(new)), value)
        for lam, value in zip(geometry.natural, after.parts, strict=True)
    ]
    solved: list[tuple[Expr, Expr]] = []
    equations: list[Expr] = []
    done: set[Expr] = set()
    while left:
        for pair in left:
            unknown = [x for x in geometry.working if new[x] not in done and pair[0].has(new[x])]
            if len(unknown) == 1:
                break
        else:
            names = ", ".join(str(x) for x in geometry.working if new[x] not in done)
            raise InternalError(f"every equation mixes {names}")
        left.remove(pair)
        x = unknown[0]
        right = _eliminate(pair[1], equations, probes, ring)
        solved.append((x, _solve_for(pair[0], right, new[x], ring)))
        equations.append(pair[0] - pair[1])
        if isinstance(ring, Matrix):  # as solved, an expectation may stand in it just once
            equations.append(new[x] - solved[-1][1])
        done.add(new[x])
    return tuple(solved)


def _solve_for(side: Expr, right: Expr, unknown: Expr, ring: Ring) -> Expr:
    """unknown from side(unknown) = right, where side is linear in it or in its inverse."""
    if not unknown.is_commutative and side.has(unknown**-1):
        turned = ring.symbol_like(unknown, f"inv_{unknown.name}")
        return isolate(side.xreplace({unknown**-1: turned}) - right, turned) ** -1
    if not unknown.is_commutative:
        return isolate(side - right, unknown)
    if partial(side, unknown, 2) == 0:
        slope = partial(side, unknown)
        return ring.tidy((right - side.subs(unknown, 0)) / slope)
    inverse = sp.Dummy("inverse", positive=True)
    flipped = sp.expand(side.subs(unknown, 1 / inverse))
    if partial(flipped, inverse, 2) == 0:
        slope = partial(flipped, inverse)
        return sp.cancel(1 / sp.expand((right - flipped.subs(inverse, 0)) / slope))
    for solution in _branches(side, right, unknown):
        if _starts_here(solution, unknown):
            return solution
    raise InternalError(f"the equation for {unknown} was not solved in closed form")


def _branches(side: Expr, right: Expr, unknown: Expr) -> list[Expr]:
    """Solutions of a·xᵖ + b = right; other functions are left to the chart, ψ⁺ = ψ(λ⁺)."""
    free, holder = side.as_independent(unknown, as_Add=True)
    slope, power = holder.as_independent(unknown, as_Add=False)
    level = sp.cancel((right - free) / slope)
    if power.is_Pow and power.base == unknown and not power.exp.has(unknown):
        root = level ** (1 / power.exp)
        return [root] if unknown.is_nonnegative else [root, -root]
    return []


def _starts_here(solution: Expr, unknown: Expr) -> bool:
    """Of several branches, the one that stays where it is when ρ = 0."""
    still = solution.subs(RHO, 0)
    point = {
        x: sp.Rational(sum(map(ord, x.name.removesuffix("_next"))) % 7 + 2, 5)
        for x in (*still.free_symbols, unknown)
    }
    return bool(abs(sp.N(still.subs(point) - point[unknown], 30)) < sp.Rational(1, 10**20))


def _eliminate(right: Expr, equations: list[Expr], probes: list[Expr], ring: Ring) -> Expr:
    """Use the equations already solved to remove a probe from a later right-hand side."""
    best = right
    for equation in equations:
        for probe in (p for p in probes if equation.has(p) and right.has(p)):
            try:
                known = isolate(equation, probe)
            except InternalError:
                continue
            candidate = ring.tidy(right.subs(probe, known))
            if len(sp.Add.make_args(candidate)) < len(sp.Add.make_args(best)):
                best = candidate
    if best is right or not isinstance(ring, Matrix):
        return best
    return _eliminate(best, equations, probes, ring)  # another probe may go as well
