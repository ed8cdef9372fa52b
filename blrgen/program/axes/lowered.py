"""Assignments of a rule as equations with indices.

    A B        →  sum(k, A[i,k] * B[k,j])         Aᵀ           →  A[j,i]
    identity   →  [i == j]                        S⁻¹ b        →  solve, what it takes by name
    Σ x        →  sum(j, x[j])                    its size     →  how long its axis is

A root of a matrix is an equation `L[i,j] = chol(A[i,j])`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from blrgen.algebra.ranks import T
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.lowering import Lowering
from blrgen.program.naming import describe
from blrgen.program.part import axes
from blrgen.program.program import fresh
from blrgen.program.sizes import Count
from blrgen.program.types import ENTRIES, Type
from blrgen.program.words import LETTERS, Word, unrolled

Expr = Any
AXIS = "d"  # what the axis of entries is called


@dataclass(frozen=True)
class Statement:
    """name ← expr; of a matrix the even part where `even`."""

    name: str
    expr: Expr
    type: Type
    even: bool = False
    where: str = ""  # for messages


def over_axes(known: Lowering, statements: Sequence[Statement]) -> a.Program:
    """The statements: their results are outs; `known` has the types of what is given."""
    work = Equations(known, statements)
    body = work.equations(statements)
    made = tuple(s.name for s in statements)
    found = dict.fromkeys(x for s in body for x in n.names(s.expr))
    given = tuple(work.quantity(x) for x in found if x in known.types and x not in made)
    return a.Program(tuple(work.letters.values()), given, body, made)


class Equations(Lowering):
    """Letters so far, the equations, and the matrices that are solved with."""

    def __init__(self, known: Lowering, statements: Sequence[Statement]) -> None:
        super().__init__({**known.types, **{s.name: s.type for s in statements}}, known.counts)
        self.share(known)
        self.letters: dict[str, a.Letter] = {}
        self.taken = set(self.types)
        self.body: list[a.Let] = []
        self.solved_with: set[str] = set()
        self.parts: dict[tuple[n.Node, tuple[str, ...]], str] = {}
        self.left: tuple[str, ...] = ()  # the letters of the statement that is under way
        used = {s for x in statements for s in x.expr.free_symbols}
        labels = {self.counts[s].label for s in used if s in self.counts}
        self.each = fresh(AXIS, self.taken | labels)
        self.taken.add(self.each)

    def equations(self, statements: Iterable[Statement]) -> tuple[a.Let, ...]:
        """One for each statement, and those of what needs a name."""
        for s in statements:
            self.statement(s)
        return tuple(replace(s, structure=self.structure(s.name, s.structure)) for s in self.body)

    def structure(self, name: str, known: str) -> str:
        """What is solved with is positive definite."""
        return "spd" if name in self.solved_with else known

    # -- letters and names -------------------------------------------------------------
    def axis(self, size: str) -> a.Size:
        """An axis: a name, or how long it is."""
        return axes(Type((size,)), self.each)[0]

    def letter(self, size: str) -> str:
        return self._letter(size, (*self.at, *self.used))

    def _letter(self, size: str, used: Sequence[str]) -> str:
        for x in self.letters.values():
            if x.size == self.axis(size) and x.name not in used:
                return x.name
        name = next((x for x in LETTERS if x not in self.taken), "") or fresh("i", self.taken)
        self.taken.add(name)
        self.letters[name] = a.Letter(name, self.axis(size))
        return name

    def own(self, kind: Type) -> tuple[str, ...]:
        """Letters for the axes of a type."""
        out: tuple[str, ...] = ()
        for size in kind.shape:
            out = (*out, self._letter(size, out))
        return out

    def quantity(self, name: str) -> a.Quantity:
        kind = self.types[name]
        return a.Quantity(name, axes(kind, self.each), self.structure(name, kind.structure))

    def put(
        self, name: str, letters: tuple[str, ...], expr: n.Node, structure: str = "dense"
    ) -> None:
        """One more equation."""
        self.body.append(a.Let(name, letters, expr, structure))

    def free(self, name: str) -> str:
        """A name that nothing has."""
        found = fresh(name, self.taken)
        self.taken.add(found)
        return found

    # -- statements --------------------------------------------------------------------
    def statement(self, s: Statement) -> None:
        letters = self.left = self.own(s.type)
        expr, turned = self.read(s, letters), letters[::-1]
        last = expr.args[-1].index if isinstance(expr, a.Lin) else ()
        if len(last) == 2 and last == tuple(map(a.Ix, turned)):  # (S⁻¹ A)ᵀ: S⁻¹ A has a name
            kind = Type(s.type.shape[::-1])
            expr = a.ref(self.equation(expr, turned, kind, "part"), *turned)
        self.put(s.name, letters, expr, s.type.structure)

    def read(self, s: Statement, letters: tuple[str, ...]) -> n.Node:
        """What is assigned, at the letters of its axes."""
        self.where = s.where or f"in the assignment to {s.name}"
        x = self.prepared(s.expr)
        if s.even:
            whole = self.named([x], Type(s.type.shape))
            return n.mul(n.HALF, n.add(a.ref(whole, *letters), a.ref(whole, *letters[::-1])))
        with self.place(letters, ()):
            if x == 0 and letters and not (s.type == ENTRIES or s.type.is_symmetric):
                own = a.ref(s.name.removesuffix("_next"), *letters)
                return n.Sub(own, own)
            return self.visit(x) if len(letters) < 2 else self.scaled(x)

    def counted(self, count: Count) -> n.Node:
        size = a.Extent(str(self.axis(self.types[count.array].shape[0])))
        return n.add(size, n.Const.of(count.more))

    # -- linear algebra ------------------------------------------------------------------
    def side(self, word: Word, turned: bool, size: str) -> a.Ref:
        """Of a transposed right side the rows are solved with one by one.

        Where such a solution is all of an equation, the right side is turned first: its own
        letters come last.
        """
        front = word
        if len(word) == 1 and isinstance(word[0], T):
            front, turned = unrolled(word[0].args[0]), not turned
        if not turned or len(self.at) < 2 or self.at == self.left:
            return super().side(front, turned, size)
        return a.ref(self.named(front, self.kind(front)), *self.at[::-1])

    def equation(self, whole: n.Node, letters: tuple[str, ...], kind: Type, stem: str) -> str:
        if (whole, letters) not in self.parts:
            name = self.free(stem if stem == "identity" else describe(whole) or stem)
            self.parts[whole, letters], self.types[name] = name, kind
            self.put(name, letters, whole, self.known(kind))
        return self.parts[whole, letters]

    def known(self, kind: Type) -> str:
        """What is known of a matrix that has been given a name."""
        return "dense"

    def definite(self, matrix: Expr, stem: str = "part") -> str:
        name = super().definite(matrix, stem)
        self.solved_with.add(name)
        return name

    def root(self, x: Expr) -> str:
        matrix = self.definite(x)
        name = self.free(f"{matrix}_root")
        kind = self.types[name] = self.types[matrix]
        at = self.own(kind)
        self.put(name, at, a.Lin("chol", (a.ref(matrix, *at),)))
        return name
