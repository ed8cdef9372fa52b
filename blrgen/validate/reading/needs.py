"""Whether matrix code has values wherever the rule has: at one point of the field."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import sympy as sp

from blrgen.decide.domain import range_of
from blrgen.decide.field import determinant, invert, multiply, pivots, transpose
from blrgen.decide.matrices import Model
from blrgen.decide.modular import Unlucky
from blrgen.validate.reading.algebra import names_in
from blrgen.validate.reading.definedness import conditions, guarded
from blrgen.validate.reading.entries import ROWS
from blrgen.validate.reading.field import Pair
from blrgen.validate.reading.graph import Node, reachable
from blrgen.validate.reading.interpret import FieldPoint

Expr = Any


class Needs:
    """Whether what the code needs to be defined is what the rule needs, at one point."""

    def __init__(
        self, judge: Any, point: FieldPoint, memo: dict[int, Any], model: Model, d: int
    ) -> None:
        self.judge, self.point, self.memo, self.model, self.d = judge, point, memo, model, d
        self.definite = [self._rows(e) for e in self._definite()]
        bases = [self._rows(e) for e in self._inverted()]
        self.regular = self.definite + [b for b in bases if b not in self.definite]
        self.minors = {x for m in self.definite for x in _pivots(m)}
        self.numbers = self._positive_numbers()

    def _rows(self, e: Expr) -> Any:
        rows = self.model.rows(e)
        return tuple(tuple(Pair.of(x) for x in r) for r in rows)

    def _definite(self) -> list[Expr]:
        """States and next states that are declared positive definite."""
        rule = self.judge.rule
        found = [q for q in rule.of("state") if "SPD" in q.domain and not q.domain.startswith("-")]
        return [e for q in found for e in (q.symbol, self.judge.next[q.name])]

    def _inverted(self) -> list[Expr]:
        """What the rule itself inverts."""
        out: dict[Expr, None] = {}
        for e in self.judge.next.values():
            for n in sp.preorder_traversal(e):
                if n.is_Pow and not n.is_commutative and n.exp.is_negative:
                    out[n.base] = None
        return list(out)

    def _positive_numbers(self) -> list[Any]:
        """Hyperparameters that are positive by their domains."""
        out = []
        for q in self.judge.rule.quantities:
            if q.rank in ROWS:
                continue
            r = range_of(q.symbol, self.judge.domains)
            if (
                r.lower is not None
                and r.lower >= 0
                and not (r.lower == 0 and r.closed[0] and "[" in q.domain[:1])
            ):
                x = Pair.of(self.point.symbol(q.name))
                out += [x, x.inverse()]
        return out

    def lacking(self, roots: Sequence[Node], guards: Any) -> str:
        """The first condition that is not seen to be the rule's."""
        for n in reachable(roots):
            if n.op == "entry" and n.data[1] == 0 and not self._block(n):
                what = n.data[0].op
                return f"line {n.line}: the rule is not seen to be undefined where this {what} is"
        for kind, x, where, line in conditions(self.judge.graph, roots, guards, self.judge.whole):
            if not guarded(kind, x, where) and not self._number(kind, x):
                return f"line {line}: the rule is not seen to be undefined where this is"
        return ""

    def _number(self, kind: str, x: Node) -> bool:
        known = {q.name for q in self.judge.rule.quantities if q.rank not in ROWS}
        if kind == "base":
            return False
        if names_in([x]) <= known and not any(k.op == "entry" for k in reachable([x])):
            return bool(self.judge.scalars.implied(kind, self.judge.scalars.expression(x)))
        if x.op == "sqrt":
            return self._number("positive", x.args[0])
        return Pair.of(self.memo[x.index]) in self.minors

    def _block(self, n: Node) -> bool:
        """Whether a matrix that is inverted or factored is one that the rule has."""
        block = n.data[0]
        if block.op == "det":
            return True
        k = block.order
        flat = [Pair.of(self.memo[a.index]) for a in block.entries[: k * k]]
        rows = tuple(tuple(flat[i * k : (i + 1) * k]) for i in range(k))
        if block.op == "cholesky":
            return any(
                self._multiple(rows, m) or self._multiple(rows, invert(m)[0])
                for m in self._sized(self.definite, k)
            )
        known = self._sized(self.regular, k)
        if any(self._multiple(rows, m) for m in known):
            return True
        if any(
            multiply(rows, transpose(rows)) == m or multiply(transpose(rows), rows) == m
            for m in known
        ):
            return True
        return self._by_determinants(determinant(rows), known, k) or self._triangular(block, rows)

    def _sized(self, found: list[Any], k: int) -> list[Any]:
        return [m for m in found if len(m) == k]

    def _multiple(self, rows: Any, m: Any) -> bool:
        """rows = c m with a c that is positive."""
        if rows == m:
            return True
        if len(rows) == 0 or m[0][0] == 0:
            return False
        c = rows[0][0] / m[0][0]
        return c in self.numbers and all(
            x == c * y for r, s in zip(rows, m, strict=True) for x, y in zip(r, s, strict=True)
        )

    def _triangular(self, block: Any, rows: Any) -> bool:
        """A triangle whose diagonal is roots of pivots of what is positive definite."""
        k = len(rows)
        lower = all(rows[i][j] == 0 for i in range(k) for j in range(i + 1, k))
        upper = all(rows[i][j] == 0 for i in range(k) for j in range(i))
        if not (lower or upper):
            return False
        diagonal = [rows[i][i] for i in range(k)]
        return all(x == 1 or x * x in self.minors or x in self.minors for x in diagonal)

    def _by_determinants(self, x: Any, known: list[Any], k: int) -> bool:
        """det = ± a product of powers of the determinants that are not zero."""
        dets = list(dict.fromkeys(determinant(m) for m in self.regular))[:3]
        factors = [Pair(1)] + [s**j for s in self.numbers for j in {1, k, 2 * k, max(1, k - 1)}]
        for powers in product((0, 1, -1, 2, -2), repeat=len(dets)):
            y = Pair(1)
            for det, p in zip(dets, powers, strict=True):
                y = y * det**p
            if any(x == y * f or x == -(y * f) for f in factors):
                return True
        return False


def _pivots(m: Any) -> list[Any]:
    """Ratios of the leading minors of a matrix: positive where it is positive definite."""
    out = pivots(m)
    if out and out[-1] == 0:
        raise Unlucky
    return out
