"""From SymPy expressions to fractions in a workspace: atoms, roots and cases."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce as fold
from typing import Any

import sympy as sp

from blrgen.decide.budget import READ, UNITS, Budget, TooLarge
from blrgen.decide.cases import Cases
from blrgen.decide.domain import POSITIVE, REAL, Range, range_of
from blrgen.decide.fractions import (
    Frac,
    Generator,
    Poly,
    Unsupported,
    rational,
)

Expr = Any
MAX_EXPONENT_TERMS = 30
UNLIMITED = 10**9
LARGE = 12  # terms of an argument of Max, Min, … that is given a letter of its own


def identical(left: Expr, right: Expr, domains: Mapping[Expr, str], units: float = UNITS) -> bool:
    """Whether left − right is zero in the normal form; raises TooLarge or Unsupported."""
    budget = Budget(units)
    size = _size(left) + _size(right)
    large = LARGE
    while True:
        try:
            reader = Normaliser(domains, size, budget, large)
            if reader.equal(reader.convert(left), reader.convert(right)):
                return True
            if not reader.letters:
                return False
            large = UNLIMITED
        except IndexError:
            size *= 2
            if size > 200:
                raise TooLarge from None


def _size(e: Expr) -> int:
    special = sum(
        1 for node in sp.preorder_traversal(e) if node.args and not _is_rational_node(node)
    )
    return len(e.free_symbols) + min(2 * special, 40) + 4


def _is_rational_node(node: Expr) -> bool:
    return bool(node.is_Add or node.is_Mul or (node.is_Pow and node.exp.is_Integer))


class Normaliser(Cases):
    """Reads expressions into one workspace, so that equal atoms share a generator."""

    def __init__(
        self, domains: Mapping[Expr, str], size: int, budget: Budget, large: int = LARGE
    ) -> None:
        super().__init__(size, budget, large)
        self.domains = domains
        self.memo: dict[Expr, Frac] = {}
        self._known: dict[Any, int] = {}
        self._roots: dict[tuple[Any, int], int] = {}

    # expressions --------------------------------------------------------------------
    def convert(self, e: Expr) -> Frac:
        found = self.memo.get(e)
        if found is None:
            self.budget.spend(READ)
            found = self.memo[e] = self._convert(e)
        return found

    def _convert(self, e: Expr) -> Frac:
        if e.is_Rational:
            return self.constant(e)
        if e.is_Float:
            return self.constant(sp.Rational(str(e)))
        if e.is_Symbol:
            return self._named(e, Generator("symbol", range_of(e, self.domains)))
        if e.is_Add:
            return fold(self.add, map(self.convert, e.args))
        if e.is_Mul:
            return fold(self.multiply, map(self.convert, e.args))
        if e.is_Pow:
            return self._pow(e)
        if isinstance(e, sp.Piecewise):
            return self._piecewise(e)
        name = type(e).__name__
        method = (
            getattr(self, f"_f_{name.lower()}", None)
            if e.is_Function or e.is_Atom is False
            else None
        )
        if method is not None:
            return method(*e.args)  # type: ignore[no-any-return]
        if e.is_Function and e.args:
            return self.by_cases(lambda *a: self._atom(str(e.func), a), *map(self.convert, e.args))
        return self._named(e, Generator("atom", POSITIVE if e.is_positive else REAL))

    def _named(self, e: Expr, info: Generator) -> Frac:
        if e not in self._known:
            self._known[e] = self.new(info)
        return self.gen(self._known[e])

    def _pow(self, e: Expr) -> Frac:
        base, exponent = e.base, e.exp
        if exponent.is_Integer:
            return self.integer_power(self.convert(base), int(exponent))
        if base == sp.E:
            return self._f_exp(exponent)
        b = self.convert(base)
        if exponent.is_Rational:
            power = Fraction(int(exponent.p), int(exponent.q))
            return self.by_cases(lambda x: self.rational_power(x, power), b)
        return self.by_cases(self.symbolic_power, b, self.convert(exponent))

    # powers -------------------------------------------------------------------------
    def _parts(self, a: Frac) -> tuple[Fraction, list[tuple[Poly, int]]]:
        """a = c Π fᵢ^eᵢ, factors proved negative turned round."""
        num, den = self.canonical(a)
        if not num:
            raise Unsupported("a power of zero")
        c, parts = self.factors(num)
        d, lower = self.factors(den)
        constant = rational(c) / rational(d)
        out = []
        for f, e in [*parts, *((f, -e) for f, e in lower)]:
            if self.sign(f) < 0:
                f, constant = -f, constant * (-1) ** abs(e)
            out.append((f, e))
        return constant, out

    def rational_power(self, a: Frac, power: Fraction) -> Frac:
        """a^(p/q), split over factors that are proved positive."""
        if power.denominator == 1:
            return self.integer_power(a, power.numerator)
        if not a.num:
            return self.zero
        q = power.denominator
        constant, parts = self._parts(a)
        out = self._constant_power(abs(constant), power)
        top = self.ring.one if constant > 0 else -self.ring.one
        bottom = self.ring.one
        for f, e in parts:
            if self.sign(f) > 0:
                out = self.multiply(out, self._factor_power(f, e * power))
            elif e % 2 == 0 and (e * power).denominator == 1:
                out = self.multiply(out, self.integer_power(self.absolute(Frac(f)), int(e * power)))
            elif e > 0:
                top = self.product(top, self.power(f, e))
            else:
                bottom = self.product(bottom, self.power(f, -e))
        if top == 1 and bottom == 1:
            return out
        if bottom != 1 and q != 2:
            raise Unsupported("a root of a quotient of unknown sign")
        inner = self.product(top, bottom) if bottom != 1 else top
        rest = self.gen(self._root(inner, q))
        if bottom != 1:
            rest = self.multiply(rest, self.inverse(self.absolute(Frac(bottom))))
        return self.multiply(out, self.integer_power(rest, power.numerator))

    def _factor_power(self, f: Poly, power: Fraction) -> Frac:
        """f^(p/q) of a positive factor."""
        whole, rest = divmod(power.numerator, power.denominator)
        out = self.integer_power(Frac(f), whole)
        if not rest:
            return out
        index = self.index(f)
        if index is not None and index in self.roots:
            q, base = self.roots[index]
            root = self.rational_power(Frac(base), Fraction(rest, power.denominator * q))
        else:
            root = self.integer_power(self.gen(self._root(f, power.denominator)), rest)
        return self.multiply(out, root)

    def _constant_power(self, c: Fraction, power: Fraction) -> Frac:
        out = self.one
        for number, sign in ((c.numerator, 1), (c.denominator, -1)):
            if number > 10**14:
                index = self._root(self.ring.ground_new(number), power.denominator)
                out = self.multiply(
                    out, self.integer_power(self.gen(index), sign * power.numerator)
                )
                continue
            for prime, e in sorted(sp.factorint(number).items()):
                f = self.ring.ground_new(prime)
                out = self.multiply(out, self._factor_power(f, sign * e * power))
        return out

    def _root(self, base: Poly, q: int) -> int:
        key = (base, q)
        if key not in self._roots:
            k = self.new(Generator("root", POSITIVE))
            self.roots[k] = (q, base)
            self._roots[key] = k
        return self._roots[key]

    def symbolic_power(self, base: Frac, exponent: Frac) -> Frac:
        """Π fᵢ^(eᵢ z) with z opened into terms; z integer-valued where f has no sign."""
        constant, parts = self._parts(base)
        if constant != 1:
            parts = [(self.ring.ground_new(constant), 1), *parts]
        num, den = self.canonical(exponent)
        if len(num) > MAX_EXPONENT_TERMS:
            raise TooLarge
        out = self.one
        for f, e in parts:
            for m, c in sorted(num.items()):
                out = self.multiply(out, self._power_term(f, e * rational(c), m, den))
        return out

    def _power_term(self, f: Poly, c: Fraction, monomial: Any, den: Poly) -> Frac:
        """f^(c x^m / den)."""
        if not any(monomial) and den == 1:
            return self.rational_power(Frac(f), c)
        z = self.multiply(Frac(self.ring.from_dict({monomial: self.ring.domain.one})),
                          self.inverse(Frac(den)))  # fmt: skip
        known = self.sign(f)
        if known <= 0 and not (c.denominator == 1 and self._integer(monomial, den)):
            raise Unsupported("a power of a base of unknown sign")
        index = self.index(f)
        if index is not None and self.info[index].head == "exp":
            inner = self.multiply(self.info[index].args[0], z)
            return self.exponential(self.multiply(inner, self.constant(sp.Rational(c))))
        values = REAL
        if known > 0:
            small = self.strict_sign(self.ring.one - f) > 0 and self.sign_of(z, strict=True) > 0
            zero = self.strict_sign(f) <= 0
            values = Range(Fraction(0), Fraction(1) if small else None, closed=(zero, False))
        return self.rational_power(self._atom("pow", (Frac(f), z), values), c)

    def _integer(self, monomial: Any, den: Poly) -> bool:
        return den == 1 and all(self.info[k].range.integer for k, e in enumerate(monomial) if e)

    # exponentials, logarithms, the rest ----------------------------------------------
    def _f_exp(self, x: Expr) -> Frac:
        return self.by_cases(self.exponential, self.convert(x))

    def exponential(self, a: Frac) -> Frac:
        """Π exp(zᵢ)^cᵢ over the terms cᵢ zᵢ of a; exp(c log b) = b^c."""
        num, den = self.canonical(a)
        if len(num) > MAX_EXPONENT_TERMS:
            raise TooLarge
        out = self.one
        for m, c in sorted(num.items()):
            mono = self.ring.from_dict({m: self.ring.domain.one})
            index = self.index(mono) if den == 1 else None
            if index is not None and self.info[index].head == "log":
                part = self.rational_power(self.info[index].args[0], rational(c))
            else:
                z = self.multiply(Frac(mono), self.inverse(Frac(den)))
                part = self.rational_power(self._atom("exp", (z,), POSITIVE), rational(c))
            out = self.multiply(out, part)
        return out

    def _f_log(self, x: Expr) -> Frac:
        return self.by_cases(self.logarithm, self.convert(x))

    def logarithm(self, a: Frac) -> Frac:
        """Σ eᵢ log fᵢ over the factors of a that are proved positive."""
        constant, parts = self._parts(a)
        out, rest = self.zero, Frac(self.ring.one if constant > 0 else -self.ring.one)
        for number, sign in ((abs(constant).numerator, 1), (constant.denominator, -1)):
            primes = sp.factorint(number) if number <= 10**14 else {number: 1}
            for prime, e in sorted(primes.items()):
                log = self._atom("log", (Frac(self.ring.ground_new(prime)),), POSITIVE)
                out = self.add(out, self.multiply(log, self.constant(sp.Integer(sign * e))))
        for f, e in parts:
            if self.sign(f) > 0:
                out = self.add(out, self.multiply(self._log_of(f), self.constant(sp.Integer(e))))
            else:
                rest = self.multiply(rest, self.integer_power(Frac(f), e))
        if not self.equal(rest, self.one):
            out = self.add(out, self._atom("log", (rest,)))
        return out

    def _log_of(self, f: Poly) -> Frac:
        index = self.index(f)
        if index is not None:
            info = self.info[index]
            if info.head == "exp":
                return info.args[0]  # type: ignore[no-any-return]
            if index in self.roots:
                q, base = self.roots[index]
                return self.multiply(self.logarithm(Frac(base)), self.constant(sp.Rational(1, q)))
            if info.head == "pow":
                return self.multiply(self.logarithm(info.args[0]), info.args[1])
        return self._atom("log", (Frac(f),))

    def _twice(self, x: Expr) -> Frac:
        return self._f_exp(2 * x)

    def _f_tanh(self, x: Expr) -> Frac:
        e = self._twice(x)
        return self.multiply(self.subtract(e, self.one), self.inverse(self.add(e, self.one)))

    def _f_cosh(self, x: Expr) -> Frac:
        e = self._f_exp(x)
        half = self.constant(sp.Rational(1, 2))
        return self.multiply(half, self.add(e, self.inverse(e)))

    def _f_sinh(self, x: Expr) -> Frac:
        e = self._f_exp(x)
        half = self.constant(sp.Rational(1, 2))
        return self.multiply(half, self.subtract(e, self.inverse(e)))

    def _f_atanh(self, x: Expr) -> Frac:
        return self._f_log(((1 + x) / (1 - x)) ** sp.Rational(1, 2))

    def _atom(self, head: str, args: tuple[Frac, ...], values: Range = REAL) -> Frac:
        """The generator of head(args): the one there is when the arguments are proved equal."""
        for k, info in enumerate(self.info):
            if (
                info.kind == "atom"
                and head != "letter"
                and info.head == head
                and len(info.args) == len(args)
                and all(map(self.equal, info.args, args))
            ):
                return self.gen(k)
        return self.gen(self.new(Generator("atom", values, head, args)))
