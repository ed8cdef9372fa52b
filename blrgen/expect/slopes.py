"""Slopes of E_q[ℓ] by first-order identities, by scores where there are none, mapped to ∇_μ."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient as slope_of
from blrgen.algebra.ring import Matrix
from blrgen.expect.base_measure import LogBase
from blrgen.expect.expectation import Expectation
from blrgen.expect.gaps import solved_in_gaps
from blrgen.expect.metric import long_metric, solve_metric
from blrgen.expect.moments import Split
from blrgen.expect.operators import Operator, find_operators
from blrgen.expect.probes import Subject, fresh, score_probes, weighted_probe
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import log_base

Expr = Any


def operators_of(
    geometry: Geometry, base: LogBase
) -> tuple[tuple[Operator, ...], tuple[Expr, ...]]:
    """The identities and the coordinates they are in: working ones where all have one."""
    family = geometry.family
    log_h = sp.sympify(log_base(family))
    if family.working:
        charts = (geometry.natural_of_working, geometry.working_of_natural)
        found = find_operators(family, charts, geometry.working, log_h)
        if len(found) == len(geometry.working):
            return found, geometry.working
    same = {x: x for x in geometry.natural}
    return find_operators(family, (same, {}), geometry.natural, log_h), geometry.natural


def assembled(
    geometry: Geometry,
    base: LogBase,
    parts: Split | None,
    operators: tuple[Operator, ...],
    coordinates: tuple[Expr, ...],
    reason: str,
) -> Expectation:
    """Slopes in the coordinates, from identities and scores, mapped by the metric."""
    subject = Subject(parts.rest if parts is not None else None, base.case == "open")
    coordinates = coordinates or geometry.natural
    served = {o.parameter: o for o in operators}
    functions = list(dict.fromkeys(f for o in operators for _, f in o.terms))
    names = dict(zip(functions, fresh(geometry.family, "g", len(functions)), strict=True))
    weighted = [
        weighted_probe(geometry.family, names[f], f, subject, difference=operators[0].difference)
        for f in functions
    ]
    scored = [i for i, x in enumerate(coordinates) if x not in served]
    scores = score_probes(geometry, subject, scored)
    symbol = {p.weight: p.symbol for p in weighted}
    slopes = {coordinates[i]: p.symbol for i, p in zip(scored, scores, strict=True)}
    for x, o in served.items():
        moved = sp.Add(*[c * symbol[f] for c, f in o.terms])
        slopes[x] = moved - sp.Add(*[a * slopes[y] for y, a in o.along])
    solved, metric = _mapped(geometry, [slopes[x] for x in coordinates], coordinates)
    exact = closed_gradient(geometry, parts)
    gradient = tuple(geometry.to_working(a + b) for a, b in zip(exact, solved, strict=True))
    route, because = _described(geometry, operators, scored, reason)
    if parts is not None and (parts.closed != 0 or any(parts.coefficients)):
        because += "; the part of the loss with a closed expectation enters exactly"
    return Expectation(
        route,
        because,
        (*weighted, *scores),
        gradient,
        (),
        operators=operators,
        split=parts,
        base=base,
        metric=tuple((s, x.xreplace(geometry.natural_of_working)) for s, x in metric.items()),
    )


def _mapped(
    geometry: Geometry, slopes: list[Expr], coordinates: tuple[Expr, ...]
) -> tuple[tuple[Expr, ...], dict[Expr, Expr]]:
    """∇_μ from slopes in the coordinates, and letters for the metric's entries where it is long."""
    metric = long_metric(geometry) if coordinates == geometry.natural else {}
    if metric:
        return solve_metric(geometry, metric, slopes)
    return _solved(geometry, slopes, coordinates), metric


def _solved(
    geometry: Geometry, slopes: list[Expr], coordinates: tuple[Expr, ...]
) -> tuple[Expr, ...]:
    """∇_μ from slopes in the coordinates; of matrices and joint variables in working ones.

    There the metric is sparser: ∇_ψ = ∇_ψ Σ⟨r_i, λ_i(ψ)⟩ for slopes r = ∇_λ.
    """
    family, ring = geometry.family, geometry.ring
    if not family.working and coordinates == geometry.natural and isinstance(ring, Matrix):
        solved = solved_in_gaps(geometry, slopes)
        if solved is not None:
            return solved
    if coordinates == geometry.working:
        return geometry.solve_dual(slopes, geometry.mean_in_working, coordinates)
    if not family.working or not (isinstance(ring, Matrix) or family.joint):
        return geometry.solve_dual(slopes, geometry.mean, coordinates)
    carried = sp.Add(*[
        ring.inner(r, geometry.natural_of_working[x])
        for r, x in zip(slopes, geometry.natural, strict=True)
    ])  # fmt: skip
    moved = [ring.tidy(slope_of(carried, x)) for x in geometry.working]
    return geometry.solve_dual(moved, geometry.mean_in_working, geometry.working)


def _described(
    geometry: Geometry, operators: tuple[Operator, ...], scored: list[int], reason: str
) -> tuple[str, str]:
    if not operators:
        return "score", f"no identity ({reason}): the score function always holds"
    kind = "difference" if operators[0].difference else "differential"
    if not scored:
        counts = operators[0].difference
        moved = "differences, ∂q = −∇ₖ(p q)," if counts else "derivatives, ∂q = −∂ₓ(p q),"
        return (
            "identities",
            f"each ∂q is found as one of {moved} so that parts are integrated onto ℓ",
        )
    from blrgen.text.expression import unicode

    rest = " and ".join(unicode(geometry.natural[i]) for i in scored)
    return (
        "identities and score",
        f"no {kind} identity for {rest}, where the score function stands in; "
        "∇_λ = F∇_μ, solved for ∇_μ",
    )


def closed_gradient(geometry: Geometry, parts: Split | None) -> tuple[Expr, ...]:
    """∇_μ of the part of the loss that has a closed expectation."""
    if parts is None:
        return tuple(sp.S.Zero for _ in geometry.natural)
    extra = geometry.mean_gradient_of(parts.expected)
    return tuple(c + e for c, e in zip(parts.coefficients, extra, strict=True))
