"""∇_μ E_q[ℓ] on a finite support: a mean of slopes, with weights that add up to one.

F∇_μ = ∇_λ is weighted least squares, the regression of ℓ on T under q.  By the formula of
Cauchy and Binet its solution is a mean of exact ones: with n statistics every n + 1 points S
fix an affine function of T through their losses, whose slope Y_S counts with

    ω_S ∝ D_S² ∏_{k∈S} q(θ_k),     D_S the determinant of (1, T) on S.

The weights are written as ω_S = 1/Σ_R exp(b_R − b_S), which is right however sure q is of one
point: F itself is zero there to working precision.  Where there are many S the probabilities
have letters, and the entries of F and of ∇_λ are sums over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import sympy as sp

from blrgen.expect.metric import metric_letters, solve_metric
from blrgen.geometry.geometry import Geometry

Expr = Any
_MOST = 6  # choices of points up to which every one has a weight


def mean_of_slopes(
    geometry: Geometry, points: Sequence[Expr], levels: Sequence[Expr], losses: Sequence[Expr]
) -> tuple[tuple[Expr, ...], dict[Expr, Expr]] | None:
    """(∇_μ, {weight: ω_S}) with levels log q(θ_k) + constant; None where there are too many."""
    n = len(geometry.natural)
    if comb(len(points), n + 1) > _MOST:
        return None
    stem = _stem(geometry, ("w", "W", "w_"))
    if stem is None:
        return None
    variable = geometry.family.variable
    rows = [
        [sp.S.One, *(_number(t.subs(variable, p)) for t in geometry.family.statistics)]
        for p in points
    ]
    size: dict[Expr, Expr] = {}  # weight → D_S² exp(b_S)
    slopes: dict[Expr, Expr] = {}
    for chosen in combinations(range(len(points)), n + 1):
        table = sp.Matrix([rows[k] for k in chosen])
        volume = table.det()
        if volume == 0:
            continue
        name = sp.Symbol(stem + "".join(str(k + 1) for k in chosen), real=True)
        size[name] = volume**2 * sp.exp(sp.expand(sp.Add(*[levels[k] for k in chosen])))
        slopes[name] = table.inv() * sp.Matrix([losses[k] for k in chosen])
    total = {w: sp.Add(*[_ratio(other, own) for other in size.values()]) for w, own in size.items()}
    gradient = tuple(
        sp.expand(sp.Add(*[w * y[i] for w, y in slopes.items()])) for i in range(1, n + 1)
    )
    return gradient, {w: 1 / value for w, value in total.items()}


def _number(value: Expr) -> Expr:
    """log 8 as 3 log 2: what is proportional is seen to be."""
    return sp.expand_log(value, force=True, factor=True)


def _ratio(above: Expr, below: Expr) -> Expr:
    """c exp(a)/(d exp(b)) as (c/d) exp(a − b)."""
    return sp.powsimp(above / below, combine="exp")


def by_probabilities(
    geometry: Geometry, points: Sequence[Expr], levels: Sequence[Expr], losses: Sequence[Expr]
) -> tuple[tuple[Expr, ...], dict[Expr, Expr]] | None:
    """(∇_μ, letters): q(θ_k) and E[T] have letters, F and ∇_λ = Cov(T, ℓ) are sums over them."""
    stem, mean = _stem(geometry, ("q", "Q", "q_")), _stem(geometry, ("t", "u", "t_"))
    if stem is None or mean is None:
        return None
    variable, statistics = geometry.family.variable, geometry.family.statistics
    named: dict[Expr, Expr] = {}
    weights = [sp.Symbol(f"{stem}{k + 1}", real=True) for k in range(len(points))]
    for name, own in zip(weights, levels, strict=True):
        named[name] = 1 / sp.Add(*[sp.exp(sp.expand(other - own)) for other in levels])
    rows = []
    for i, t in enumerate(statistics, 1):
        values = [_number(t.subs(variable, p)) for p in points]
        centre = sp.Symbol(f"{mean}{i}", real=True)
        named[centre] = sp.Add(*[w * v for w, v in zip(weights, values, strict=True)])
        rows.append([v - centre for v in values])

    def covariance(left: Sequence[Expr], right: Sequence[Expr]) -> Expr:
        return sp.Add(*[w * a * b for w, a, b in zip(weights, left, right, strict=True)])

    letters = metric_letters(geometry)
    pairs = [(i, j) for i in range(len(rows)) for j in range(i, len(rows))]
    fisher = {x: covariance(rows[i], rows[j]) for x, (i, j) in zip(letters, pairs, strict=True)}
    slopes = [covariance(row, losses) for row in rows]
    solved, metric = solve_metric(geometry, fisher, slopes)
    return solved, {**named, **metric}


def _stem(geometry: Geometry, letters: Sequence[str]) -> str | None:
    """A letter that no parameter begins with."""
    family = geometry.family
    taken = [p.name for p in (*family.natural, *family.working, *family.fixed)]
    free = (s for s in letters if not any(t.startswith(s) for t in taken))
    return next(free, None)
