"""Charts: natural parameters as functions of working ones, and back.

A declaration gives either direction for each parameter; the other is solved for, one
equation with one unknown at a time, and checked by substitution.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.components import has_components
from blrgen.algebra.invert import solve_component
from blrgen.algebra.partial import partial
from blrgen.algebra.ring import Ring
from blrgen.algebra.solve import isolate
from blrgen.core import Family, Parameter
from blrgen.errors import InternalError, UserError

Expr = Any


def charts(family: Family, ring: Ring) -> tuple[dict[Expr, Expr], dict[Expr, Expr]]:
    """(natural of working, working of natural); the identity when nothing is declared."""
    natural = [p.symbol for p in family.natural]
    if not family.working:
        return {n: n for n in natural}, {n: n for n in natural}
    working = [p.symbol for p in family.working]
    if len(working) != len(natural):
        raise UserError(
            f"{family.name!r} has {len(natural)} natural and {len(working)} working parameters",
            where=family.path,
            how="declare as many of the one as of the other, or no working ones",
        )
    equations = [ring.tidy(p.symbol - p.chart) for p in family.working if p.chart is not None]
    equations += [ring.tidy(p.symbol - p.chart) for p in family.natural if p.chart is not None]
    try:
        forward = _solve_triangular(equations, natural, ring, family)
        backward = _solve_triangular(equations, working, ring, family)
    except InternalError as e:
        raise UserError(
            f"the charts of {family.name!r} cannot be solved for each other",
            where=family.path,
            why=str(e),
            how="give the other direction: working = … on a natural parameter, "
            "natural = … on a working one",
        ) from e
    _check_round_trip(family, forward, backward, ring)
    if ring.elementwise:
        if len(equations) > len(natural):
            _check_declared(family, family.natural, family.working, forward)
            _check_declared(family, family.working, family.natural, backward)
        _check_images(family, family.working, family.natural, forward)
        _check_images(family, family.natural, family.working, backward)
    return forward, backward


def _solve_triangular(
    equations: list[Expr], unknowns: list[Expr], ring: Ring, family: Family
) -> dict[Expr, Expr]:
    left, found = list(equations), dict[Expr, Expr]()
    while len(found) < len(unknowns):
        for e in left:
            now = ring.tidy(e.subs(found)) if found else e
            names = [u for u in unknowns if u not in found and now.has(u)]
            if len(names) == 1:
                found[names[0]] = _solve_one(now, names[0], ring, family)
                left.remove(e)
                break
        else:
            missing = ", ".join(str(u) for u in unknowns if u not in found)
            raise InternalError(f"no equation has only one unknown among {missing}")
    return found


def _solve_one(equation: Expr, x: Expr, ring: Ring, family: Family) -> Expr:
    """x from equation = 0: linear, linear in 1/x, or by SymPy's solver with the domain's sign."""
    if ring.components:
        return solve_component(equation, x)
    if not ring.elementwise:
        if equation.has(x**-1):
            y = ring.symbol_like(x, f"inv_{x.name}")
            return ring.tidy(isolate(equation.xreplace({x**-1: y}), y) ** -1)
        return isolate(equation, x)
    numerator = sp.fraction(sp.together(equation))[0]
    numerator = sp.expand(numerator)
    if partial(numerator, x, 2) == 0:
        return isolate(numerator, x)
    undone = _undo_function(numerator, x)
    if undone is not None:
        return undone
    solutions = [s for s in sp.solve(equation, x) if _fits(s, x, family)]
    if len(solutions) != 1:
        raise InternalError(f"{equation} = 0 has {len(solutions)} solutions for {x}")
    return solutions[0]


def _undo_function(equation: Expr, x: Expr) -> Expr | None:
    """x from a·f(x) + b = 0 with an f that has an inverse, such as exp, log or tanh."""
    holders = [f for f in equation.atoms(sp.Function) if f.has(x)]
    if len(holders) != 1 or len(holders[0].args) != 1 or not hasattr(holders[0], "inverse"):
        return None
    held = sp.Dummy("held")
    level = equation.xreplace({holders[0]: held})
    if level.has(x) or partial(level, held, 2) != 0:
        return None
    value = holders[0].inverse()(isolate(level, held))
    inside = holders[0].args[0]
    if inside == x:
        return value
    return isolate(inside - value, x) if partial(inside, x, 2) == 0 else None


def _fits(solution: Expr, x: Expr, family: Family) -> bool:
    """Whether a branch lies in the domain of x at a point inside the other domains."""
    from blrgen.geometry.points import contains, inside, interior_points

    parameters = (*family.natural, *family.working, *family.fixed)
    domain = next(p.domain for p in parameters if p.symbol == x)
    point = interior_points(family, 1)[0]
    # natural values, and working ones where the branch is written in those
    for i, p in enumerate(family.working):
        if p.symbol not in point:
            point[p.symbol] = inside(p.domain, sp.Rational(5, 4 + i), point)
    value = sp.N(solution.subs(point))
    if value.free_symbols:
        raise InternalError(f"no telling which solution for {x} lies in its domain")
    return contains(domain, value, point)


def _check_round_trip(
    family: Family, forward: dict[Expr, Expr], backward: dict[Expr, Expr], ring: Ring
) -> None:
    for p in family.working:
        back = ring.tidy(backward[p.symbol].xreplace(forward))
        gap = back - p.symbol
        if gap != 0 and (ring.elementwise or ring.components):
            gap = sp.cancel(sp.expand(gap))
        if gap != 0 and _nonzero_at_a_point(gap):
            raise UserError(
                f"the charts of {family.name!r} contradict each other at {p.name!r}",
                where=family.path,
                why=f"going to the natural parameters and back gives {back}",
            )


def _check_declared(
    family: Family,
    declared: tuple[Parameter, ...],
    others: tuple[Parameter, ...],
    solved: dict[Expr, Expr],
) -> None:
    """Where both directions are given, every one of them holds: not only those solved from."""
    from blrgen.geometry.verify import parameter_points

    for point in parameter_points((*family.fixed, *others), 6):
        for p in declared:
            if p.chart is None:
                continue
            given, should = (sp.N(e.subs(point), 30) for e in (p.chart, solved[p.symbol]))
            if not abs(given - should) <= sp.Rational(1, 10**15) * (1 + abs(should)):
                shown = ", ".join(f"{k} = {v}" for k, v in point.items())
                raise UserError(
                    f"the charts of {family.name!r} contradict each other at {p.name!r}",
                    where=family.path,
                    why=f"at {shown} it is given as {sp.N(given, 12)}; "
                    f"by the other charts it should be {sp.N(should, 12)}",
                    how="correct the one, or give one direction only",
                )


def _check_images(
    family: Family,
    start: tuple[Parameter, ...],
    end: tuple[Parameter, ...],
    chart: dict[Expr, Expr],
) -> None:
    """A chart must map interior points of one set of domains into the other's."""
    from blrgen.geometry.points import contains, parameter_points

    for point in parameter_points((*family.fixed, *start), 6):
        image = {p.symbol: sp.N(chart[p.symbol].subs(point), 30) for p in end}
        for p in end:
            if not contains(p.domain, image[p.symbol], {**point, **image}):
                shown = ", ".join(f"{k} = {v}" for k, v in point.items())
                raise UserError(
                    f"a chart of {family.name!r} leaves the domain of {p.name!r}",
                    where=family.path,
                    why=f"at {shown} it gives {p.name} = {sp.N(image[p.symbol], 6)}, "
                    f"outside {p.domain.text}",
                    how="correct the chart, or the domain of one of the two parameters",
                )


def _nonzero_at_a_point(gap: Expr) -> bool:
    """A numeric refutation; matrix charts are compared as words only."""
    if not gap.is_commutative or has_components(gap):
        return True
    names = sorted(gap.free_symbols, key=str)
    point = {x: sp.Rational(3 + 2 * i, 7 + i) for i, x in enumerate(names)}
    return bool(abs(sp.N(gap.subs(point), 30)) > sp.Rational(1, 10**20))
