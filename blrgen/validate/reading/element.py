"""The rule at one element, in symbols that are only known to be real: its values and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Rule
from blrgen.decide.domain import names_in_bounds, range_at, range_of
from blrgen.decide.proof import Proof
from blrgen.read.domain import read_domain
from blrgen.validate import reference
from blrgen.validate.reading.algebra import expression, names_in
from blrgen.validate.reading.decided import check_decision
from blrgen.validate.reading.definedness import Implied, of_rule
from blrgen.validate.reading.edges import on_edge
from blrgen.validate.reading.graph import ORDER, Graph, Node
from blrgen.validate.reading.signals import Refused
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
Point = dict[str, Fraction]


class Element:
    """The rule at one element, or for vectors of a length, in symbols known only to be real."""

    def __init__(
        self, rule: Rule, graph: Graph, numbers: Sequence[Fraction], count: int = 0
    ) -> None:
        self.rule, self.graph, self.numbers, self.count = rule, graph, numbers, count
        self.elements = reference.Elements(rule, count or 1)
        self.whole = frozenset(q.name for q in rule.of("counter"))
        self.memo: dict[int, Expr] = {}
        self.done: dict[Any, Proof] = {}
        self.decided: dict[int, bool | None] = {}
        self.symbols: dict[str, Expr] = {}
        self.domains: dict[Expr, str] = {}
        for q in rule.quantities:
            for name in self._names(q):
                self._symbol(name, q)

    def _names(self, q: Any) -> list[str]:
        if not self.count or not self.elements.is_array(q):
            return [q.name]
        return [f"{q.name}_{i}" for i in range(self.count)]

    def _symbol(self, name: str, q: Any) -> None:
        given = {"integer": True, "positive": True} if q.kind == "counter" else {"real": True}
        self.symbols[name] = sp.Symbol(name, **given)
        if q.domain:
            self.domains[self.symbols[name]] = q.domain

    def known(self, name: str) -> Expr:
        """A symbol by name; one of another element has the domain of its own."""
        if name not in self.symbols:
            base = name.split("_")
            for k in range(len(base) - 1, 0, -1):
                stem = "_".join(base[:k])
                if stem in self.rule:
                    self._symbol(name, self.rule[stem])
                    return self.symbols[name]
            known = f"the symbol {name}"
            raise Refused("what a loop carries from turn to turn" if " " in name else known)
        return self.symbols[name]

    # the rule -----------------------------------------------------------------------------
    @cached_property
    def next(self) -> dict[str, Expr]:
        """State → its next value, at the element that stands for all."""
        return {n: self.plain(e) for n, e in reference.next_states(self.rule).items()}

    def plain(self, e: Expr, i: int = 0) -> Expr:
        """An expression of the rule in symbols that are only known to be real."""
        if self.count:
            e = self.elements.at(e, i)
        return e.xreplace(
            {s: self.symbols[s.name] for s in e.free_symbols if s.name in self.symbols}
        )

    def expected(self, state: str, i: int = 0) -> Expr:
        if not self.count:
            return self.next[state]
        return self.plain(reference.next_states(self.rule)[state], i)

    @cached_property
    def implied(self) -> Implied:
        states = list(self.next) if not self.count else []
        all_next = [self.expected(n, i) for n in reference.next_states(self.rule)
                    for i in range(max(1, self.count))]  # fmt: skip
        found = of_rule(all_next)
        for n in states:
            s = self.symbols[n]
            r = range_of(s, self.domains)
            if r.lower == 0:
                found.add(("nonneg" if r.closed[0] else "positive", self.next[n]))
            for x in (self.next[n], s) if (low := self._least(s)) is not None else ():
                found.add(("nonneg" if r.closed[0] else "positive", x - low))
        return Implied(self.domains, found)

    def _least(self, s: Expr) -> Expr | None:
        """The lower end of a domain that is written in other symbols, as -delta."""
        names = names_in_bounds(s, self.domains)
        if not names or not names <= set(self.symbols):
            return None
        end = read_domain(self.domains[s], {n: self.symbols[n] for n in names}).lower
        return end if end.free_symbols else None

    def expression(self, n: Node) -> Expr:
        for name in names_in([n]):
            self.known(name)
        return expression(n, self.symbols, self.memo)

    # conditions ---------------------------------------------------------------------------
    def decide(self, c: Node) -> bool | None:
        """A condition by the domains alone, which doubles do not decide otherwise."""
        if c.index not in self.decided:
            known = self.decided[c.index] = self._decide(c)
            if known is not None and c.op in ORDER:
                check_decision(self, c, known)
        return self.decided[c.index]

    def _decide(self, c: Node) -> bool | None:
        if c.op == "truth":
            return bool(c.data)
        if c.op in ("lt", "le", "eq", "ne"):
            on_edge(self, [c])
        if c.op == "not":
            inner = self.decide(c.args[0])
            return None if inner is None else not inner
        if c.op == "and":
            parts = [self.decide(a) for a in c.args]
            return False if False in parts else True if parts == [True, True] else None
        try:
            e = self.expression(c)
            if e in (sp.true, sp.false):
                return bool(e)
            a, b = (self.expression(x) for x in c.args)
        except Refused:
            return None
        implied = Implied(self.domains, set())
        if c.op in ("eq", "ne"):
            return (c.op == "ne") if implied("nonzero", a - b) else None
        if implied("positive" if c.op == "lt" else "nonneg", b - a):
            return True
        if implied("nonneg" if c.op == "lt" else "positive", a - b):
            return False
        return None

    # points -----------------------------------------------------------------------------------
    def rule_at(self, point: Point, memo: dict[Expr, Any]) -> dict[str, Any] | None:
        """The next states at a point, or None where one has no value or leaves its domain."""
        values = {
            self.symbols[n]: mpmath.mpf(x.numerator) / x.denominator for n, x in point.items()
        }
        if not all(self._kept(kind, e, values, memo) for kind, e in self.implied.known):
            return None
        out = {}
        for n in reference.next_states(self.rule):
            for i in range(max(1, self.count)):
                try:
                    x = evaluate(self.expected(n, i), values, memo)
                except Undefined:
                    return None
                if isinstance(x, mpmath.mpc):
                    return None
                s = self.known(n if not self.count else f"{n}_{i}")
                r = range_of(s, self.domains)
                if names_in_bounds(s, self.domains):
                    known = {self.symbols[k]: v for k, v in point.items() if k in self.symbols}
                    r = range_at(s, self.domains, known)
                if not _inside(r, x):
                    return None
                out[f"{n}_{i}" if self.count else n] = x
        return out

    def _kept(self, kind: str, e: Expr, values: dict[Expr, Any], memo: dict[Expr, Any]) -> bool:
        """Whether a condition of the rule holds at a point."""
        try:
            x = evaluate(e, values, memo)
        except Undefined:
            return False
        if isinstance(x, mpmath.mpc):
            return False
        return bool(x != 0 if kind == "nonzero" else x > 0 if kind == "positive" else x >= 0)

    def rule_symbols(self) -> set[str]:
        """The symbols of all next states."""
        return {s.name for i in range(max(1, self.count)) for x in reference.next_states(self.rule)
                for s in self.expected(x, i).free_symbols}  # fmt: skip


def _inside(r: Any, x: Any) -> bool:
    low = r.lower is None or x > mpf(r.lower) or (r.closed[0] and x == mpf(r.lower))
    high = r.upper is None or x < mpf(r.upper) or (r.closed[1] and x == mpf(r.upper))
    return bool(low and high)


def mpf(x: Fraction) -> Any:
    """A fraction at mpmath's precision."""
    return mpmath.mpf(x.numerator) / x.denominator
