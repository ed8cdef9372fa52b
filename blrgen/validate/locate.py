"""Which line of a refuted step function is wrong.

A line is blamed when replacing what it computes by a value that occurs in the rule
makes the whole function right.  Lines whose value occurs in the rule as it is are
suspected last.  Failing that, the first line whose value does not occur in the rule,
and at last the line that gave the differing state its value.
"""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from mpmath import mp

from blrgen.algebra.ranks import T, mat, vec
from blrgen.decide.domain import range_of
from blrgen.decide.field import Rows
from blrgen.decide.functions import spoken
from blrgen.decide.matrices import difference, numeric_model
from blrgen.decide.modular import NoModel, Unlucky
from blrgen.decide.proof import Verdict
from blrgen.text.expression import ascii
from blrgen.validate import reference
from blrgen.validate.candidates import candidates
from blrgen.validate.symbolic.linear import NC
from blrgen.validate.symbolic.number import CannotRun, Sym, Truth, expr_of
from blrgen.validate.symbolic.run import Record
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
SECONDS = 6.0
DIGITS = 30


def located(verdict: Verdict, run: Any, source: str) -> Verdict:
    """The verdict with the line that is wrong, and what the rule has there if that is known."""
    if type(run.mode).__name__ == "FieldMode" or not _computed(verdict, run):
        return verdict
    search = Search(run)
    line, repair = search.blame(verdict)
    rows = source.splitlines()
    text = rows[line - 1].strip() if 0 < line <= len(rows) else ""
    return replace(verdict, line=line, source=text, repair=repair)


def _computed(verdict: Verdict, run: Any) -> bool:
    """Whether what is refuted is computed in a line: how steps are counted is not, for one."""
    refuted = {n.partition(",")[0] for n, p in verdict.proofs if p.level == "refuted"}
    return not refuted.isdisjoint({*run.values, *getattr(run, "probes", ())})


class Search:
    """Evaluates a run and its rule at random points to compare values, lines and repairs."""

    def __init__(self, run: Any) -> None:
        self.run, self.mode = run, run.mode
        self.matrix = type(run.mode).__name__ == "MatrixMode"
        self.deadline = time.process_time() + SECONDS
        random = Random(3)
        self.points = [
            _Point(self.mode.domains, Random(random.random()), self.matrix) for _ in range(2)
        ]
        rule = run.rule
        self.next = {n: self._first(e) for n, e in reference.next_states(rule).items()}
        self.candidates = candidates(run.rule)
        self.known = {self.points[0].key(self._first(c)) for c in self.candidates} - {None}

    def _first(self, e: Expr) -> Expr:
        """An expression of the rule, for the first element."""
        return e if self.matrix else self.mode.elements.at(e, 0)

    # blame ------------------------------------------------------------------------------
    def blame(self, verdict: Verdict) -> tuple[int, str]:
        records = self.run.program.records
        first = [r for k, r in enumerate(records) if (r.line, r.target) not in
                 {(x.line, x.target) for x in records[:k]}]  # fmt: skip
        first = [r for r in first if not r.target.startswith("returned")]
        strange = [r for r in first if not self._occurs(r.value)]
        refuted = self._refuted(verdict)
        for suspects, states in (
            (strange, None), ([r for r in first if r not in strange], None), (strange, refuted)
        ):  # fmt: skip
            for r in suspects:
                repair = self._repair(r, states)
                if repair is not None:
                    text = ascii(spoken(repair))
                    return r.line, text if "return" in r.target else f"{r.target} = {text}"
        hyper = {self.mode.quantity(q.name).symbol for q in self.run.rule.of("hyper", "counter")}
        for r in strange:
            e = self._expr(r.value)
            if e is not None and not e.free_symbols <= hyper:
                return r.line, ""
        return self._last(verdict, records), ""

    def _refuted(self, verdict: Verdict) -> set[str]:
        """The states whose claims are refuted; other claims name none."""
        return {n for n, p in verdict.proofs if p.level == "refuted" and n in self.run.values}

    def _last(self, verdict: Verdict, records: list[Record]) -> int:
        name = min(self._refuted(verdict), default="")
        if not name:
            return 0
        wrong = self._expr(self.run.values[name])
        swapped = self._occurs(self.run.values[name])  # right somewhere else: look at the return
        lines = [
            r.line for r in records
            if wrong is not None and self._expr(r.value) == wrong
            and (swapped or not r.target.startswith("returned"))
        ]  # fmt: skip
        return lines[-1] if lines else (records[-1].line if records else 0)

    def _expr(self, value: Any) -> Expr | None:
        """A value as an expression: the first element of an array."""
        if isinstance(value, NC):
            return value.e
        if isinstance(value, np.ndarray):
            if value.size == 0:
                return None
            value = value.reshape(-1)[0]
        if isinstance(value, Sym | int | float) and not isinstance(value, bool):
            return expr_of(value)
        return None

    def _occurs(self, value: Any) -> bool:
        e = self._expr(value)
        if e is None or e.is_number:
            return True
        keys = (self.points[0].key(e), self.points[0].key(-e))
        return any(k in self.known for k in keys)

    def _repair(self, record: Record, states: set[str] | None) -> Expr | None:
        """A subexpression of the rule that makes everything right in place of the line's value.

        With `states`, that makes one of them right (where several lines are wrong).
        """
        if isinstance(record.value, Truth) or self._expr(record.value) is None:
            return None
        used: dict[tuple[int, int], Expr] = {}
        kind = record.value.kind if isinstance(record.value, NC) else ""

        def override(line: int, target: str, count: int, value: Any) -> Any:
            if (line, target) != (record.line, record.target):
                return value
            return _replaced(value, count, used)

        try:
            program, values, _ = self.run.execute(override)
        except (CannotRun, Exception):
            return None
        outputs = {n: self._output(v, program) for n, v in values.items()}
        if any(v is None for v in outputs.values()):
            return None
        for w in self.candidates:
            if time.process_time() > self.deadline:
                return None
            if (kind == "") != bool(w.is_commutative):
                continue
            tried = [outputs] if states is None else [{n: outputs[n]} for n in sorted(states)]
            if any(self._fits(o, used, w) for o in tried):
                return w
        return None

    def _output(self, value: Any, program: Any) -> Expr | None:
        if self.matrix:
            try:
                return self.mode.output(value, program)
            except CannotRun:
                return None
        return self._expr(value)

    def _fits(self, outputs: dict[str, Expr], used: dict[tuple[int, int], Expr], w: Expr) -> bool:
        for point in self.points:
            replacement = {}
            for (count, i), symbol in used.items():
                element = i if i else count
                if self.matrix:
                    replacement[symbol] = w
                elif element < self.mode.count or i == 0:
                    replacement[symbol] = self.mode.elements.at(
                        w, min(element, self.mode.count - 1)
                    )
            for n, out in outputs.items():
                if not point.equal(out, self.next[n], replacement):
                    return False
        return True


