"""Where what was written has a value: conditions of every operation, and whether the rule has them.

√x: x ≥ 0 · log x: x > 0 · x/y: y ≠ 0 · xʸ by its exponent · artanh x: −1 < x < 1.  A condition is
read off the graph, before algebra cancels it.  It is implied by the domains, by a guard that the
code has, or by the rule's own conditions (its operations, and its next states in their domains).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import sympy as sp

from blrgen.decide.budget import UNITS, Budget, TooLarge
from blrgen.decide.domain import Range
from blrgen.decide.fractions import Frac, Unsupported
from blrgen.decide.rational import Normaliser
from blrgen.validate.reading.graph import Graph, Node

Expr = Any
Condition = tuple[str, Expr]  # nonzero, positive or nonneg, and of what
Guard = tuple[tuple[Node, bool], ...]
MAX_CONDITIONS = 400


def conditions(
    graph: Graph, roots: Sequence[Node], guards: Guard, whole: frozenset[str]
) -> Iterator[tuple[str, Node, Guard, int]]:
    """(kind, of what, under which guards, line) for everything that a value needs."""
    seen: set[tuple[int, Guard]] = set()
    stack = [(r, guards) for r in roots]
    while stack:
        n, g = stack.pop()
        if (n.index, g) in seen:
            continue
        seen.add((n.index, g))
        if n.op == "case":
            c, a, b = n.args
            stack += [(c, g), (a, (*g, *split(c, True))), (b, (*g, *split(c, False)))]
            continue
        for kind, x in own(graph, n, whole):
            yield kind, x, g, n.line
        stack += [(a, g) for a in n.args]


def split(c: Node, value: bool) -> Guard:
    """A condition as the comparisons it is made of."""
    if c.op == "not":
        return split(c.args[0], not value)
    if c.op == "and" and value:
        return (*split(c.args[0], True), *split(c.args[1], True))
    return ((c, value),)


def own(graph: Graph, n: Node, whole: frozenset[str]) -> list[tuple[str, Node]]:
    """What one operation needs of its arguments."""
    if n.op == "div":
        return [] if n.args[1].number else [("nonzero", n.args[1])]
    if n.op == "sqrt":
        return [("nonneg", n.args[0])]
    if n.op == "log":
        return [("positive", n.args[0])]
    if n.op == "atanh":
        one = graph.number(1)
        return [("positive", graph.arithmetic(op, one, n.args[0])) for op in ("add", "sub")]
    if n.op == "pow":
        return _of_power(n, whole)
    return []


def _of_power(n: Node, whole: frozenset[str]) -> list[tuple[str, Node]]:
    x, y = n.args
    k = y.number
    if k is not None:
        if k.denominator == 1:
            return [] if k >= 0 else [("nonzero", x)]
        return [("nonneg" if k > 0 else "positive", x)]
    if y.op == "symbol" and y.data in whole:  # a counter: 1, 2, …
        return []
    return [("base", n)]


def is_whole(n: Node, whole: frozenset[str]) -> bool:
    """Whether a node is a whole number whatever its symbols are."""
    if n.number is not None:
        return n.number.denominator == 1
    if n.op == "symbol":
        return n.data in whole
    return n.op in ("add", "sub", "mul", "neg") and all(is_whole(a, whole) for a in n.args)


def guarded(kind: str, x: Node, guards: Guard) -> bool:
    """Whether the code asks for the condition itself."""
    for c, value in guards:
        if c.op not in ("lt", "le", "eq", "ne"):
            continue
        a, b = c.args
        above = (a.number == 0 and b is x) if c.op in ("lt", "le", "eq", "ne") else False
        below = b.number == 0 and a is x
        if c.op == "lt" and value and (above or (below and kind == "nonzero")):
            return True
        if c.op == "le" and not value and (below or (above and kind == "nonzero")):
            return True
        if kind == "nonneg" and (
            (c.op == "le" and value and above) or (c.op == "lt" and not value and below)
        ):
            return True
        if (
            kind == "nonzero"
            and (above or below)
            and (c.op, value) in (("ne", True), ("eq", False))
        ):
            return True
    return False


def has(kind: str, x: Node, guards: Guard, implied: Callable[[str, Node], bool]) -> bool:
    """Whether a condition holds: by a guard, by what is implied, or by how the value is made."""
    if guarded(kind, x, guards) or implied(kind, x):
        return True

    def inner(k: str, y: Node, more: Guard = ()) -> bool:
        return has(k, y, (*guards, *more), implied)

    a = x.args
    if x.op == "case":
        c = a[0]
        return (known(c, guards) is False or inner(kind, a[1], split(c, True))) and (
            known(c, guards) is True or inner(kind, a[2], split(c, False))
        )
    if x.op == "max":
        return any(inner("positive" if kind == "nonzero" else kind, y) for y in a)
    if x.op == "min":
        return all(inner("positive" if kind == "nonzero" else kind, y) for y in a)
    if x.op in ("abs", "sqrt"):
        below = "nonzero" if x.op == "abs" else "positive"
        return kind == "nonneg" or inner(below, a[0])
    if x.op == "mul" and kind == "nonzero":
        return all(inner(kind, y) for y in a)
    return x.op == "exp" or (x.op == "div" and kind == "nonzero" and inner(kind, a[0]))


def known(c: Node, guards: Guard) -> bool | None:
    """What a guard says of a condition."""
    found = [v for g in guards for n, v in [g] if n is c]
    return found[0] if found else None


def of_rule(expressions: Sequence[Expr]) -> set[Condition]:
    """What the rule's own expressions need."""
    found: set[Condition] = set()
    for e in expressions:
        for n in sp.preorder_traversal(e):
            if isinstance(n, sp.log):
                found.add(("positive", n.args[0]))
            if not n.is_Pow or n.base.is_number:
                continue
            if n.exp.is_Integer:
                if n.exp < 0:
                    found.add(("nonzero", n.base))
            elif n.exp.is_Rational:
                found.add(("positive" if n.exp < 0 else "nonneg", n.base))
    return found


