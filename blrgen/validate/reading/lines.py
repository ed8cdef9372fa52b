"""Which line of a refuted function is wrong.

A line is blamed when a value that occurs in the rule, put in place of what it computes, makes the
whole function right; lines whose value occurs in the rule as it is are suspected last.  Failing
that, the first line whose value does not occur in the rule, and at last the one that gave the
differing state its value.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from blrgen.decide.functions import spoken
from blrgen.decide.matrices import difference, numeric_model
from blrgen.decide.modular import NoModel, Unlucky
from blrgen.decide.proof import Verdict
from blrgen.text.expression import ascii
from blrgen.validate import reference
from blrgen.validate.candidates import candidates
from blrgen.validate.reading.algebra import names_in
from blrgen.validate.reading.elementwise import Elementwise
from blrgen.validate.reading.entries import Entries
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.interpret import in_digits, missing
from blrgen.validate.reading.points import Points
from blrgen.validate.reading.sizes import data
from blrgen.validate.reading.values import Array, Num, Whole
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
SECONDS, DIGITS = 6.0, 30


def located(verdict: Verdict, reading: Any) -> Verdict:
    """The verdict with the line that is wrong, and what the rule has there if that is known."""
    if reading.wrong is None or reading.wrong[1] is None:
        return verdict
    try:
        with mp.workdps(DIGITS):
            line, repair = Search(verdict, reading).blame()
    except Exception:  # whatever the code is, the refutation stands, without a line
        return verdict
    rows = reading.source.splitlines()
    text = rows[line - 1].strip() if 0 < line <= len(rows) else ""
    return replace(verdict, line=line, source=text, repair=repair)


@dataclass
class Line:
    """What one line computed: entries in a row."""

    line: int
    target: str
    nodes: tuple[Node, ...]


class Search:
    """Lines, states and the rule's values at two points."""

    def __init__(self, verdict: Verdict, reading: Any) -> None:
        self.reading, self.rule, self.graph = reading, reading.rule, reading.graph
        self.refuted = {n for n, p in verdict.proofs if p.level == "refuted"}
        self.machine, result = reading.wrong
        self.outputs = {n: self._row(x) for n, x in result.values.items()}
        self.lines = list(self._lines())
        self.deadline = time.process_time() + SECONDS
        self.candidates = list(candidates(self.rule))
        self.points = [p for p in (self._point(k) for k in (3, 4)) if p is not None]
        self.known = (
            {k for c in self.candidates for k in [self._key(self.points[0].rule(c))] if k}
            if self.points
            else set()
        )

    def _row(self, x: Any) -> tuple[Node, ...]:
        """The entries of a value; of an elementwise rule the first stands for all."""
        if isinstance(x, Array):
            x = x.data
        if isinstance(x, np.ndarray):
            row = tuple(x.reshape(-1))
        elif isinstance(x, Num):
            row = (x.node,)
        elif isinstance(x, Whole):
            row = (self.graph.number(x.value),)
        else:
            return ()
        if self.reading.matrix or not row:
            return row
        first = row[:1]
        shape = x.ndim if isinstance(x, np.ndarray) else 0
        return tuple(self.reading.own(n, (0,) * shape) if shape else n for n in first)

    def _lines(self) -> Iterator[Line]:
        seen = set()
        for line, target, value in self.machine.records:
            if (line, target) not in seen:
                seen.add((line, target))
                nodes = self._row(value)
                if nodes and not any(n.is_truth for n in nodes):
                    yield Line(line, target, nodes)

    def _point(self, seed: int) -> Any:
        kind = MatrixPoint if self.reading.matrix else ElementPoint
        try:
            return kind(self, seed)
        except (Undefined, Unlucky, NoModel, LookupError):
            return None

    def _key(self, value: Any) -> str:
        return " ".join(mpmath.nstr(v, 18) for v in value) if value else ""

    def blame(self) -> tuple[int, str]:
        """The line, and what should stand there."""
        lines = [x for x in self.lines if not x.target.startswith("returned")]
        if self.points:
            strange = [x for x in lines if not self._occurs(x)]
            rest = [x for x in lines if x not in strange]
            for suspects, states in (
                (strange, set(self.outputs)),
                (rest, set(self.outputs)),
                (strange, self.refuted),
            ):
                for x in suspects:
                    w = self._repair(x, states)
                    if w is not None:
                        return x.line, f"{x.target} = {ascii(spoken(w))}"
            hyper = {q.name for q in self.rule.of("hyper", "counter")}
            for x in strange:
                if not names_in(x.nodes) <= hyper:
                    return x.line, ""
        return self._last(), ""

    def _occurs(self, x: Line) -> bool:
        if all(n.number is not None for n in x.nodes):
            return True
        value = self.points[0].code(x.nodes, {})
        if value is None:
            return False
        return self._key(value) in self.known or self._key([-v for v in value]) in self.known

    def _repair(self, x: Line, states: set[str]) -> Expr | None:
        """What of the rule makes the states right in place of what the line computes."""
        for w in self.candidates:
            if time.process_time() > self.deadline:
                return None
            if all(self._fits(p, x, w, states) for p in self.points):
                return w
        return None

    def _fits(self, point: Any, x: Line, w: Expr, states: set[str]) -> bool:
        value = point.rule(w)
        if value is None or len(value) != len(x.nodes):
            return False
        replaced = {n.index: v for n, v in zip(x.nodes, value, strict=True)}
        for n in states:
            got = point.code(self.outputs[n], replaced)
            if got is None or not _alike(got, point.next[n]):
                return False
        return True

    def _last(self) -> int:
        """The line that gave the differing state its value."""
        name = min(self.refuted & set(self.outputs), default="")
        if not name or not self.lines:
            return self.lines[-1].line if self.lines else 0
        swapped = bool(self.points) and self._occurs(Line(0, "", self.outputs[name]))
        found = [x.line for x in self.lines if x.nodes == self.outputs[name]
                 and (swapped or not x.target.startswith("returned"))]  # fmt: skip
        return found[-1] if found else self.lines[-1].line