def _replaced(value: Any, count: int, used: dict[tuple[int, int], Expr]) -> Any:
    """The value with fresh symbols in it, in place where it is an array."""
    if isinstance(value, NC):
        name = f"override_{count}"
        used[(count, 0)] = mat(name) if value.kind == "matrix" else vec(name)
        value.e = T(used[(count, 0)]) if value.kind == "row" else used[(count, 0)]
        return value
    if isinstance(value, np.ndarray):
        flat = []
        for i in range(value.size):
            symbol = used.setdefault((count, i), sp.Symbol(f"override_{count}_{i}", real=True))
            flat.append(Sym(symbol))
        value[...] = np.array([*flat, None], dtype=object)[:-1].reshape(value.shape)
        return value
    symbol = used.setdefault((count, 0), sp.Symbol(f"override_{count}", real=True))
    return Sym(symbol)


class _Point:
    """One random point, with values of expressions as comparable keys."""

    def __init__(self, domains: dict[Any, str], random: Random, matrix: bool) -> None:
        self.domains, self.random, self.matrix = domains, random, matrix
        self.scalars: dict[Expr, Any] = {}
        self.memo: dict[Expr, Any] = {}
        self.values: dict[Expr, Any] = {}

    def value(self, e: Expr, replacement: dict[Expr, Expr] | None = None) -> Any:
        """The value to thirty digits, or None where there is none."""
        with mp.workdps(DIGITS):
            try:
                return self._matrix(e, replacement) if self.matrix else self._scalar(e, replacement)
            except (Undefined, NoModel, Unlucky, ZeroDivisionError, TypeError, ValueError):
                return None

    def _scalar(self, e: Expr, replacement: dict[Expr, Expr] | None) -> Any:
        symbols = set(e.free_symbols)
        for w in (replacement or {}).values():
            symbols |= w.free_symbols
        for s in sorted(symbols, key=lambda s: s.name):
            if s not in self.scalars and s not in (replacement or {}):
                x = range_of(s, self.domains).sample(self.random)
                self.scalars[s] = mpmath.mpf(x.numerator) / x.denominator
        if not replacement:
            return evaluate(e, self.scalars, self.memo)
        known = {s: evaluate(w, self.scalars, self.memo) for s, w in replacement.items()}
        return evaluate(e, {**self.scalars, **known})

    def _matrix(self, e: Expr, replacement: dict[Expr, Expr] | None) -> Rows:
        if replacement:
            e = e.xreplace(replacement).doit()
        model = numeric_model(2, self.domains, self.random, self.values)
        return difference(model, e, e)[0]

    def key(self, e: Expr) -> str | None:
        """The value as text of eighteen digits."""
        x = self.value(e)
        if x is None:
            return None
        if isinstance(x, tuple):
            return " ".join(mpmath.nstr(v, 18) for r in x for v in r)
        return str(mpmath.nstr(x, 18))

    def equal(self, a: Expr, b: Expr, replacement: dict[Expr, Expr]) -> bool:
        x, y = self.value(a, replacement), self.value(b)
        if x is None or y is None:
            return False
        if not isinstance(x, tuple):
            x, y = ((x,),), ((y,),)
        if len(x) != len(y) or len(x[0]) != len(y[0]):
            return False
        pairs = [(p, q) for r, s in zip(x, y, strict=True) for p, q in zip(r, s, strict=True)]
        scale = max(max(abs(p), abs(q)) for p, q in pairs)
        return bool(all(abs(p - q) <= scale * mpmath.mpf(10) ** -20 for p, q in pairs))
