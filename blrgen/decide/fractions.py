"""Rational functions in symbols and atoms, modulo the relations the atoms satisfy.

A `Workspace` is a polynomial ring over the rationals whose generators are handed
out one by one: to symbols, to atoms (an exponential, a power with a symbolic
exponent, any function of normalised arguments), to roots r with rᵠ = B, and to
indicators I = [f > 0] with I² = I and [f > 0][−f > 0] = 0.  Every relation holds
wherever the expressions are defined, so a numerator that reduces to zero proves
the equation; nothing rests on the relations being complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sympy import QQ
from sympy.polys.rings import ring

from blrgen.decide.budget import FACTOR, PRODUCT, Budget, TooLarge
from blrgen.decide.domain import REAL, Range, everywhere_positive, nonnegative, positive

Poly = Any
MAX_PRODUCT = 150_000  # pairs of terms multiplied at once
MAX_FACTOR_TERMS, MAX_FACTOR_DEGREE = 40, 14


class Unsupported(Exception):
    """No normal form for this expression."""


@dataclass(frozen=True)
class Frac:
    """num / Π dᵢ^eᵢ."""

    num: Poly
    den: Mapping[Poly, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Generator:
    """What a generator of the ring stands for."""

    kind: str  # symbol | atom | root | indicator
    range: Range
    head: str = ""
    args: tuple[Any, ...] = ()


class Workspace:
    """The ring, its generators and their relations, and arithmetic of fractions in it."""

    def __init__(self, size: int, budget: Budget) -> None:
        self.ring, *self.gens = ring([f"x{k}" for k in range(size)], QQ)
        self.one = Frac(self.ring.one)
        self.zero = Frac(self.ring.zero)
        self.info: list[Generator] = []
        self.budget = budget
        self.roots: dict[int, tuple[int, Poly]] = {}
        self.pairs: dict[tuple[int, int], int | None] = {}  # I_i I_j = I_k, or 0
        self.leads: dict[int, tuple[tuple[int, ...], Poly]] = {}  # f I₋ = f − f I₊, by leading term
        self._factors: dict[Poly, tuple[Any, tuple[tuple[Poly, int], ...]]] = {}
        self._signs: dict[Poly, int] = {}
        self._strict: dict[Poly, int] = {}

    # generators ---------------------------------------------------------------------
    def new(self, info: Generator) -> int:
        """The index of a fresh generator."""
        if len(self.info) == len(self.gens):
            raise IndexError("the ring is full")
        self.info.append(info)
        return len(self.info) - 1

    def gen(self, index: int) -> Frac:
        return Frac(self.gens[index])

    def index(self, poly: Poly) -> int | None:
        """Which generator a polynomial is, if it is one."""
        if len(poly) != 1:
            return None
        ((monomial, c),) = poly.items()
        return monomial.index(1) if c == 1 and sum(monomial) == 1 else None

    @property
    def ranges(self) -> list[Range]:
        return [g.range for g in self.info] + [REAL] * (len(self.gens) - len(self.info))

    # arithmetic ---------------------------------------------------------------------
    def constant(self, value: Any) -> Frac:
        return Frac(self.ring.ground_new(QQ(value.p, value.q)))

    def product(self, a: Poly, b: Poly) -> Poly:
        """A product, guarded, with the relations applied."""
        if len(a) * len(b) > MAX_PRODUCT:
            raise TooLarge
        self.budget.spend(PRODUCT + len(a) * len(b))
        return self.reduce(a * b)

    def power(self, a: Poly, n: int) -> Poly:
        if n and len(a) > 1 and (n > 64 or len(a) ** min(n, 8) > 10**9):
            raise TooLarge
        if n > 10**4:
            raise TooLarge
        out, square = self.ring.one, a
        while n:
            if n & 1:
                out = self.product(out, square)
            n >>= 1
            if n:
                square = self.product(square, square)
        return out

    def add(self, a: Frac, b: Frac) -> Frac:
        if not a.num:
            return b
        if not b.num:
            return a
        den = dict(a.den)
        for f, e in b.den.items():
            den[f] = max(e, den.get(f, 0))
        num = self._lift(a, den) + self._lift(b, den)
        return Frac(num, den) if num else self.zero

    def _lift(self, a: Frac, den: Mapping[Poly, int]) -> Poly:
        num = a.num
        for f, e in den.items():
            missing = e - a.den.get(f, 0)
            if missing:
                num = self.product(num, self.power(f, missing))
        return num

    def negative(self, a: Frac) -> Frac:
        return Frac(-a.num, a.den)

    def subtract(self, a: Frac, b: Frac) -> Frac:
        return self.add(a, self.negative(b))

    def multiply(self, a: Frac, b: Frac) -> Frac:
        num = self.product(a.num, b.num)
        if not num:
            return self.zero
        den = dict(a.den)
        for f, e in b.den.items():
            den[f] = den.get(f, 0) + e
        return self._drop_monomials(num, den)

    def _drop_monomials(self, num: Poly, den: dict[Poly, int]) -> Frac:
        """Cancel generators that divide numerator and denominator alike."""
        for f in [f for f in den if len(f) == 1]:
            k = self.index(f)
            if k is None:
                continue
            common = min(den[f], min(m[k] for m in num))
            if common:
                num = self.ring.from_dict(
                    {(*m[:k], m[k] - common, *m[k + 1 :]): c for m, c in num.items()}
                )
                den[f] -= common
        return Frac(num, {f: e for f, e in den.items() if e})

    def inverse(self, a: Frac) -> Frac:
        num = self.reduce(a.num)
        if not num:
            raise Unsupported("division by zero")
        den: dict[Poly, int] = {}
        least = tuple(min(column) for column in zip(*num.keys(), strict=True))
        for k, e in enumerate(least):
            if e:
                den[self.gens[k]] = e
        rest = self.ring.from_dict(
            {tuple(x - y for x, y in zip(m, least, strict=True)): c for m, c in num.items()}
        )
        lead = rest.LC
        rest = rest.quo_ground(lead)
        if rest != 1:
            den[rest] = 1
        top = self.ring.ground_new(1 / lead)
        for f, e in a.den.items():
            top = self.product(top, self.power(f, e))
        return self._drop_monomials(top, den)

    def integer_power(self, a: Frac, n: int) -> Frac:
        if n < 0:
            return self.integer_power(self.inverse(a), -n)
        num = self.power(a.num, n)
        return (
            self._drop_monomials(num, {f: e * n for f, e in a.den.items() if n})
            if num
            else self.zero
        )

    def is_zero(self, a: Frac) -> bool:
        return not self.reduce(a.num)

    def equal(self, a: Frac, b: Frac) -> bool:
        return self.is_zero(self.subtract(a, b))

    def canonical(self, a: Frac) -> tuple[Poly, Poly]:
        """Coprime numerator and denominator, the latter with leading coefficient 1."""
        den = self.ring.one
        for f, e in a.den.items():
            den = self.product(den, self.power(f, e))
        if not den:
            raise Unsupported("division by zero")
        if den == 1:
            return a.num, den
        if len(a.num) * len(den) > 4000:
            raise TooLarge
        num, den = a.num.cancel(den)
        return num.quo_ground(den.LC), den.quo_ground(den.LC)

    # relations ----------------------------------------------------------------------
    def reduce(self, p: Poly) -> Poly:
        """`p` modulo rᵠ = B, I² = I and the relations between indicators."""
        if not self.roots and not self.pairs:
            return p
        while True:
            plain: dict[Any, Any] = {}
            extra = None
            for m, c in p.items():
                reduced, factor = self._reduce_monomial(m)
                if reduced is None:
                    continue
                if factor is None:
                    plain[reduced] = plain.get(reduced, 0) + c
                else:
                    term = factor.mul_ground(c).mul_monom(reduced)
                    extra = term if extra is None else extra + term
            p = self.ring.from_dict({m: c for m, c in plain.items() if c})
            if extra is None:
                return p
            if len(extra) > MAX_PRODUCT:
                raise TooLarge
            self.budget.spend(PRODUCT * len(p))
            p = p + extra

    def _reduce_monomial(self, m: tuple[int, ...]) -> tuple[tuple[int, ...] | None, Poly | None]:
        factor = None
        for k, (q, base) in self.roots.items():
            if m[k] >= q:
                times, rest = divmod(m[k], q)
                m = (*m[:k], rest, *m[k + 1 :])
                power = base**times
                factor = power if factor is None else factor * power
        for (i, j), result in self.pairs.items():
            if m[i] and m[j]:
                if result is None:
                    return None, None
                if i == j:
                    m = (*m[:i], 1, *m[i + 1 :])
                else:
                    other = j if result == i else i
                    m = (*m[:other], 0, *m[other + 1 :])
        for j, (lead, replacement) in self.leads.items():
            if m[j] and all(x >= y for x, y in zip(m, lead, strict=True)):
                m = tuple(x - y for x, y in zip(m, lead, strict=True))
                return (*m[:j], 0, *m[j + 1 :]), (
                    replacement if factor is None else factor * replacement
                )
        return m, factor

    def complementary(self, f: Poly, plus: int, minus: int) -> None:
        """Record f (1 − [f > 0] − [−f > 0]) = 0, rewriting lead(f) [−f > 0]."""
        lead = f.LM
        rest = f - self.ring.from_dict({lead: f.LC})
        replacement = f - f * self.gens[plus] - rest * self.gens[minus]
        self.leads[minus] = (lead, replacement.quo_ground(f.LC))

    # signs --------------------------------------------------------------------------
    def sign(self, p: Poly) -> int:
        """1 where p > 0 inside the domains (so ≥ 0 at their ends) is proved, −1 where p < 0."""
        found = self._signs.get(p)
        if found is None:
            ranges = self.ranges
            found = 1 if positive(p, ranges) else -1 if positive(-p, ranges) else 0
            self._signs[p] = found
        return found

    def strict_sign(self, p: Poly) -> int:
        """As `sign`, at the ends that belong to the domains too."""
        found = self._strict.get(p)
        if found is None:
            ranges = self.ranges
            above, below = everywhere_positive(p, ranges), everywhere_positive(-p, ranges)
            self._strict[p] = found = 1 if above else -1 if below else 0
        return found

    def at_least_zero(self, p: Poly) -> bool:
        return not p or nonnegative(p, self.ranges)

    def sign_of(self, a: Frac, *, strict: bool = False) -> int:
        """The proved sign of a fraction, or 0; a denominator is not zero where it is defined."""
        out = (self.strict_sign if strict else self.sign)(a.num)
        for f, e in a.den.items():
            out *= self.sign(f) ** e if e % 2 or self.sign(f) else 0
        return out

    def factors(self, p: Poly) -> tuple[Any, tuple[tuple[Poly, int], ...]]:
        """`p` as a constant times powers of monic factors (not split when large)."""
        found = self._factors.get(p)
        if found is None:
            found = self._factors[p] = self._factor(p)
        return found

    def _factor(self, p: Poly) -> tuple[Any, tuple[tuple[Poly, int], ...]]:
        if len(p) == 1:
            ((m, c),) = p.items()
            return c, tuple((self.gens[k], e) for k, e in enumerate(m) if e)
        if len(p) > MAX_FACTOR_TERMS or max(sum(m) for m in p) > MAX_FACTOR_DEGREE:
            return p.LC, ((p.quo_ground(p.LC), 1),)
        self.budget.spend(FACTOR * len(p))
        constant, parts = p.factor_list()
        out = []
        for f, e in parts:
            constant *= f.LC**e
            out.append((f.quo_ground(f.LC), e))
        return constant, tuple(out)


def rational(value: Any) -> Fraction:
    """A ground element as a Python fraction."""
    return Fraction(int(value.numerator), int(value.denominator))
