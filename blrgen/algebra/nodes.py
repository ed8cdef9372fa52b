"""Unevaluated functions that stand for what has no known closed form: A(λ) and E_q[f](λ).

What such a number is, its derivative and its value belong to the density it speaks of
(`blrgen.geometry.numbers.nodes`); that an expression holds one is all the algebra knows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import sympy as sp

Expr = Any


class Numeric(sp.Function):  # type: ignore[misc]
    """A number of a density at its arguments; `integrand` is None for the log-partition."""

    integrand: ClassVar[Expr]


def has_nodes(expr: Expr) -> bool:
    """Whether an expression holds what has no known closed form."""
    return bool(sp.sympify(expr).has(Numeric))
