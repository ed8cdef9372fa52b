"""Random-exact tests: both sides at random points of a large prime field.

p = 2q + 1 with q prime.  The non-zero squares modulo p are closed under products
and each has one square root among them, so they play the part of the positive
numbers: √ is x ↦ x^((q+1)/2), the sign is the Legendre symbol, and real exponents
live in ℤ/q.  Functions without algebra are random functions of their arguments'
values.  A point at which a root is taken of a non-square is drawn again.

If the two sides differ, they agree at a random point with probability at most
(degree)/p (Schwartz and Zippel), for each system of signs.  A root or an absolute
value may hide a sign (√x² is x or −x), and k of them have 2ᵏ systems, each drawn
with probability 2⁻ᵏ (up to p^-½, Weil): so as many rounds are run as it takes to
miss none.  Only what is continuous has a model: a jump may be at a point that is never
drawn.  As a function of real numbers: what is claimed holds where all roots are real.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import sympy as sp

from blrgen.decide.domain import Range, range_of

Expr = Any
Q = 2**126 + 4399
P = 2 * Q + 1
ROUNDS = 3
CONFIDENCE = 20  # each system of signs is missed with probability e^-20
MAX_SIGNS = 5
ATTEMPTS = 400


class Unlucky(Exception):
    """A division by zero or a root of a non-square: draw another point."""


class NoModel(Exception):
    """An expression this field has no counterpart for."""


def is_square(x: int) -> bool:
    """Whether x is a non-zero square: what counts as positive."""
    return pow(x, Q, P) == 1


def inverse(x: int) -> int:
    """1/x; no luck where x is zero."""
    if x % P == 0:
        raise Unlucky
    return pow(x, -1, P)


@dataclass
class Point:
    """One random point: values in the base (mod p) and in exponents (mod q)."""

    random: Random
    domains: Mapping[Expr, str]
    base: dict[Expr, int] = field(default_factory=dict)
    exponent: dict[Expr, int] = field(default_factory=dict)
    functions: dict[Any, int] = field(default_factory=dict)
    memo: dict[Expr, int] = field(default_factory=dict)
    signs: set[int] = field(default_factory=set)  # values a sign or a root was taken of

    def symbol(self, e: Expr) -> int:
        if e not in self.base:
            self.base[e] = self._draw(range_of(e, self.domains))
        return self.base[e]

    def _draw(self, values: Range) -> int:
        """Random, with the signs that x, x − a and b − x have in the domain."""
        if values.points:
            point = self.random.choice(values.points)
            return point.numerator * inverse(point.denominator) % P
        for _ in range(ATTEMPTS):
            x = self.random.randrange(2, P)
            ends = [(end, sign) for end, sign in ((values.lower, 1), (values.upper, -1))
                    if end is not None]  # fmt: skip
            distances = [
                sign * (x - end.numerator * inverse(end.denominator)) for end, sign in ends
            ]
            if values.lower is not None and values.lower > 0:
                distances.append(x)
            if all(is_square(d % P) for d in distances):
                return x
        raise Unlucky

    def function(self, key: Any, positive: bool = False) -> int:
        """The value of a random function, the same for the same key."""
        if key not in self.functions:
            x = self.random.randrange(2, P)
            self.functions[key] = x * x % P if positive else x
        return self.functions[key]

    # values in the base ---------------------------------------------------------------
    def value(self, e: Expr) -> int:
        found = self.memo.get(e)
        if found is None:
            found = self.memo[e] = self._value(e) % P
        return found

    def _value(self, e: Expr) -> int:
        if e.is_Rational:
            return int(e.p) * inverse(int(e.q))
        if e.is_Symbol:
            return self.symbol(e)
        if e.is_Add:
            return sum(map(self.value, e.args))
        if e.is_Mul:
            out = 1
            for a in e.args:
                out = out * self.value(a) % P
            return out
        if e.is_Pow:
            return self._pow(e)
        return self._call(e)

    def _pow(self, e: Expr) -> int:
        if e.exp.is_Integer:
            base, n = self.value(e.base), int(e.exp)
            return pow(base if n >= 0 else inverse(base), abs(n), P)
        base = self.value(e.base) if e.base != sp.E else self.function("e", positive=True)
        if not is_square(base):
            raise Unlucky
        if not e.base.is_Symbol and not e.base.is_Number:
            self.signs.add(base)
        return pow(base, self.power(e.exp), P)

    def _call(self, e: Expr) -> int:
        name = type(e).__name__
        if name == "exp":
            return pow(self.function("e", positive=True), self.power(e.args[0]), P)
        if name in ("tanh", "sinh", "cosh"):
            up = pow(self.function("e", positive=True), self.power(e.args[0]), P)
            down = inverse(up)
            if name == "tanh":
                return (up - down) * inverse(up + down)
            return (up - down if name == "sinh" else up + down) * inverse(2)
        if name == "Abs":
            x = self.value(e.args[0])
            return x * self._sign(x)
        if name in ("Max", "Min", "Larger", "Smaller"):
            out, *rest = map(self.value, sorted(e.args, key=sp.default_sort_key))
            for x in rest:
                size = (x - out) * self._sign(x - out)
                out = (out + x + (size if name in ("Max", "Larger") else -size)) * inverse(2) % P
            return out
        if e.is_Function and e.args and not isinstance(e, (sp.Piecewise, sp.sign)):
            return self.function((str(e.func), *map(self.value, e.args)))
        if e.is_NumberSymbol:
            return self.function(e, positive=True)
        raise NoModel(name)

    def _sign(self, x: int) -> int:
        x %= P
        self.signs.add(min(x, P - x))
        return 0 if x == 0 else 1 if is_square(x) else -1

    # values in exponents --------------------------------------------------------------
    def power(self, e: Expr) -> int:
        """The value of an exponent, in ℤ/q."""
        if e.is_Rational:
            return int(e.p) * pow(int(e.q), -1, Q) % Q
        if e.is_Symbol:
            if e not in self.exponent:
                self.exponent[e] = self.random.randrange(2, Q)
            return self.exponent[e]
        if e.is_Add:
            return sum(map(self.power, e.args)) % Q
        if e.is_Mul:
            out = 1
            for a in e.args:
                out = out * self.power(a) % Q
            return out
        if e.is_Pow and e.exp.is_Integer:
            base = self.power(e.base)
            if base == 0:
                raise Unlucky
            return pow(base, int(e.exp), Q)
        return self.function(("exponent", e)) % Q  # equal only when written alike


def agree(left: Expr, right: Expr, domains: Mapping[Expr, str], seed: int) -> str:
    """The error bound as a sentence when both sides agree at every point, else ''."""
    random = Random(seed)
    done, missed, needed, signs = 0, 0, ROUNDS, 0
    while done < needed:
        point = Point(random, domains)
        try:
            same = point.value(left) == point.value(right)
        except Unlucky:
            missed += 1
            if missed > ATTEMPTS + 40 * done:
                return ""
            continue
        if not same:
            return ""
        signs = max(signs, len(point.signs))
        if signs > MAX_SIGNS:
            return ""
        done += 1
        needed = CONFIDENCE * 2**signs if signs else ROUNDS
    return bound(degree(left - right), done, signs)


def bound(size: int, rounds: int, signs: int = 0) -> str:
    """What the chance of a wrong 'equal' is at most."""
    where = f"equal at {rounds} random points of a field of 2^127 elements"
    if signs:
        return f"e^-{CONFIDENCE} + {size}/2^63; {where}, {signs} signs free"
    return f"({size}/2^127)^{rounds}; {where}"


def degree(e: Expr) -> int:
    """An upper bound for the degree of a numerator over a common denominator."""
    memo: dict[Expr, tuple[int, int]] = {}
    roots = sum(
        1
        for n in sp.preorder_traversal(e)
        if n.is_Pow and n.exp.is_Rational and not n.exp.is_Integer
    )
    size: int = max(1, sum(_degrees(e, memo))) * 2 ** min(roots, 20)
    return size


def _degrees(e: Expr, memo: dict[Expr, tuple[int, int]]) -> tuple[int, int]:
    if e in memo:
        return memo[e]
    if e.is_Add:
        parts = [_degrees(a, memo) for a in e.args]
        den = sum(d for _, d in parts)
        out = (max(n + den - d for n, d in parts), den)
    elif e.is_Mul:
        parts = [_degrees(a, memo) for a in e.args]
        out = (sum(n for n, _ in parts), sum(d for _, d in parts))
    elif e.is_Pow and e.exp.is_Integer:
        n, d = _degrees(e.base, memo)
        k = int(e.exp)
        out = (n * k, d * k) if k >= 0 else (-d * k, -n * k)
    else:
        out = (0, 0) if e.is_Rational else (1, 1)
    memo[e] = out
    return out
