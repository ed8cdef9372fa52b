"""log Σ exp of a few log-integrals, in the form that does not overflow."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.geometry.integrate.gammas import close
from blrgen.geometry.integrate.terms import Sign, open_logs

Expr = Any


def log_sum(levels: list[Expr], sign: Sign) -> Expr:
    """a₁ + log(1 + Σ exp(aₖ − a₁)), opened where the sum is a quotient."""
    first, *rest = levels
    total = 1 + sp.Add(*[sp.exp(close(sp.expand(a - first))) for a in rest])
    if total.is_rational_function(*total.free_symbols):
        return sp.expand(first + open_logs(sp.log(sp.cancel(total)), sign))
    return first + sp.log(total)


def tidy_numbers(e: Expr) -> Expr:
    """Logarithms of numbers in those of primes and constants: log 2 − log 4 is −log 2."""
    numbers: list[Expr] = []
    rest: list[Expr] = []
    for term in sp.Add.make_args(e):
        (numbers if term.is_number else rest).append(term)
    if len(numbers) < 2:
        return e
    opened = [sp.expand_log(t, force=True, factor=True) for t in numbers]
    return sp.Add(*rest, *opened)
