"""Sums and integrals of a declared density to thirty digits, written apart from the engine's own.

Only the declaration enters: T, h and the support.  An interval is cut where an absolute
value turns and where the density is highest; each piece is measured from its outer end, so
that x = end ± y is put into the formulas before they become numbers, and is summed by the
double exponential rule in y until two step sizes agree to 1e-12: the finer is then right to
about twice as many digits.  Sums over integers end where their terms do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family

Expr = Any
Number = Any
DIGITS, DEEP = 30, 75  # a term below e^-75 of the highest is left out
_Y = sp.Symbol("y", positive=True)


@dataclass(frozen=True)
class Mass:
    """log of the mass, and under the normalised density: means, covariances, entropy."""

    log_mass: Number
    mean: list[Number]
    covariance: list[list[Number]]
    entropy: Number
    with_log_q: list[Number]  # Cov(T_i, log q)
    log_mean: Callable[[Any], Number]  # E_q[f] of a function of (T values, log h)


def mass_of(family: Family, point: Mapping[Expr, Any]) -> Mass:
    """The density of a scalar variable at natural parameters and constants."""
    known = {x: sp.nsimplify(v) if isinstance(v, float) else sp.sympify(v)
             for x, v in point.items()}  # fmt: skip
    natural = [known[p.symbol] for p in family.natural]
    with mpmath.workdps(DIGITS):
        rows = [row for piece in _pieces(family, known, natural) for row in piece]
        top = max(level for level, *_ in rows)
        weights = [mpmath.exp(level - top) for level, *_ in rows]
        total = mpmath.fsum(weights)
        shares = [w / total for w in weights]
        log_mass = top + mpmath.log(total)

        def mean(values: Any) -> Number:
            return mpmath.fsum(s * v for s, v in zip(shares, values, strict=True))

        count = len(natural)
        t = [[row[1][i] for row in rows] for i in range(count)]
        log_h = [row[2] for row in rows]
        mu = [mean(column) for column in t]
        apart = [[v - m for v in column] for column, m in zip(t, mu, strict=True)]
        covariance = [[mean(a * b for a, b in zip(x, y, strict=True)) for y in apart]
                      for x in apart]  # fmt: skip
        lam = [_number(x) for x in natural]
        exponent = [h + mpmath.fdot(lam, [c[k] for c in t]) for k, h in enumerate(log_h)]
        average = mean(exponent)
        with_log_q = [mean(a * (e - average) for a, e in zip(x, exponent, strict=True))
                      for x in apart]  # fmt: skip
        return Mass(log_mass, mu, covariance, log_mass - average, with_log_q, mean)


def _number(e: Expr) -> Number:
    return mpmath.mpf(sp.Float(sp.N(e, DIGITS), DIGITS)._mpf_)


Row = tuple[Number, list[Number], Number]  # log of weight × density, T, log h


def _pieces(family: Family, known: dict[Expr, Expr], natural: list[Expr]) -> list[list[Row]]:
    support = family.support
    x = family.variable
    low, high = (sp.sympify(e).subs(known) if e is not None else None
                 for e in (support.lower, support.upper))  # fmt: skip
    if support.kind in ("finite", "integers"):
        at = _functions(family, known, natural, x, x)
        points = support.points if support.kind == "finite" else None
        return [_finite(points, at) if points else _sum(low, high, at)]
    if support.kind == "vector":
        low, high = -sp.oo, sp.oo
    cuts = _cuts(family, known, natural, low, high)
    ends = [low, *cuts, high]
    found = []
    for a, b in pairwise(ends):
        # measured from the outer end: where a density may be singular
        from_right = a in cuts and b.is_finite
        start, sign = (b, -1) if from_right else ((a, 1) if a.is_finite else (b, -1))
        length = sp.oo if a.is_infinite or b.is_infinite else b - a
        at = _functions(family, known, natural, start + sign * _Y, _Y)
        found.append(_piece(at, length))
    return found


def _functions(
    family: Family, known: dict[Expr, Expr], natural: list[Expr], x: Expr, argument: Expr
) -> Callable[[Any], Row]:
    statistics = [sp.sympify(t).subs(known).subs(family.variable, x) for t in family.statistics]
    h = sp.sympify(family.base_measure).subs(known).subs(family.variable, x)
    log_h = sp.expand_log(sp.log(h), force=True)
    level = sp.Add(log_h, *[lam * t for lam, t in zip(natural, statistics, strict=True)])
    f = sp.lambdify(argument, [level, *statistics, log_h], modules="mpmath", cse=True)

    def row(y: Any) -> Row:
        values = [mpmath.mpmathify(v) for v in f(y)]
        values = [v.real if isinstance(v, mpmath.mpc) else v for v in values]
        return values[0], values[1:-1], values[-1]

    return row


def _finite(points: Any, at: Callable[[Any], Row]) -> list[Row]:
    return [at(mpmath.mpf(int(p.p)) / int(p.q)) for p in points]


def _sum(low: Expr, high: Expr, at: Callable[[Any], Row]) -> list[Row]:
    """Upwards from the first term, or both ways from 0, until terms are far below the top."""
    rows: list[Row] = []
    top = -mpmath.inf
    ways = [(int(low), 1)] if low.is_finite else [(0, 1), (-1, -1)]
    for k, step in ways:
        before = -mpmath.inf
        while not high.is_finite or k <= high:
            row = at(mpmath.mpf(k))
            rows.append(row)
            top = max(top, row[0])
            if row[0] < before and row[0] < top - DEEP:
                break
            before, k = row[0], k + step
    return rows


def _cuts(
    family: Family, known: dict[Expr, Expr], natural: list[Expr], low: Expr, high: Expr
) -> list[Expr]:
    """Where |affine| turns, and where the density is highest."""
    x = family.variable
    turns = [sp.solve(a.args[0].subs(known), x) for t in (*family.statistics, family.base_measure)
             for a in sorted(sp.sympify(t).atoms(sp.Abs), key=str)]  # fmt: skip
    at = _functions(family, known, natural, x, x)
    middle = sp.S.Zero if low.is_infinite and high.is_infinite else None

    def place(u: float) -> Any:
        """x by a coordinate on the whole line, and log dx/du."""
        if middle is not None:
            return mpmath.sinh(u), mpmath.log(mpmath.cosh(u))
        if high.is_infinite or low.is_infinite:
            end, sign = (low, 1) if high.is_infinite else (high, -1)
            return _number(end) + sign * mpmath.exp(u), u
        width = _number(high - low)
        s = 1 / (1 + mpmath.exp(-u))
        return _number(low) + width * s, mpmath.log(s * (1 - s))

    def height(u: float) -> Any:
        where, slope = place(u)
        return at(where)[0] + slope

    grid = [mpmath.mpf(k) / 4 for k in range(-80, 81)]
    best = max(grid, key=height)
    a, b = best - 0.25, best + 0.25
    for _ in range(60):
        c, d = a + (b - a) / 3, b - (b - a) / 3
        a, b = (a, d) if height(c) > height(d) else (c, b)
    peak = sp.Rational(mpmath.nstr(place((a + b) / 2)[0], 20))
    inner = {r for found in turns for r in found if low < r < high} | {peak}
    return sorted(inner)


def _piece(at: Callable[[Any], Row], length: Expr) -> list[Row]:
    """∫₀^L by y = L/(1 + e^−2u) or y = e^2u, u = ½π sinh t."""
    whole = length.is_infinite
    size = None if whole else _number(length)

    def node(t: Any) -> Row:
        u = mpmath.pi / 2 * mpmath.sinh(t)
        slope = mpmath.log(mpmath.pi * mpmath.cosh(t))
        if whole:
            y, log_y = mpmath.exp(2 * u), 2 * u
        else:
            s = 1 / (1 + mpmath.exp(-2 * u))
            y, log_y = size * s, mpmath.log(size * s / (1 + mpmath.exp(2 * u)))
        level, statistics, log_h = at(y)
        return level + slope + log_y, statistics, log_h

    rough = [(mpmath.mpf(k) / 8, node(mpmath.mpf(k) / 8)) for k in range(-60, 61)]
    top = max(row[0] for _, row in rough)
    kept = [t for t, row in rough if row[0] > top - DEEP - 15]
    low, high = min(kept) - mpmath.mpf(1) / 8, max(kept) + mpmath.mpf(1) / 8
    step, rows = mpmath.mpf(1) / 8, [row for t, row in rough if low <= t <= high]
    before = None
    for _ in range(8):
        total = mpmath.fsum(mpmath.exp(r[0] - top) for r in rows) * step
        second = mpmath.fsum(mpmath.exp(r[0] - top) * mpmath.fdot(r[1], r[1]) for r in rows) * step
        if before is not None and all(
            abs(x - y) <= mpmath.mpf(10) ** -12 * abs(x)
            for x, y in zip((total, second), before, strict=True)
        ):
            break
        before = (total, second)
        count = round((high - low) / step)
        rows += [node(low + step * (k + mpmath.mpf(1) / 2)) for k in range(count)]
        step /= 2
    log_step = mpmath.log(step)
    return [(level + log_step, t, h) for level, t, h in rows]
