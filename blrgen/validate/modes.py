"""The kinds of values a step is run on.

Elementwise rules: arrays of two elements with symbols of their own.
Matrix rules: matrices of any size, else numbers modulo a prime at d = 1…6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.ranks import Ranked
from blrgen.core import Quantity, Rule
from blrgen.decide.equal import equal
from blrgen.decide.field import Mod
from blrgen.decide.matrices import Model, matrix_degree, modular_model
from blrgen.decide.proof import Proof
from blrgen.errors import InternalError
from blrgen.validate import reference
from blrgen.validate.symbolic import linalg
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.linalg import without_factors
from blrgen.validate.symbolic.linear import NC
from blrgen.validate.symbolic.number import CannotRun, Sym, expr_of
from blrgen.validate.symbolic.run import Program

Expr = Any
SIZES = (1, 2, 3, 4, 5, 6)
COUNTS = (2, 3)  # components of the vectors that sums run over
MOVING = ("state", "input", "draw", "data")  # what has another value in another step


class Mode:
    """How to make arguments and how to compare results."""

    first_form = True  # of a number that is written in two forms
    notes: tuple[str, ...] = ()
    swap: Mapping[Expr, Expr] = MappingProxyType({})  # the rule's symbols → those of another step

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.known = reference.expanded(rule)
        self.domains: dict[Any, str] = reference.domains(rule)

    @contextmanager
    def before(self, steps: int) -> Iterator[dict[Any, str]]:
        """Values in symbols of an earlier step, with their domains.

        Hyperparameters and the counter stay what they are.
        """
        told = {s: d for s, d in self.domains.items() if not isinstance(s, str)}
        self.swap = {s: earlier(s, steps) for s in self.moving()}
        try:
            yield {self.swap[s]: d for s, d in told.items() if s in self.swap}
        finally:
            self.swap = {}

    def moving(self) -> set[Expr]:
        """The symbols whose values differ from step to step."""
        return {q.symbol for q in self.rule.of(*MOVING)}

    def quantity(self, name: str) -> Quantity:
        if name in self.rule:
            return self.rule[name]
        raise InternalError(f"no quantity {name}")

    def proofs(self, run: Any) -> list[tuple[str, Proof]]:
        """One proof for each state the function takes."""
        known = reference.next_states(self.rule)
        return [
            (n, self.compare(n, run.values[n], known[n], run.program)) for n in run.matching.states
        ]

    def compare(self, name: str, value: Any, expected: Expr, program: Program) -> Proof:
        raise NotImplementedError

    def agree(self, values: Mapping[str, Any], program: Program) -> bool:
        """Whether these are the next states of the rule."""
        known = reference.next_states(self.rule)
        return all(self.compare(n, x, known[n], program).proved for n, x in values.items())

    def contents(self, x: Any) -> Any:
        return x.copy() if isinstance(x, np.ndarray) else x

    def same(self, a: Any, b: Any) -> bool:
        if isinstance(a, np.ndarray):
            pairs = zip(a.reshape(-1), b.reshape(-1), strict=False)
            return a.size == b.size and all(_as_written(x, y) for x, y in pairs)
        return bool(a is b)


def _as_written(a: Any, b: Any) -> bool:
    """The same expression, node by node: of what is no expression, the same text."""
    if isinstance(a, Sym) and isinstance(b, Sym):
        return bool(a.e == b.e)
    return str(a) == str(b)


class ArrayMode(Mode):
    """Every elementwise quantity is an array of two symbols, or of `count`."""

    count = 2

    def __init__(self, rule: Rule, count: int = 0) -> None:
        super().__init__(rule)
        self.count = count or type(self).count
        self.coupled = reference.is_coupled(rule)
        if self.coupled:
            self.notes = (f"sums over components were compared for {self.count} of them",)
        self.elements = reference.Elements(rule, self.count)
        self.domains = self.elements.domains

    def value(self, name: str) -> Any:
        if name in self.known:  # a point the rule draws, given as an argument
            each = [self.elements.at(self.known[name], i) for i in range(self.count)]
            return array([Sym(e.xreplace(self.swap)) for e in each])
        q = self.quantity(name)
        if self.elements.is_array(q):
            each = [self.elements.symbol(q, i) for i in range(self.count)]
            return array([Sym(s.xreplace(self.swap)) for s in each])
        return Sym(q.symbol.xreplace(self.swap))

    def moving(self) -> set[Expr]:
        of = self.rule.of(*MOVING)
        return {self.elements.symbol(q, i) for q in of for i in range(self.count)}

    def outputs(self, value: Any) -> list[Expr] | None:
        """The elements of a result, or None when its shape is wrong."""
        raw = np.asarray(value, dtype=object).view(np.ndarray)
        if raw.ndim and raw.shape != (self.count,):
            return None
        return [expr_of(x) for x in np.broadcast_to(raw, (self.count,)).reshape(-1)]

    def compare(self, name: str, value: Any, expected: Expr, program: Program) -> Proof:
        return self.compare_expr(f"{name}_next", value, expected, program)

    def compare_expr(self, claim: str, value: Any, expected: Expr, program: Program) -> Proof:
        """Every element of a result against an expression of the rule."""
        found = self.outputs(value)
        if found is None:
            shape = np.asarray(value, dtype=object).shape
            return Proof("refuted", claim, f"the result has shape {shape}, not (n,)")
        proof = Proof("identity", claim)
        for i, actual in enumerate(found):
            if i and not self.coupled and self.elements.moved(found[0], 0, i) == actual:
                continue
            proof = equal(actual, self.elements.at(expected, i), self.domains, claim=claim)
            if not proof.proved:
                return proof
        return proof


class MatrixMode(Mode):
    """Vectors and matrices of any size, as non-commuting symbols."""

    def value(self, name: str) -> Any:
        if name in self.known:
            e = self.known[name]
            from blrgen.algebra.ranks import rank_of

            rank = rank_of(e)
        else:
            q = self.quantity(name)
            e, rank = q.symbol, q.rank
        e = e.xreplace(self.swap)
        if rank in ("scalar", "elementwise"):
            return Sym(e)
        return NC(e, "vector" if rank == "vector" else "matrix")

    def contents(self, x: Any) -> Any:
        return x.e if isinstance(x, NC) else x

    def same(self, a: Any, b: Any) -> bool:
        return bool(a == b) if isinstance(a, sp.Basic) else a is b

    def output(self, value: Any, program: Program) -> Expr:
        if not isinstance(value, NC):
            return expr_of(value)
        factors = program.context.factors if program.context else {}
        e = without_factors(value.e, factors)
        if any(s in e.free_symbols for s in factors):
            raise CannotRun("a Cholesky factor left in the result")
        return e

    def compare_expr(self, claim: str, value: Any, expected: Expr, program: Program) -> Proof:
        """A result against an expression of the rule."""
        return equal(self.output(value, program), expected, self.domains, claim=claim)

    def compare(self, name: str, value: Any, expected: Expr, program: Program) -> Proof:
        claim = f"{name}_next"
        kind = {"vector": "vector"}.get(self.quantity(name).rank, "matrix")
        if self.quantity(name).rank in ("scalar", "elementwise"):
            kind = "scalar"
        found = (
            {"column": "vector"}.get(value.kind, value.kind) if isinstance(value, NC) else "scalar"
        )
        if found != kind:
            return Proof("refuted", claim, f"the result is a {found} where {name} is a {kind}")
        return self.compare_expr(claim, value, expected, program)

    def factor(self, matrix: Any) -> Any:
        """What `_cholesky` returns."""
        return linalg.cholesky(matrix)


class FieldMode(Mode):
    """Numbers modulo a prime, at d = 1…6: exact, for random matrices."""

    trials = 2

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule)
        self.model: Model | None = None
        self.random = Random(7)
        self.steps = 5
        self._fresh(2)

    def _fresh(self, d: int) -> None:
        self.model = modular_model(d, self.domains, self.random)

    def value(self, name: str) -> Any:
        assert self.model is not None
        e = self.known[name] if name in self.known else self.quantity(name).symbol
        if name not in self.known and self.quantity(name).kind == "counter":
            return self.steps
        x = self.model.value(e.subs(self._counter()).xreplace(self.swap))
        if not isinstance(x, tuple):
            return x
        rows = [list(r) for r in x]
        return array([r[0] for r in rows] if self._is_vector(name) else rows)

    def _counter(self) -> dict[Expr, int]:
        return {q.symbol: self.steps for q in self.rule.of("counter")}

    def _is_vector(self, name: str) -> bool:
        if name in self.rule:
            return self.rule[name].rank == "vector"
        from blrgen.algebra.ranks import rank_of

        return rank_of(self.known[name]) == "vector"

    def matches(self, value: Any, expected: Expr) -> bool:
        """Whether a result equals the rule's value, over the field."""
        assert self.model is not None
        e = expected.subs(self._counter())
        raw = np.asarray(value, dtype=object).view(np.ndarray)
        like = self.model.rows(e) if raw.ndim == 2 else self.model.value(e)
        wanted = [x for r in like for x in r] if isinstance(like, tuple) else [like]
        return [_mod(x) for x in raw.reshape(-1)] == wanted

    def agree(self, values: Mapping[str, Any], program: Program) -> bool:
        known = reference.next_states(self.rule)
        return all(self.matches(x, known[n]) for n, x in values.items())

    def proofs(self, run: Any) -> list[tuple[str, Proof]]:
        """The function run again at every size, on other random matrices each time."""
        known = reference.next_states(self.rule)
        states = run.matching.states
        for d in SIZES:
            for _ in range(self.trials):
                self._fresh(d)
                self.steps = self.random.randint(1, 40)
                _, values, _ = run.execute()
                for n in states:
                    if not self.matches(values[n], known[n]):
                        raise CannotRun(f"{n}_next differs at d = {d} over a prime field")
        out = []
        for n in states:
            size = matrix_degree(known[n], SIZES[-1])
            bound = (
                f"(k/2^127)^{self.trials} at each size d = 1…6, k the larger degree (rule: {size})"
            )
            detail = "the function run on random matrices over a prime field at d = 1…6"
            out.append((n, Proof("random-exact", f"{n}_next", detail, bound=bound)))
        return out


def earlier(s: Expr, steps: int) -> Expr:
    """The symbol for what `s` was so many steps before."""
    name = f"{s.name}_{steps}_before"
    if isinstance(s, Ranked):
        return type(s)(name, s.shape)
    given = {k: v for k, v in s._assumptions_orig.items() if v is not None}
    return sp.Symbol(name, **given)


def _mod(x: Any) -> Any:
    return x._mod() if isinstance(x, Sym) else Mod.lift(x)
