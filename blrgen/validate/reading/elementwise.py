"""What was read against the rule at one element: a point where they differ, or a proof."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from mpmath import mp

from blrgen.decide.domain import range_of
from blrgen.decide.equal import apart, equal, seed_of
from blrgen.decide.fractions import Unsupported
from blrgen.decide.proof import NOT_COMPARED, Proof
from blrgen.validate.reading.algebra import names_in
from blrgen.validate.reading.decided import check_value
from blrgen.validate.reading.definedness import (
    Implied,
    conditions,
    guarded,
    has,
    is_whole,
    split,
)
from blrgen.validate.reading.edges import on_edge
from blrgen.validate.reading.element import Element, Expr, Point, mpf
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.interpret import UNDEFINED, UNKNOWN, in_digits, in_doubles, missing
from blrgen.validate.reading.points import TRIES, Points
from blrgen.validate.reading.signals import Refused

Path = Sequence[tuple[Node, bool]]
DIGITS, MORE = 50, 170
TOLERANCE = mpmath.mpf(10) ** -30


class Elementwise(Element):
    """What was read against the rule: refuted, proved, or not compared."""

    def holds(self, path: Path, values: dict[int, Any]) -> bool:
        return all(not missing(values[c.index]) and bool(values[c.index]) == v for c, v in path)

    def refute(
        self, claim: str, n: Node, key: str, path: Path, effects: Sequence[Node]
    ) -> Proof | None:
        """A point on the path at which the value and the rule differ."""
        roots = [n, *effects, *[c for c, _ in path]]
        used = names_in(roots) | self.rule_symbols()
        points = Points([self.known(x) for x in sorted(used)], self.domains, self.numbers)
        random = Random(seed_of(sp.Symbol(claim), self.next.get(key, sp.S.Zero)))
        on_path = 0
        for point in points.many(roots, random, TRIES if path else 60):
            found = self._differ(n, key, point, path, effects)
            if found is None:
                continue
            on_path += 1
            if isinstance(found, Proof):
                return found
            if on_path >= 60:
                break
        return None

    def _differ(
        self, n: Node | None, key: str, point: Point, path: Path, effects: Sequence[Node]
    ) -> Proof | bool | None:
        """A refutation at this point; None where the point is off the path or outside the rule."""
        gaps: list[Any] = []
        for digits in (DIGITS, MORE, 3 * MORE):
            with mp.workdps(digits):
                real = {k: mpmath.mpf(x.numerator) / x.denominator for k, x in point.items()}
                roots = [*([n] if n is not None else []), *effects, *[c for c, _ in path]]
                values = in_digits(roots, real)
                if not self.holds(path, values):
                    return None
                rule = self.rule_at(point, {})
                if rule is None:
                    return None
                if n is None and any(self.rule_at(p, {}) is None for p in self._others(point)):
                    return None
                if n is None:
                    return Proof(
                        "refuted", key, "it raises where the rule has values", _shown(point)
                    )
                x = values[n.index]
                if x is UNKNOWN:
                    return True
                if x is UNDEFINED:
                    return self._undefined(n, key, point, rule[key])
                gap, size = abs(x - rule[key]), max(abs(x), abs(rule[key]))
                if gap <= TOLERANCE * size:
                    return True
                gaps.append(gap)
                if len(gaps) > 1 and abs(gaps[-1] - gaps[-2]) <= mpmath.mpf(10) ** -3 * gaps[-1]:
                    left, right = apart(x, rule[key])
                    return Proof("refuted", f"{key}_next", "the two sides differ at a point",
                                 _shown(point), left, right)  # fmt: skip
        return True

    def _others(self, point: Point) -> list[Point]:
        """The points of the other elements that conditions read, at places 0, 1 and so on."""
        tags = {n[len(b) :] for n in point for b in self.next if n.startswith(f"{b}_")}
        tags |= {
            n[len(q.name) :] for n in point for q in self.rule.quantities
            if n not in self.rule and n.startswith(f"{q.name}_")
        }  # fmt: skip
        return [
            {n: point.get(n + tag, x) for n, x in point.items() if n in self.rule}
            for tag in tags if all(c.isdigit() or c == "_" for c in tag)
        ]  # fmt: skip

    def _undefined(self, n: Node, key: str, point: Point, right: Any) -> Proof | bool:
        """In doubles, too, there is no number: only then it is a counterexample."""
        x = in_doubles([n], {k: float(v) for k, v in point.items()})[n.index]
        if np.isfinite(x):
            return True
        return Proof("refuted", f"{key}_next", "it has no value where the rule has one",
                     _shown(point), str(x), mpmath.nstr(right, 17))  # fmt: skip

    # proofs -----------------------------------------------------------------------------------
    def compare(
        self, state: str, n: Node, path: Path, effects: Sequence[Node], i: int = 0
    ) -> Proof:
        """One value on one path against the rule: refuted, proved, or not compared."""
        key = f"{state}_{i}" if self.count else state
        memo = (key, n.index, tuple((c.index, v) for c, v in path), tuple(e.index for e in effects))
        if memo not in self.done:
            try:
                self.done[memo] = self._compare(key, state, n, path, effects, i)
            except Refused as error:
                self.done[memo] = Proof(
                    NOT_COMPARED, f"{state}_next", f"line {error.line or n.line}: {error.what}"
                )
        return self.done[memo]

    def _compare(
        self, key: str, state: str, n: Node, path: Path, effects: Sequence[Node], i: int
    ) -> Proof:
        claim = f"{state}_next"
        refuted = self.refute(claim, n, key, path, effects)
        if refuted:
            return refuted
        proof, needs_path = self._equal(claim, n, self.expected(state, i), path)
        if not proof.proved:
            return proof
        on_edge(self, [n, *effects])
        check_value(self, n, key, path if needs_path else ())
        lacking = self.lacking([n, *effects], path)
        if not lacking:
            return proof
        why, needed = lacking
        return self._undefined_at(n, key, path, needed) or Proof(NOT_COMPARED, claim, why)

    def _undefined_at(self, n: Node, key: str, path: Path, needed: Node) -> Proof | None:
        """A point at which a condition fails, the rule has a value, and the code has none."""
        used = names_in([n, needed, *[c for c, _ in path]]) | self.rule_symbols()
        points = Points([self.known(x) for x in sorted(used)], self.domains, self.numbers)
        for point in points.singled(names_in([needed]), Random(5)):
            with mp.workdps(DIGITS):
                real = {k: mpf(x) for k, x in point.items()}
                if in_digits([n], real)[n.index] is not UNDEFINED:
                    continue
            found = self._differ(n, key, point, path, ())
            if isinstance(found, Proof):
                return found
        return None

    def _equal(self, claim: str, n: Node, wanted: Expr, path: Path) -> tuple[Proof, bool]:
        """A proof, and whether it needs the conditions of the path."""
        e = self.expression(n)
        if e.has(sp.zoo, sp.nan, sp.oo):
            return Proof(NOT_COMPARED, claim, f"line {n.line}: it has no finite value"), False
        proof = equal(e, wanted, self.domains, claim=claim)
        if proof.proved:
            return proof, False
        if path:
            where = sp.And(
                *[self.expression(c) if v else sp.Not(self.expression(c)) for c, v in path]
            )
            on_path = equal(
                sp.Piecewise((e, where), (wanted, True)), wanted, self.domains, claim=claim
            )
            if on_path.proved:
                return on_path, True
            substituted = self._with_equations(claim, e, wanted, path)
            if substituted:
                return substituted, True
        if few := self._at_each(claim, e, wanted, path):
            return few, bool(path)
        if proof.level == "refuted":
            why = f"line {n.line}: it differs from the rule, but not where that keeps its domains"
            return Proof(NOT_COMPARED, claim, why), False
        return proof, False

    def _at_each(self, claim: str, e: Expr, wanted: Expr, path: Path) -> Proof | None:
        """Equality at each value of a symbol that has only a few, such as 0 and 1."""
        where = [self.expression(c) if v else sp.Not(self.expression(c)) for c, v in path]
        for s in sorted(e.free_symbols | wanted.free_symbols, key=str):
            found = [
                self._at(claim, e, wanted, where, {s: sp.Rational(x.numerator, x.denominator)})
                for x in range_of(s, self.domains).points
            ]
            if found and all(p is not None and p.proved for p in found):
                return found[-1]
        return None

    def _at(
        self, claim: str, e: Expr, wanted: Expr, where: list[Expr], at: dict[Expr, Expr]
    ) -> Proof | None:
        """Equality where a symbol is a number, unless the conditions say that it is not."""
        left, right = e.xreplace(at).doit(), wanted.xreplace(at).doit()
        if sp.And(*[c.xreplace(at) for c in where]) == sp.false:
            left = right
        if left.has(sp.zoo, sp.nan) or right.has(sp.zoo, sp.nan):
            return None
        return equal(left, right, self.domains, claim=claim)

    def _with_equations(self, claim: str, e: Expr, wanted: Expr, path: Path) -> Proof | None:
        """Equality where the path says that a symbol is a number."""
        known = self._equations(path)
        if not known:
            return None
        left, right = e.xreplace(known).doit(), wanted.xreplace(known).doit()
        if left.has(sp.zoo, sp.nan) or right.has(sp.zoo, sp.nan):
            return None
        proof = equal(left, right, self.domains, claim=claim)
        return proof if proof.proved else None

    def _equations(self, path: Path) -> dict[Expr, Expr]:
        """The symbols that are numbers on a path."""
        known = {}
        for c, v in (x for part, value in path for x in split(part, value)):
            if (c.op, v) in (("eq", True), ("ne", False)):
                for a, b in (c.args, c.args[::-1]):
                    if a.op == "symbol" and b.number is not None:
                        known[self.known(a.data)] = sp.Rational(
                            b.number.numerator, b.number.denominator
                        )
        return known

    def lacking(self, roots: Sequence[Node], path: Path) -> tuple[str, Node] | None:
        """A condition under which code has a value, and that the rule is not seen to have."""
        guards = tuple(x for c, v in path for x in split(c, v))
        known = self._equations(path)
        implied = self._implied_with(known)
        for kind, x, where, line in conditions(self.graph, roots, guards, self.whole):
            if kind == "base":
                if self._has_power(x, where, implied, known):
                    continue
                return f"line {line}: the rule is not seen to be undefined where this power is", x

            def follows(k: str, y: Node) -> bool:
                e = self.expression(y).xreplace(known)
                return implied(k, e) or implied(k, self._as_own(e))

            if not has(kind, x, where, follows):
                word = {
                    "nonzero": "is not zero",
                    "positive": "is positive",
                    "nonneg": "is not negative",
                }[kind]
                need = f"{_short(self.expression(x))} {word}"
                why = f"line {line}: the rule is not seen to be undefined unless {need}"
                return why, x
        return None

    def _as_own(self, e: Expr) -> Expr:
        """An expression of one other element with its symbols named as those that stand for all.

        Where the rule is defined, it is defined at every element.
        """
        arrays = {q.name for q in self.rule.quantities if self.elements.is_array(q)}
        names = {s.name: s for s in e.free_symbols}
        for base, tag in ((a, x[len(a) :]) for a in sorted(arrays) for x in sorted(names)
                          if x.startswith(f"{a}_") and x not in self.rule):  # fmt: skip
            own = {s: self.known(n.removesuffix(tag)) for n, s in names.items()
                   if n.endswith(tag) and n.removesuffix(tag) in arrays}  # fmt: skip
            alone = not (names.keys() & arrays) and all(
                n.removesuffix(tag) in self.rule for n in names
            )
            return e.xreplace(own) if base and alone else e
        return e

    def _implied_with(self, known: dict[Expr, Expr]) -> Implied:
        """What follows where some symbols are numbers."""
        if not known:
            return self.implied
        return Implied(self.domains, {(k, r.xreplace(known)) for k, r in self.implied.known})

    def _has_power(self, n: Node, where: Any, implied: Implied, known: dict[Expr, Expr]) -> bool:
        """Whether xʸ has a value: x > 0, or a whole y that is not negative, or x ≠ 0."""
        x, y = (self.expression(a).xreplace(known) for a in n.args)
        if guarded("positive", n.args[0], where) or implied("positive", x):
            return True
        if not is_whole(n.args[1], self.whole):
            return False
        return implied("nonneg", y) or guarded("nonzero", n.args[0], where) or implied("nonzero", x)

    def impossible(self, path: Path, why: str, line: int) -> Proof | None:
        """Whether a path on which Python raises can be taken where the rule is defined."""
        found = self.refute_raise(path, f"line {line}: {why}")
        if found:
            return found
        where = sp.And(*[self.expression(c) if v else sp.Not(self.expression(c)) for c, v in path])
        try:
            never = (
                where == sp.false
                or equal(
                    sp.Piecewise((sp.S.One, where), (sp.S.Zero, True)), sp.S.Zero, self.domains
                ).proved
            )
        except (Unsupported, TypeError):
            never = False
        if never:
            return None
        return Proof(NOT_COMPARED, "", f"line {line}: {why}, perhaps where the rule has values")

    def refute_raise(self, path: Path, why: str) -> Proof | None:
        """A point on the path, where Python raises, at which the rule has values."""
        roots = [c for c, _ in path]
        used = names_in(roots) | self.rule_symbols()
        points = Points([self.known(x) for x in sorted(used)], self.domains, self.numbers)
        others = {x for x in used if x not in self.rule}
        tries = TRIES // 10 if others else TRIES  # each of them asks for the rule again
        for point in points.many(roots, Random(len(path)), tries):
            found = self._differ(None, why, point, path, ())
            if isinstance(found, Proof):
                return found
        return None


def _shown(point: Point) -> tuple[tuple[str, str], ...]:
    return tuple((n, str(x)) for n, x in sorted(point.items()))


def _short(e: Expr) -> str:
    text = str(e)
    return text if len(text) <= 60 else text[:59] + "…"
