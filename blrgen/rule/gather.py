"""Sums of matrices with one coefficient for each product, and letters for what is long in them.

    V⁻¹ − ρV⁻¹ + (2ρr/e)V⁻¹ − …  →  c V⁻¹,    c = 1 − ρ + (2ρ/e)(r − …),    e = …

A divisor that several terms share has a letter too.  Exact regroupings only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import trace
from blrgen.algebra.words import collect_words
from blrgen.rule.arrange import arrange, signed

Expr = Any
_LONG = 4  # operations up to which a coefficient is written where it stands
_SHORT = 2  # and a divisor
_MOST = 400  # operations of a coefficient that is not looked into


@dataclass(frozen=True)
class Gathered:
    """The expressions, each with the letters that it needs before it."""

    values: tuple[Expr, ...]
    before: tuple[tuple[tuple[Expr, Expr], ...], ...]  # (letter, value), one row an expression

    @property
    def named(self) -> tuple[tuple[Expr, Expr], ...]:
        """All letters, in the order in which they are needed."""
        return tuple(pair for row in self.before for pair in row)


class _Gathering:
    def __init__(self, known: Iterable[Expr], taken: set[str], coefficients: bool) -> None:
        self.known, self.taken, self.coefficients = list(known), set(taken), coefficients
        self.count: dict[Expr, int] = {}
        self.letters: dict[Expr, Expr] = {}
        self.row: list[tuple[Expr, Expr]] = []

    # reading -------------------------------------------------------------------------
    def sums(self, x: Expr) -> Expr:
        """The expression with every coefficient in as few terms as there are divisors."""
        if x.is_Pow and not x.is_commutative and x.base.is_Add:
            return self.sums(x.base) ** x.exp
        if x.is_commutative:
            return self.number(x)
        terms = []
        for word, c in collect_words(x).items():
            coefficient = self.number(c)
            if word and self.coefficients and self._long(coefficient):
                coefficient = self.letter(coefficient, "c")
            own = signed(coefficient) if coefficient.free_symbols <= set(self.known) else ()
            terms.append(sp.Mul(*(own or (coefficient,)), *word))
        return sp.Add(*terms)

    def number(self, c: Expr) -> Expr:
        """Terms of one divisor together, what they share taken out."""
        if sp.count_ops(c) > _MOST:
            return arrange(c, self.known)
        groups = by_divisor(c)
        done = [arrange(groups.pop(sp.S.One, sp.S.Zero), self.known)]
        for divisor, above in groups.items():
            short = self.count.get(divisor, 2) > 1 and sp.count_ops(divisor) > _SHORT
            below = self.letter(divisor, "det") if short else divisor
            done.append(_factored(above) / below)
        return sp.Add(*done)

    def _long(self, c: Expr) -> bool:
        return bool(c.is_Add and sp.count_ops(c) > _LONG and c.free_symbols - set(self.known))

    # letters -------------------------------------------------------------------------
    def letter(self, value: Expr, stem: str) -> Expr:
        """The symbol for a value, the same for the same."""
        if value not in self.letters:
            k, name = 1, stem
            while name in self.taken:
                k, name = k + 1, f"{stem}{k + 1}"
            self.taken.add(name)
            self.letters[value] = sp.Symbol(name, real=True)
            self.row.append((self.letters[value], value))
        return self.letters[value]


def gathered(
    expressions: Sequence[Expr], known: Iterable[Expr], taken: set[str], *, coefficients: bool
) -> Gathered:
    """The expressions gathered; `coefficients` says whether long ones get letters as well."""
    work = _Gathering(known, taken, coefficients)
    for x in expressions:
        for divisor in _divisors(x):
            work.count[divisor] = work.count.get(divisor, 0) + 1
    values, before = [], []
    for x in expressions:
        work.row = []
        values.append(work.sums(x))
        before.append(tuple(work.row))
    return Gathered(tuple(values), tuple(before))


def _divisors(x: Expr) -> list[Expr]:
    """The sums that coefficients of an expression are divided by, once a term."""
    base = x.base if x.is_Pow and not x.is_commutative else x
    coefficients = [base] if base.is_commutative else list(collect_words(base).values())
    found = []
    for c in coefficients:
        if sp.count_ops(c) <= _MOST:
            for term in sp.Add.make_args(sp.expand(c)):
                found += [d for d in [_split(term)[1]] if d != 1]
    return found


def by_divisor(c: Expr) -> dict[Expr, Expr]:
    """Divisor that is a sum (or 1) → what stands above it, in the order of the terms."""
    groups: dict[Expr, Expr] = {}
    for term in sp.Add.make_args(sp.expand(c)):
        above, divisor = _split(term)
        groups[divisor] = groups.get(divisor, sp.S.Zero) + above
    return groups


def _split(term: Expr) -> tuple[Expr, Expr]:
    """A term as (what is no sum in a divisor, the sums in it): 1/(2nd − n²f) by 2d − nf."""
    above, below = sp.S.One, sp.S.One
    for factor in sp.Mul.make_args(term):
        if not (factor.is_Pow and factor.exp.is_Integer and factor.exp < 0 and factor.base.is_Add):
            above *= factor
            continue
        outer, core = sp.factor_terms(factor.base).as_independent(sp.Add, as_Add=False)
        if not core.is_Add:
            outer, core = sp.S.One, factor.base
        if core.could_extract_minus_sign():
            outer, core = -outer, -core
        above *= outer**factor.exp
        below *= core**-factor.exp
    return above, below


def _factored(above: Expr) -> Expr:
    """What all terms share, taken out; traces are letters meanwhile."""
    held = sorted(above.atoms(trace), key=str)
    table = {f: sp.Dummy(f"f{i}") for i, f in enumerate(held)}
    back = {name: f for f, name in table.items()}
    return sp.factor_terms(above.xreplace(table)).xreplace(back)
