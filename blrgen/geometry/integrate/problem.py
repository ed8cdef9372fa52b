"""What a rule is given, ∫ or Σ of exp(exponent) over a support, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp

from blrgen.algebra.ring import Elementwise, Ring
from blrgen.core import Family, Support
from blrgen.geometry.integrate.terms import open_logs, split
from blrgen.geometry.points import sign_of

Expr = Any
_LETTERS = ("u", "v", "w", *(f"u{k}" for k in range(1, 30)))


@dataclass(frozen=True)
class Integral:
    """A and how it was found; `quadratic` = (c, b, P) when the exponent is one.

    `sampler` is the variable written in primitive draws (`draws`), when the rule knows how;
    of several variables `one_by_one` has each with its own, in those drawn before it.
    `conditions` are what must be positive all over the domain for the integral to be finite.
    """

    log_partition: Expr
    method: str
    because: str
    quadratic: tuple[Expr, Expr, Expr] | None = None
    sampler: Expr | None = None
    conditions: tuple[Expr, ...] = ()
    one_by_one: tuple[tuple[Expr, Expr], ...] = ()
    depth: int = 0  # changes of variable that were made

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
    limit: int = 0  # how many substitutions may be made

    def with_(self, **changes: Any) -> Problem:
        return replace(self, **changes)

    @cached_property
    def terms(self) -> dict[Expr, Expr]:
        """{f(x): coefficient} of the exponent; what is free of x stands under 1."""
        return _terms(self.with_(depth=0, limit=0))

    @property
    def exponent_opened(self) -> Expr:
        return sp.Add(*[c * f for f, c in self.terms.items()])

    @property
    def constant(self) -> Expr:
        return self.terms.get(sp.S.One, sp.S.Zero)

    @cached_property
    def coefficients(self) -> dict[Expr, Expr]:
        """The terms that depend on the variable."""
        return {f: c for f, c in self.terms.items() if f != 1}

    @property
    def ends(self) -> tuple[Expr, Expr]:
        return self.support.lower, self.support.upper

    @property
    def is_interval(self) -> bool:
        """A scalar variable between two ends, the whole line included."""
        scalar = isinstance(self.ring, Elementwise)
        return scalar and self.support.kind in ("interval", "vector")

    def sign(self, e: Expr) -> int | None:
        """The sign of an expression in parameters and the variable; None when it has none."""
        e = sp.sympify(e)
        if self.source is not None:
            e = e.subs(self.source, 0)
        return sign_of(e, self.family, self.variable, self.ends)

    @property
    def letter(self) -> str:
        """A name for a new variable, other than those in use."""
        known = (*self.family.natural, *self.family.fixed, *self.family.working)
        used = {self.variable.name, *(p.name for p in known)}
        return next(x for x in _LETTERS if x not in used)

    def moved(self, variable: Expr, ends: tuple[Expr, Expr], exponent: Expr) -> Problem:
        """The problem in another variable, between other ends, one substitution deeper."""
        support = Support("interval", (), *map(sp.sympify, ends))
        return self.with_(
            variable=variable, support=support, exponent=exponent, depth=self.depth + 1
        )

    def integrate(self) -> Integral | None:
        """The answer of the rules."""
        from blrgen.geometry.integrate.rules import integrate

        return integrate(self)


@lru_cache(maxsize=512)
def _terms(problem: Problem) -> dict[Expr, Expr]:
    """The terms; the same exponent comes back at every number of substitutions."""
    return split(open_logs(sp.expand(problem.exponent), problem.sign), problem.variable)


def said(e: Expr) -> str:
    """An expression for a reader: variables put in for others by their own letters."""
    return str(sp.sympify(e).xreplace({v: sp.Symbol(v.name) for v in e.atoms(sp.Dummy)}))


def exponent_of(family: Family, ring: Ring) -> Expr:
    """⟨λ, T(θ)⟩ + log h(θ)."""
    inner = [
        ring.inner(p.symbol, t) for p, t in zip(family.natural, family.statistics, strict=True)
    ]
    return sp.Add(*inner) + log_base(family)


def log_base(family: Family) -> Expr:
    """log h(θ), opened up where h is a product of powers and exponentials."""
    h = family.base_measure
    if h == 1:
        return sp.S.Zero
    if not family.elementwise or family.components is not None:
        return sp.expand_log(sp.log(h), force=True)
    return sp.Add(*[_log_factor(family, f) for f in sp.Mul.make_args(h)])


def _log_factor(family: Family, f: Expr) -> Expr:
    """k log b for bᵏ with a positive b, k log|b| for an even k."""
    if isinstance(f, sp.exp):
        return f.args[0]
    base, power = f.as_base_exp()
    if power == 1 or base is sp.E:
        return sp.log(f)
    support = family.support
    ends = None if support.lower is None else (support.lower, support.upper)
    sign = 1 if base.is_positive else sign_of(base, family, family.variable, ends)
    if sign in (1, -1):
        return power * sp.log(sign * base)
    return power * sp.log(sp.Abs(base)) if power.is_even else sp.log(f)
