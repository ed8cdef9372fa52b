"""An exponent that is even about a centre: twice the integral over u = |x − c|."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.geometry.integrate.primitive import draw, fresh
from blrgen.geometry.integrate.problem import Integral, Problem, said
from blrgen.geometry.integrate.terms import affine, open_logs

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """log 2 + the integral from the centre on."""
    if not problem.is_interval or problem.depth >= problem.limit:
        return None
    x, high = problem.variable, problem.support.upper
    u = sp.Dummy(problem.letter, positive=True)
    for centre in _centres(problem):
        reach = sp.expand(high - centre) if high.is_finite else sp.oo
        half = problem.moved(u, (sp.S.Zero, reach), problem.exponent.subs(x, centre + u))
        right, left = (
            open_logs(sp.expand(problem.exponent.subs(x, centre + s * u)), half.sign)
            for s in (1, -1)
        )
        if sp.expand(right - left) != 0:
            continue
        found = half.integrate()
        if found is None:
            continue
        label = f"|{said(x)}|" if centre == 0 else f"|{said(x)} − {centre}|"
        return found.with_(
            log_partition=found.log_partition + sp.log(2),
            quadratic=None,
            because=f"even about {centre}: twice the integral over {u.name} = {label} > 0; "
            + found.because,
            sampler=None if found.sampler is None else _mirrored(found.sampler, centre),
        )
    return None


def _mirrored(sampler: Expr, centre: Expr) -> Expr:
    side = fresh(sampler, draw("uniform"))
    return centre + sp.Piecewise((sampler, side < sp.S.Half), (-sampler, True))


def _centres(problem: Problem) -> list[Expr]:
    """The middle of a finite interval; on the line where an absolute value turns, and 0."""
    low, high = problem.ends
    if low.is_finite and high.is_finite:
        return [sp.expand((low + high) / 2)]
    if low != -sp.oo or high != sp.oo:
        return []
    holders = sorted(problem.exponent.atoms(sp.Abs, sp.Pow), key=sp.default_sort_key)
    lines = [affine(h.args[0], problem.variable) for h in holders if h.has(problem.variable)]
    roots = [sp.cancel(-line[0] / line[1]) for line in lines if line and line[1] != 0]
    return list(dict.fromkeys([*roots, sp.S.Zero]))
