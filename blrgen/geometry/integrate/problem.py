"""What a rule is given, ∫ or Σ of exp(exponent) over a support, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from blrgen.algebra.ring import Ring
from blrgen.core import Family, Support

Expr = Any


@dataclass(frozen=True)
class Integral:
    """A and how it was found; `quadratic` = (c, b, P) when the exponent is one.

    `sampler` is the variable written in primitive draws (`draws`), when the rule knows how.
    `conditions` are what must be positive all over the domain for the integral to be finite.
    """

    log_partition: Expr
    method: str
    because: str
    quadratic: tuple[Expr, Expr, Expr] | None = None
    sampler: Expr | None = None
    conditions: tuple[Expr, ...] = ()

    def with_(self, **changes: Any) -> Integral:
        return replace(self, **changes)


@dataclass(frozen=True)
class Problem:
    """log ∫ exp(exponent) d(variable) over the support; the family says what is positive.

    `source` is a symbol that is arbitrarily small: E_q[f] = ∂_s log ∫ exp(exponent + s f) at 0.
    `depth` counts the substitutions that led here.
    """

    family: Family
    exponent: Expr
    variable: Expr
    support: Support
    ring: Ring
    source: Expr | None = None
    depth: int = 0

    def with_(self, **changes: Any) -> Problem:
        return replace(self, **changes)


def exponent_of(family: Family, ring: Ring) -> Expr:
    """⟨λ, T(θ)⟩ + log h(θ)."""
    inner = [
        ring.inner(p.symbol, t) for p, t in zip(family.natural, family.statistics, strict=True)
    ]
    return sp.Add(*inner) + log_base(family)


def log_base(family: Family) -> Expr:
    """log h(θ), opened up where h is a product of powers and exponentials."""
    return sp.expand_log(sp.log(family.base_measure), force=True) if family.base_measure != 1 else 0
