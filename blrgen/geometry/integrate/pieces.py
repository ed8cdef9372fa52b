"""Absolute values: the integral in pieces between the points where they turn."""

from __future__ import annotations

from functools import cmp_to_key, partial
from typing import Any

import sympy as sp

from blrgen.geometry.integrate.exponents import log_sum
from blrgen.geometry.integrate.primitive import one_of
from blrgen.geometry.integrate.problem import Integral, Problem
from blrgen.geometry.integrate.terms import affine

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """log of the sum of the integrals over the pieces."""
    if not problem.is_interval or problem.depth >= problem.limit:
        return None
    turns = _turns(problem)
    if not turns:
        return None
    low, high = problem.ends
    found = []
    for a, b in zip([low, *turns], [*turns, high], strict=True):
        x = sp.Dummy(problem.variable.name, real=True)
        piece = problem.moved(x, (a, b), problem.exponent.subs(problem.variable, x))
        answer = piece.integrate()
        if answer is None:
            return None
        found.append(answer)
    at = ", ".join(map(str, turns))
    levels = [f.log_partition for f in found]
    return Integral(
        log_sum(levels, problem.sign),
        found[0].method,
        f"in pieces, cut at {at}; " + found[0].because,
        sampler=one_of(levels, [f.sampler for f in found]),
        conditions=tuple(dict.fromkeys(c for f in found for c in f.conditions)),
    )


def _order(problem: Problem, a: Expr, b: Expr) -> int:
    return problem.sign(a - b) or 0


def _turns(problem: Problem) -> list[Expr] | None:
    """Where |affine| turns inside the interval, in order; None when that is not decided."""
    low, high = problem.ends
    roots = set()
    for a in problem.exponent.atoms(sp.Abs):
        line = affine(a.args[0], problem.variable)
        if line is None:
            return None
        if line[1] != 0:
            root = sp.cancel(-line[0] / line[1])
            if problem.sign(root - low) == 1 and problem.sign(high - root) == 1:
                roots.add(root)
    ordered: list[Expr] = sorted(roots, key=sp.default_sort_key)
    if any(problem.sign(a - b) in (None, 0) for i, a in enumerate(ordered) for b in ordered[:i]):
        return None
    return sorted(ordered, key=cmp_to_key(partial(_order, problem)))
