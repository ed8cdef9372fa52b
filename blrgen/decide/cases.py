"""Max, Min, |x|, sign and Piecewise, opened into indicators [f > 0]."""

from __future__ import annotations

from functools import reduce as fold
from typing import Any

import sympy as sp

from blrgen.decide.budget import Budget, TooLarge
from blrgen.decide.domain import POSITIVE, REAL, UNIT
from blrgen.decide.fractions import Frac, Generator, Poly, Unsupported, Workspace

Expr = Any
MAX_CASES = 5  # indicators inside one argument


class Cases(Workspace):
    """A workspace that also reads what depends on signs."""

    def __init__(self, size: int, budget: Budget, large: int) -> None:
        super().__init__(size, budget)
        self.large = large
        self.letters: list[tuple[Frac, Frac]] = []
        self._indicators: dict[Poly, int] = {}

    def convert(self, e: Expr) -> Frac:
        raise NotImplementedError

    def _named(self, e: Expr, info: Generator) -> Frac:
        raise NotImplementedError

    # cases --------------------------------------------------------------------------
    def by_cases(self, function: Any, *args: Frac) -> Frac:
        """f(args), opened by cases where an argument contains indicators."""
        found = sorted({k for a in args for k in self._indicators_in(a)})
        if not found:
            return function(*args)  # type: ignore[no-any-return]
        if len(found) > MAX_CASES:
            raise TooLarge
        k = found[0]
        inside = self.gen(k)
        yes = self.by_cases(function, *[self._set(a, k, 1) for a in args])
        no = self.by_cases(function, *[self._set(a, k, 0) for a in args])
        return self.add(
            self.multiply(inside, yes), self.multiply(self.subtract(self.one, inside), no)
        )

    def _indicators_in(self, a: Frac) -> set[int]:
        flagged = {k for k, g in enumerate(self.info) if g.kind == "indicator"}
        return (
            {k for p in (a.num, *a.den) for m in p for k in flagged if m[k]} if flagged else set()
        )

    def _set(self, a: Frac, k: int, value: int) -> Frac:
        """The fraction with indicator k set, and those it decides with it."""
        out = a
        decided = {k: value}
        for (i, j), result in self.pairs.items():
            if i == j or k not in (i, j):
                continue
            other = j if k == i else i
            if value and result is None:
                decided[other] = 0
            elif value and result == k:
                decided[other] = 1  # k implies other
            elif not value and result == other:
                decided[other] = 0
        for index, v in decided.items():
            den = self.one
            for f, e in out.den.items():
                den = self.multiply(den, self.integer_power(Frac(f.subs(index, v)), e))
            out = self.multiply(Frac(self.ring(out.num.subs(index, v))), self.inverse(den))
        return out

    def positive_part(self, a: Frac, *, strict: bool = True) -> Frac:
        """The indicator [a > 0]; not strict where it multiplies a, so that a = 0 is no matter."""
        return self.by_cases(lambda x: self._positive_part(x, strict), a)

    def _positive_part(self, a: Frac, strict: bool) -> Frac:
        num, den = self.canonical(a)
        if not num:
            return self.zero
        sign = 1
        odd: list[Poly] = []
        even: list[Poly] = []
        for poly in (num, den):
            constant, parts = self.factors(poly)
            sign *= 1 if constant > 0 else -1
            for f, e in parts:
                known = self.sign(f) if poly is den or not strict else self.strict_sign(f)
                if known:
                    sign *= known**e
                else:
                    (odd if e % 2 else even).append(f)
        plus, minus = (self.one, self.zero) if sign > 0 else (self.zero, self.one)
        for f in odd:
            up, down = self._indicator_of(f), self._indicator_of(-f)
            plus, minus = (
                self.add(self.multiply(plus, up), self.multiply(minus, down)),
                self.add(self.multiply(plus, down), self.multiply(minus, up)),
            )
        for f in even:
            nonzero = self.add(self._indicator_of(f), self._indicator_of(-f))
            plus = self.multiply(plus, nonzero)
        return plus

    def _indicator_of(self, f: Poly) -> Frac:
        return self.zero if self.at_least_zero(-f) else self.gen(self._indicator(f))

    def _indicator(self, f: Poly) -> int:
        if f not in self._indicators:
            k = self.new(Generator("indicator", UNIT))
            self.pairs[(k, k)] = k
            for h, j in self._indicators.items():
                if self.at_least_zero(-f - h):
                    self.pairs[(j, k)] = None  # not both positive
                elif self.at_least_zero(f - h):
                    self.pairs[(j, k)] = j  # h > 0 implies f > 0
                elif self.at_least_zero(h - f):
                    self.pairs[(j, k)] = k
            self._indicators[f] = k
            if -f in self._indicators:
                self.complementary(f, self._indicators[-f], k)
        return self._indicators[f]

    def sign_function(self, a: Frac, *, strict: bool = True) -> Frac:
        """[a > 0] − [a < 0]."""
        above = self.positive_part(a, strict=strict)
        return self.subtract(above, self.positive_part(self.negative(a), strict=strict))

    def absolute(self, a: Frac) -> Frac:
        return self.multiply(a, self.sign_function(a, strict=False))

    def _larger(self, a: Frac, b: Frac) -> Frac:
        if self._indicators_in(a) and not self._indicators_in(b):
            a, b = b, a  # either order is as good, and one clip in another then reads the same
        difference = self.subtract(a, b)
        return self.add(b, self.multiply(difference, self.positive_part(difference, strict=False)))

    def _letter(self, e: Expr) -> Frac:
        """A large argument as a letter, the same for arguments proved equal.

        Equal for every value of the letter is equal for the argument's.
        """
        a = self.convert(e)
        if len(a.num) + sum(len(f) for f in a.den) <= self.large or self._indicators_in(a):
            return a
        for known, letter in self.letters:
            if self.equal(known, a):
                return letter
            if self.is_zero(self.add(known, a)):
                return self.negative(letter)
        values = POSITIVE if self.sign_of(a) > 0 else REAL
        letter = self.gen(self.new(Generator("atom", values, "letter", (len(self.letters),))))
        self.letters.append((a, letter))
        return letter

    def _f_abs(self, x: Expr) -> Frac:
        return self.absolute(self._letter(x))

    def _f_sign(self, x: Expr) -> Frac:
        return self.sign_function(self._letter(x))

    def _f_max(self, *args: Expr) -> Frac:
        return fold(self._larger, map(self._letter, args))

    def _f_min(self, *args: Expr) -> Frac:
        return self.negative(fold(self._larger, [self.negative(self._letter(a)) for a in args]))

    _f_larger, _f_smaller = _f_max, _f_min

    def _piecewise(self, e: Expr) -> Frac:
        if e.args[-1][1] != sp.true:
            return self._named(e, Generator("atom", REAL))
        out, left = self.zero, self.one
        for branch, condition in e.args:
            here = self.multiply(left, self.condition(condition))
            if here.num:
                out = self.add(out, self.multiply(here, self._letter(branch)))
            left = self.subtract(left, here)
        return out

    def condition(self, c: Expr) -> Frac:
        """The indicator of a condition."""
        if c in (sp.true, sp.false):
            return self.one if c == sp.true else self.zero
        if isinstance(c, sp.And):
            return fold(self.multiply, map(self.condition, c.args))
        if isinstance(c, sp.Not):
            return self.subtract(self.one, self.condition(c.args[0]))
        if isinstance(c, sp.Or):
            none = [self.subtract(self.one, self.condition(a)) for a in c.args]
            return self.subtract(self.one, fold(self.multiply, none))
        if not c.is_Relational:
            raise Unsupported(f"condition {c}")
        difference = self.subtract(self._letter(c.args[0]), self._letter(c.args[1]))
        above = self.positive_part(difference)
        below = self.positive_part(self.negative(difference))
        return {
            ">": above, "<": below, "!=": self.add(above, below),
            ">=": self.subtract(self.one, below), "<=": self.subtract(self.one, above),
            "==": self.subtract(self.one, self.add(above, below)),
        }[c.rel_op]  # fmt: skip
