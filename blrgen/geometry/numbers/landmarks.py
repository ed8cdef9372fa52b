"""Places that a formula names: where a spike can stand that no grid would meet.

A polynomial in x inside a statistic or the base measure, or one in log x or in an
exponential of x, has its extremes and poles near the real parts of the roots of p and p′:
3 for exp(−10¹²(x − 3)²) and for 1/(1 + 10¹²(x − 3)²) alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from blrgen.core import Family
from blrgen.geometry.numbers.branch import CENTRE, Branch, number

Expr = Any
_G = sp.Dummy("g", real=True)
_HIGHEST, _MOST = 24, 40  # degrees, places


@lru_cache(maxsize=128)
def _polynomials(family: Family) -> tuple[tuple[Expr, tuple[Expr, ...]], ...]:
    """(g, coefficients in g, the highest first) of the largest parts; g is x or has x in it."""
    x = family.variable
    found: dict[tuple[Expr, tuple[Expr, ...]], None] = {}
    for e in (*family.statistics, family.base_measure):
        pending = [sp.sympify(e)]
        while pending:
            part = pending.pop()
            if not part.args or not part.has(x):
                continue
            made = _as_polynomial(part, x)
            if made is None:
                pending += part.args
            elif len(made[1]) > 2:
                found[made] = None
    return tuple(found)


def _as_polynomial(e: Expr, x: Expr) -> tuple[Expr, tuple[Expr, ...]] | None:
    inner = sorted((f for f in e.atoms(sp.log, sp.exp) if f.has(x)), key=str)
    generators = [x] if not inner else inner if len(inner) == 1 else []
    for g in generators:
        if g is not x and _place(g, x, 1.0) is None:
            continue
        within = e.subs(g, _G)
        if within.has(x) or not within.is_polynomial(_G):
            continue
        if sp.degree(within, _G) <= _HIGHEST:
            return g, tuple(sp.Poly(within, _G).all_coeffs())
    return None


def _place(g: Expr, x: Expr, value: float) -> float | None:
    """x where g has that value; None where it has it nowhere, or g is not log or exp of c·x."""
    if g is x:
        return value
    inside = g.args[0]
    slope = inside.coeff(x, 1)
    if not slope.is_number or inside != slope * x or not slope:
        return None
    with np.errstate(all="ignore"):
        back = np.exp(value) if isinstance(g, sp.log) else np.log(value)
    return float(back / float(slope))


def landmarks(family: Family, point: Mapping[Expr, Any]) -> list[float]:
    """The places inside the declaration's formulas at values of its constants, in order."""
    from blrgen.value.evaluate import Undefined, evaluate

    found: set[float] = set()
    for g, coefficients in _polynomials(family):
        try:
            numbers = [float(evaluate(c, dict(point))) for c in coefficients]
            with np.errstate(all="ignore"):
                roots = [*np.roots(numbers), *np.roots(np.polyder(numbers))]
        except (Undefined, OverflowError, TypeError, ValueError, np.linalg.LinAlgError):
            continue
        places = [_place(g, family.variable, float(r.real)) for r in roots]
        found |= {p for p in places if p is not None and np.isfinite(p)}
    return sorted(found)[:_MOST]


def on_branch(family: Family, branch: Branch, point: Mapping[Expr, Any]) -> list[float]:
    """The same places as u of a branch, those that are on it."""
    places = landmarks(family, point)
    if not places or not branch.sign:
        return places
    end = float(branch.centre if branch.end is CENTRE else number(branch.end, dict(point)))
    away = [branch.sign * (c - end) for c in places]
    found = [math.log(d) for d in away if d > 0]
    return [u for u in found if branch.top is None or u < branch.top]