class ElementPoint:
    """Values at one element."""

    def __init__(self, search: Search, seed: int) -> None:
        element: Elementwise = search.reading.element
        self.element = element
        path = [(search.reading.own(c, (0,)), v) for c, v in search.machine.path]
        used = names_in([n for x in search.lines for n in x.nodes] + [c for c, _ in path])
        used |= element.rule_symbols()
        for n in used:
            element.known(n)
        points = Points(
            [element.symbols[n] for n in sorted(element.symbols)], element.domains, element.numbers
        )
        for point in points.many([c for c, _ in path], Random(seed), 200 if path else 20):
            self.values = {n: mpmath.mpf(v.numerator) / v.denominator for n, v in point.items()}
            if element.holds(path, in_digits([c for c, _ in path], self.values)):
                rule = element.rule_at(point, {})
                if rule is not None and all(
                    v not in (0, 1, -1) for v in self.values.values() if not path
                ):
                    break
        else:
            raise LookupError
        self.symbols = {element.symbols[n]: v for n, v in self.values.items()}
        states = reference.next_states(search.rule)
        self.next = {n: [rule[f"{n}_0" if element.count else n]] for n in states}
        self.memo: dict[Expr, Any] = {}

    def rule(self, e: Expr) -> Any:
        """An expression of the rule."""
        try:
            return [evaluate(self.element.plain(e), self.symbols, self.memo)]
        except Undefined:
            return None

    def code(self, nodes: tuple[Node, ...], replaced: dict[int, Any]) -> Any:
        """Values of the code, with some of them replaced."""
        memo = in_digits(nodes, self.values, replaced)
        values = [memo[n.index] for n in nodes]
        return None if any(map(missing, values)) else values


class MatrixPoint:
    """Values of matrices."""

    def __init__(self, search: Search, seed: int) -> None:
        from blrgen.validate.reading.matrices import Matrices

        judge = Matrices(search.reading)
        used = names_in([n for x in search.lines for n in x.nodes])
        used |= names_in([n for row in search.outputs.values() for n in row])
        d, rows = _sizes(search)
        made = Entries(judge.rule, search.graph, d, rows)
        random = Random(seed)
        self.model = numeric_model(d, judge.domains, random, data(judge.rule, made, random))
        self.values = judge._named(self.model, d)
        if not used <= set(self.values):
            raise LookupError
        self.next = {n: self.rule(e) for n, e in judge.next.items()}

    def rule(self, e: Expr) -> Any:
        try:
            return [v for r in difference(self.model, e, e)[0] for v in r]
        except (Undefined, Unlucky, NoModel, ZeroDivisionError, TypeError):
            return None

    code = ElementPoint.code


def _sizes(search: Search) -> tuple[int, int]:
    """The size at which the code was read, from a state's next value, and the rows of data."""
    for q in search.rule.of("state"):
        count = len(search.outputs.get(q.name, ()))
        if count:
            d = count if q.rank == "vector" else math.isqrt(count)
            break
    else:
        raise LookupError
    names = {q.name for q in search.rule.of("data")}
    used = names_in([n for x in search.lines for n in x.nodes])
    places = [x.partition("[")[2] for x in used if x.partition("[")[0] in names]
    return d, max((1 + int(x.rstrip("]").partition(",")[0]) for x in places), default=d)


def _alike(a: Any, b: Any) -> bool:
    size = max(max(abs(x), abs(y)) for x, y in zip(a, b, strict=True))
    return all(abs(x - y) <= size * mpmath.mpf(10) ** -20 for x, y in zip(a, b, strict=True))
