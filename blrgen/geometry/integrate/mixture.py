"""A density whose base measure is a sum: ∫ (h₁ + h₂) e^f = ∫ h₁ e^f + ∫ h₂ e^f."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.geometry.integrate.exponents import log_sum
from blrgen.geometry.integrate.primitive import one_of
from blrgen.geometry.integrate.problem import Integral, Problem

Expr = Any
_TERMS = 8


def integrate(problem: Problem) -> Integral | None:
    """The logarithm of a sum with a small whole coefficient, opened into its terms."""
    if problem.depth >= problem.limit or problem.support.kind not in (
        "interval", "vector", "integers",
    ) or not problem.ring.elementwise:  # fmt: skip
        return None
    for f, c in problem.coefficients.items():
        if not isinstance(f, sp.log) or c.is_Integer is not True or not 0 < c <= 4:
            continue
        parts = sp.Add.make_args(sp.expand(f.args[0] ** c))
        if not 1 < len(parts) <= _TERMS or any(problem.sign(p) != 1 for p in parts):
            continue
        rest = sp.Add(*[k * g for g, k in problem.terms.items() if g != f])
        found = [problem.with_(exponent=rest + sp.log(p), depth=problem.depth + 1).integrate()
                 for p in parts]  # fmt: skip
        if all(a is not None for a in found):
            return _together([a for a in found if a is not None], problem)
    return None


def _together(found: list[Integral], problem: Problem) -> Integral:
    levels = [a.log_partition for a in found]
    return Integral(
        log_sum(levels, problem.sign),
        found[0].method,
        "the base measure is a sum, and so is its integral; " + found[0].because,
        sampler=one_of(levels, [a.sampler for a in found]),
        conditions=tuple(dict.fromkeys(c for a in found for c in a.conditions)),
    )