class Signs(Normaliser):
    """Signs of fractions, strict at the ends that belong to domains; roots of what can be 0 too."""

    def _root(self, base: Any, q: int) -> int:
        k = super()._root(base, q)
        if self.strict_sign(base) <= 0:
            self.info[k] = replace(
                self.info[k], range=Range(lower=self.info[k].range.lower, closed=(True, False))
            )
        return k


class Implied:
    """What follows from the domains and from the rule's conditions."""

    def __init__(self, domains: Mapping[Any, str], known: set[Condition]) -> None:
        self.domains, self.known = domains, sorted(known, key=str)
        self.memo: dict[Condition, bool] = {}

    def __call__(self, kind: str, e: Expr) -> bool:
        key = (kind, e)
        if key not in self.memo:
            self.memo[key] = self._implied(kind, e)
        return self.memo[key]

    def _implied(self, kind: str, e: Expr) -> bool:
        if e.has(sp.zoo, sp.nan):
            return False
        if any(r == e and stronger(k, kind) for k, r in self.known):
            return True
        size = 24 + len(e.free_symbols)
        for _ in range(3):
            reader = Signs(self.domains, size, Budget(UNITS))
            try:
                x = reader.convert(e)
                return self._by_factors(reader, kind, x) or self._multiple(reader, kind, x)
            except IndexError:
                size *= 2
            except (TooLarge, Unsupported, NotImplementedError, ZeroDivisionError):
                return False
        return False

    def _by_factors(self, reader: Signs, kind: str, x: Frac) -> bool:
        """The sign of a fraction from the signs of its factors, those of the rule among them."""
        num, den = reader.canonical(x)
        if not num:
            return kind == "nonneg"
        if kind == "nonneg" and reader.at_least_zero(num) and reader.sign(den) > 0:
            return True
        positive, nonzero, weak = self._factors(reader)
        sign = 1
        for poly, below in ((num, False), (den, True)):
            c, parts = reader.factors(poly)
            sign *= 1 if c > 0 else -1
            for f, e in parts:
                s = reader.strict_sign(f) or (reader.sign(f) if below else 0)
                if not s:
                    s = 1 if f in positive else -1 if -f in positive else 0
                if not s and (f in nonzero or -f in nonzero):
                    s = 1 if e % 2 == 0 else 2
                if not s and below:
                    s = 2 if e % 2 else 1  # a denominator is not zero where it is defined
                if not s and kind == "nonneg" and (f in weak or -f in weak):
                    s = 1 if f in weak else -1
                if not s and kind == "nonneg":
                    s = reader.sign(f) or (1 if e % 2 == 0 else 0)
                if not s:
                    return False
                sign *= s**e if abs(s) == 1 else 2
        return abs(sign) >= 1 if kind == "nonzero" else sign == 1

    def _multiple(self, reader: Signs, kind: str, x: Frac) -> bool:
        """x times something positive is a condition of the rule times something positive."""
        known = [reader.convert(r) for have, r in self.known if stronger(have, kind)]
        positive = [reader.one]
        for y in (x, *known):
            for f, _ in reader.factors(reader.canonical(y)[1])[1]:
                positive += [Frac(f)] if reader.strict_sign(f) > 0 else []
        for index, (_, base) in reader.roots.items():
            positive += [reader.gen(index)] if reader.strict_sign(base) > 0 else []
        for y in known:
            for p, q in product(positive[:8], repeat=2):
                left, right = reader.multiply(x, p), reader.multiply(y, q)
                if reader.equal(left, right):
                    return True
                if kind == "nonzero" and reader.equal(reader.negative(left), right):
                    return True
        return False

    def _factors(self, reader: Signs) -> tuple[set[Any], set[Any], set[Any]]:
        """Irreducible factors that the rule makes positive, not zero, not negative."""
        positive: set[Any] = set()
        weak: set[Any] = set()
        nonzero: set[Any] = set()
        for kind, r in self.known:
            try:
                num, den = reader.canonical(reader.convert(r))
                c, parts = reader.factors(num)
            except (TooLarge, Unsupported, NotImplementedError, ZeroDivisionError):
                continue
            if kind in ("positive", "nonzero"):
                nonzero |= {f for f, _ in parts}
            open_ = [(f, e) for f, e in parts if reader.strict_sign(f) == 0]
            if kind != "nonzero" and len(open_) == 1 and open_[0][1] == 1:
                sign = 1 if c > 0 else -1
                for f, e in parts:
                    if f is not open_[0][0]:
                        sign *= reader.strict_sign(f) ** e
                lower = reader.sign(den)
                if lower and sign:
                    (positive if kind == "positive" else weak).add(open_[0][0] * (sign * lower))
        positive |= {f for f in weak if f in nonzero or -f in nonzero}
        return positive, nonzero, weak


def stronger(have: str, want: str) -> bool:
    """positive implies all, nonzero and nonneg themselves."""
    return have == "positive" or have == want
