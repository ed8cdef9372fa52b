"""Rules of vectors and matrices: exactly, at sizes, over a field; in words for every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from blrgen.algebra.ranks import SymMat
from blrgen.core import Rule
from blrgen.decide.domain import range_of
from blrgen.decide.equal import DIGITS, MORE_DIGITS, TOLERANCE
from blrgen.decide.matrices import Model, difference, matrix_degree, numeric_model, size_at
from blrgen.decide.modular import NoModel, Unlucky
from blrgen.decide.proof import NOT_COMPARED, Proof
from blrgen.limits import LENGTH as LARGEST
from blrgen.validate import reference
from blrgen.validate.reading import sizes
from blrgen.validate.reading.algebra import names_in
from blrgen.validate.reading.branches import paths
from blrgen.validate.reading.definedness import split
from blrgen.validate.reading.elementwise import Elementwise
from blrgen.validate.reading.entries import ROWS, Entries
from blrgen.validate.reading.field import Pair
from blrgen.validate.reading.graph import Node, reachable
from blrgen.validate.reading.interpret import (
    UNDEFINED,
    UNKNOWN,
    FieldPoint,
    field_value,
    in_digits,
    in_doubles,
    missing,
)
from blrgen.validate.reading.machine import Bounds, Machine
from blrgen.validate.reading.needs import Needs
from blrgen.validate.reading.points import POOL, contains
from blrgen.validate.reading.signals import NeedsSizes, Refused
from blrgen.validate.reading.sizes import BEYOND, LEAST
from blrgen.validate.reading.values import Array, Num, Whole
from blrgen.validate.reading.words import every_size
from blrgen.value.evaluate import Undefined

Expr = Any
TRIALS, ATTEMPTS, POINTS = 2, 40, 12


def shown(reading: Any) -> Any:
    """Every size up to beyond what constants say, then, if it is proved, every size at once."""
    from blrgen.validate.reading.ranks import Shown

    judge = reading.judge = Matrices(reading)
    reading.element = judge.scalars
    out = Shown(1)
    bounds = Bounds()
    waiting = list(range(1, LEAST + 1))
    done: list[int] = []
    while waiting:
        d = waiting.pop(0)
        done.append(d)
        for rows in sizes.rows(judge.rule, d, bounds):
            judge.size(out, d, bounds, rows)
            if out.refuted:
                return out
        most = bounds.largest(LEAST)
        if most > LARGEST:
            raise Refused(f"a length that meets a constant beyond {LARGEST}", reading.f.node.lineno)
        waiting += [k for k in range(LEAST + 1, most + 1) if k not in done + waiting]
        if not waiting and done[-1] < BEYOND[-1]:
            waiting += [k for k in BEYOND if k not in done]
    if all(p.proved for ps in out.proofs.values() for p in ps):
        every_size(judge, out)
    return out


class Matrices:
    """A matrix rule and what was read, at points over a field and over the reals."""

    def __init__(self, reading: Any) -> None:
        self.reading, self.rule, self.graph = reading, reading.rule, reading.graph
        self.next = reference.next_states(self.rule)
        self.domains = reference.domains(self.rule)
        self.scalars = Elementwise(self._scalar_rule(), self.graph, reading.numbers)
        self.random = Random(11)
        self.whole = frozenset(q.name for q in self.rule.of("counter"))

    def _scalar_rule(self) -> Rule:
        """The quantities that are numbers, for what the domains decide of them."""
        kept = tuple(q for q in self.rule.quantities if q.rank not in ROWS)
        rule: Rule = replace(self.rule, quantities=kept, assignments=())
        return rule

    def decide(self, c: Node) -> bool | None:
        known = {q.name for q in self.rule.quantities if q.rank not in ROWS}
        if any(x.op == "entry" for x in reachable([c])) or not names_in([c]) <= known:
            return None
        return self.scalars.decide(c)

    # one size -----------------------------------------------------------------------------
    def size(self, out: Any, d: int, bounds: Bounds, rows: int) -> None:
        """All paths at one size."""
        made = Entries(self.rule, self.graph, d, rows)

        def start(given: list[bool]) -> Machine:
            mc: Machine = self.reading.machine(
                generic=False, given=given, bounds=bounds, decide=self.decide
            )
            return mc

        try:
            found = list(paths(start, lambda mc: self.reading.call(mc, made)))
        except NeedsSizes as error:
            raise Refused(error.what, error.line) from None
        if all(p.raised is not None for p in found):
            first = found[0].raised
            assert first is not None
            raise Refused(f"a step on which Python raises ({first.what})", first.line)
        for p in found:
            self._path(out, p, made)

    def _path(self, out: Any, path: Any, made: Entries) -> None:
        states = self.reading.matching.states
        if path.raised is not None:
            why = f"line {path.raised.line}: {path.raised.what}, perhaps where the rule has values"
            for n in states:
                out.add(n, Proof(NOT_COMPARED, f"{n}_next", why))
            return
        result = path.result
        self.reading.manners(out, result)
        values = {n: [self._data(n, x, made) for x in (result.values[n], result.in_place.get(n))
                      if x is not None] for n in states}  # fmt: skip
        effects = [e for e in dict.fromkeys(path.machine.effects) if e.number is None]
        roots = [k for xs in values.values() for x in xs for k in x.reshape(-1)]
        single = made.d == made.rows == 1
        sizes.hidden(self.rule, [*roots, *effects], path.machine.bounds, single=single)
        proofs = self._proofs(values, effects, path.conditions, made)
        for n, proof in proofs.items():
            out.add(n, proof)
            self.reading.blame(proof, path.machine, result)

    def _data(self, n: str, x: Any, made: Entries) -> np.ndarray:
        """The entries of a result of the right shape."""
        line = self.reading.f.node.lineno
        if self.rule[n].rank not in ROWS:
            if not isinstance(x, Num | Whole):
                raise Refused(f"a new {n} that is no number", line)
            node = self.graph.number(x.value) if isinstance(x, Whole) else x.node
            return np.array([node, None], dtype=object)[:1]
        if not isinstance(x, Array) or x.data.shape != made.shape(n) or x.kind == "b":
            raise Refused(f"a new {n} that has not the shape of {n}", line)
        return x.data

    def _proofs(
        self, values: Any, effects: list[Node], path: Any, made: Entries
    ) -> dict[str, Proof]:
        flat = {n: [k for x in xs for k in x.reshape(-1)] for n, xs in values.items()}
        if made.d <= 3:
            refuted = self._refute(values, effects, path, made)
            if refuted:
                return refuted
        return self._exact(values, flat, effects, path, made)

    # reals ----------------------------------------------------------------------------------
    def _refute(
        self, values: Any, effects: list[Node], path: Any, made: Entries
    ) -> dict[str, Proof] | None:
        """A point at which a state and the rule differ."""
        roots = [*(k for xs in values.values() for x in xs for k in x.reshape(-1)), *effects,
                 *(c for c, _ in path)]  # fmt: skip
        for trial in range(POINTS if made.d <= 3 else 3):
            point = {**self._singled(trial, roots), **sizes.data(self.rule, made, self.random)}
            found = self._at(values, roots, path, made.d, point)
            if found:
                return found
        return None

    def _singled(self, trial: int, roots: Sequence[Node]) -> dict[Expr, Any]:
        """Numbers of the file for some of the hyperparameters, in every second point."""
        if trial % 2 == 0:
            return {}
        out: dict[Expr, Any] = {}
        for q in self.rule.quantities:
            if q.rank in ROWS or self.random.random() < 0.5:
                continue
            r = range_of(q.symbol, self.domains)
            pool = [x for x in (*POOL, *self.reading.numbers) if contains(r, x)]
            if pool:
                out[q.symbol] = self.random.choice(pool)
        return out

    def _at(
        self, values: Any, roots: Any, path: Any, d: int, point: dict[Expr, Any]
    ) -> dict[str, Proof] | None:
        gaps: dict[str, list[Any]] = {}
        for digits in (DIGITS, MORE_DIGITS):
            with mp.workdps(digits):
                try:
                    model = numeric_model(d, self.domains, self.random, point)
                    real = self._named(model, d)
                    rule = {n: difference(model, e, e)[0] for n, e in self.next.items()}
                except (Undefined, Unlucky, NoModel, ZeroDivisionError, TypeError):
                    return None
                if not self._in_domains(rule):
                    return None
                memo = in_digits(roots, real)
                if any(missing(memo[c.index]) or bool(memo[c.index]) != v for c, v in path):
                    return None
                for n, xs in values.items():
                    for x in xs:
                        found = self._differs(n, x, memo, rule[n], real, point, gaps)
                        if found:
                            return {n: found}
        return None

    def _differs(
        self, n: str, x: Any, memo: Any, rows: Any, real: Any, point: Any, gaps: Any
    ) -> Proof | None:
        wanted = [v for r in rows for v in r]
        got = [memo[k.index] for k in x.reshape(-1)]
        told = tuple((str(s), _text(v)) for s, v in sorted(point.items(), key=lambda t: str(t[0])))
        if UNKNOWN in got:
            return None
        if any(v is UNDEFINED for v in got):
            k = next(k for k, v in zip(x.reshape(-1), got, strict=True) if v is UNDEFINED)
            if np.isfinite(in_doubles([k], {a: float(v) for a, v in real.items()})[k.index]):
                return None
            return Proof(
                "refuted",
                f"{n}_next",
                "it has no value where the rule has one",
                told,
                "nan",
                _text(rows),
            )
        if len(got) != len(wanted):
            return None
        gap = max(abs(a - b) for a, b in zip(got, wanted, strict=True))
        size = max(abs(v) for v in (*got, *wanted))
        if gap <= TOLERANCE * size:
            return None
        gaps.setdefault(n, []).append(gap)
        if len(gaps[n]) > 1 and abs(gaps[n][-1] - gaps[n][0]) <= gap / 1000:
            shape = tuple(
                tuple(got[i : i + len(rows[0])]) for i in range(0, len(got), len(rows[0]))
            )
            return Proof(
                "refuted",
                f"{n}_next",
                "the two sides differ at a point",
                told,
                _text(shape),
                _text(rows),
            )
        return None

    def _named(self, model: Model, d: int) -> dict[str, Any]:
        """Symbol of the graph → its number."""
        out: dict[str, Any] = {}
        for q in self.rule.quantities:
            if q.kind == "intermediate":
                continue
            if q.rank not in ROWS:
                out[q.name] = model.scalar(q.symbol)
                continue
            for i, r in enumerate(model.rows(q.symbol)):
                for j, v in enumerate(r):
                    out[f"{q.name}{[i] if q.rank == 'vector' else [i, j]}"] = v
        return out

    def _in_domains(self, rule: dict[str, Any]) -> bool:
        """Whether every next state that must be positive definite is."""
        from blrgen.validate.reading.interpret import _cholesky

        for n, rows in rule.items():
            text = self.rule[n].domain
            if "SPD" not in text:
                continue
            signed = rows if not text.startswith("-") else tuple(tuple(-v for v in r) for r in rows)
            try:
                _cholesky(signed, None)
            except Unlucky:
                return False
        return True

    # the field -----------------------------------------------------------------------------------
    def _exact(
        self, values: Any, flat: Any, effects: list[Node], path: Any, made: Entries
    ) -> dict[str, Proof]:
        out: dict[str, Proof] = {}
        trials = 0
        for _ in range(ATTEMPTS):
            if trials == TRIALS:
                break
            try:
                found = self._trial(values, flat, effects, path, made)
            except (Unlucky, ZeroDivisionError):
                continue
            except NoModel as error:
                return self._all(NOT_COMPARED, f"{error} has no counterpart in a field")
            trials += 1
            out.update({n: p for n, p in found.items() if n not in out or out[n].proved})
        if trials < TRIALS:
            return self._all(NOT_COMPARED, f"no point of the field was found at d = {made.d}")
        return out

    def _all(self, level: str, why: str) -> dict[str, Proof]:
        return {n: Proof(level, f"{n}_next", why) for n in self.reading.matching.states}

    def _trial(
        self, values: Any, flat: Any, effects: list[Node], path: Any, made: Entries
    ) -> dict[str, Proof]:
        point = FieldPoint(self.random)
        for name in self.whole:
            point.symbols[name] = self.random.randrange(2, 2**40)
        model = self._model(point, made)
        roots = [k for nodes in flat.values() for k in nodes] + effects
        memo = point.values(roots)
        out = {}
        for n, xs in values.items():
            wanted = _entries(model, self.next[n], xs[0])
            for x in xs:
                if [Pair.of(memo[k.index]) for k in x.reshape(-1)] != wanted:
                    why = (
                        f"it differs from the rule for random matrices over a field at d = {made.d}"
                    )
                    out[n] = Proof(NOT_COMPARED, f"{n}_next", why)
        if out:
            return (made.d > 3 and self._refute(values, effects, path, made)) or out
        needs = Needs(self, point, memo, model, made.d)
        why = needs.lacking(roots, tuple(x for c, v in path for x in split(c, v)))
        for n in values:
            if n not in out:
                out[n] = Proof(NOT_COMPARED, f"{n}_next", why) if why else self._proved(n, made.d)
        return out

    def _proved(self, n: str, d: int) -> Proof:
        size = matrix_degree(self.next[n], d)
        bound = f"(k/2^127)^{TRIALS} at each size, k the larger degree (rule: {size})"
        at = f"d = 1…{LEAST}, {', '.join(map(str, BEYOND))}"
        detail = f"equal for random matrices over a finite field at {at}"
        return Proof("random-exact", f"{n}_next", detail, bound=bound, sizes=at)

    def _model(self, point: FieldPoint, made: Entries) -> Model:
        """The rule over the same point."""

        def symbol(s: Expr) -> Any:
            height, width = (size_at(k, made.d) for k in s.shape)
            height = made.rows if self.rule[s.name].kind == "data" else height

            def at(i: int, j: int) -> Any:
                index = [i] if width == 1 and self._is_vector(s) else [i, j]
                index = sorted(index) if isinstance(s, SymMat) else index
                return Pair.of(point.symbol(f"{s.name}{index}"))

            return tuple(tuple(at(i, j) for j in range(width)) for i in range(height))

        def scalar(e: Expr, special: dict[Expr, Any]) -> Any:
            return field_value(e, point, special)

        return Model(made.d, scalar, symbol, lambda x: point.function(("log", (Pair.of(x),))))

    def _is_vector(self, s: Expr) -> bool:
        return str(self.rule[s.name].rank) == "vector"


def _entries(model: Model, e: Expr, x: np.ndarray) -> list[Any]:
    """The rule's value entry by entry, in the shape of the result."""
    value = model.rows(e) if x.ndim == 2 else model.value(e)
    rows = value if isinstance(value, tuple) else ((value,),)
    return [Pair.of(v) for r in rows for v in r]


def _text(v: Any) -> str:
    if isinstance(v, tuple):
        return "[" + ", ".join(map(_text, v)) + "]"
    return str(v) if isinstance(v, Fraction) else mpmath.nstr(v, 12)
