"""Assignments of a rule as equations with indices.

    A @ B      →  sum(k, A[i,k] * B[k,j])         x.T          →  x[j,i]
    identity   →  [i == j]                        solve(A, b)  →  on entries, A named if need be
    total(x)   →  sum(j, x[j])                    count(x)     →  how long its axis is

A root of a matrix is an equation `L[i,j] = chol(A[i,j])`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from blrgen.program import nodes as n
from blrgen.program import wholes
from blrgen.program.axes import nodes as a
from blrgen.program.naming import describe
from blrgen.program.part import axes
from blrgen.program.program import fresh
from blrgen.program.types import Memory, Type, infer

NAMES = "ijklpqrsuvw"
AXIS = "d"  # what the axis of entries is called
LONGEST = 12  # letters of what is added up, in a name


@dataclass(frozen=True)
class Statement:
    """name ← expr, as it is read: vectors and matrices whole."""

    name: str
    expr: n.Node
    type: Type


def over_axes(known: Mapping[str, Type], statements: Sequence[Statement]) -> a.Program:
    """The statements: their results are outs; `known` are the types of what is given."""
    work = Lowering(known, statements)
    body = work.equations(statements)
    made = tuple(s.name for s in statements)
    found = dict.fromkeys(x for s in statements for x in n.names(s.expr) if x not in made)
    given = tuple(work.quantity(x) for x in found)
    return a.Program(tuple(work.letters.values()), given, body, made)


class Lowering:
    """Letters so far, the equations, and the matrices that are solved with."""

    def __init__(self, known: Mapping[str, Type], statements: Sequence[Statement]) -> None:
        scope = {**known, **{s.name: s.type for s in statements}}
        self.scope = Memory(scope)
        self.letters: dict[str, a.Letter] = {}
        self.taken = set(scope)
        self.body: list[a.Let] = []
        self.solved: set[str] = set()
        self.parts: dict[n.Node, str] = {}
        self.left: tuple[str, ...] = ()  # the letters of the statement that is under way
        nodes = (x for s in statements for x in n.walk(s.expr))
        labels = {x.label for x in nodes if isinstance(x, wholes.Count)}
        self.each = fresh(AXIS, self.taken | labels)
        self.taken.add(self.each)

    def equations(self, statements: Iterable[Statement]) -> tuple[a.Let, ...]:
        """One for each statement, and those of what needs a name."""
        for s in statements:
            self.statement(s)
        return tuple(replace(s, structure=self.structure(s.name, s.structure)) for s in self.body)

    def structure(self, name: str, known: str) -> str:
        """What is solved with is positive definite."""
        return "spd" if name in self.solved else known

    def axis(self, size: str) -> a.Size:
        """An axis: a name, or how long it is."""
        return axes(Type((size,)), self.each)[0]

    def letter(self, size: str, used: tuple[str, ...]) -> str:
        """A letter over the axis that is not in use in this term."""
        for x in self.letters.values():
            if x.size == self.axis(size) and x.name not in used:
                return x.name
        name = next((x for x in NAMES if x not in self.taken), "") or fresh("i", self.taken)
        self.taken.add(name)
        self.letters[name] = a.Letter(name, self.axis(size))
        return name

    def own(self, kind: Type) -> tuple[str, ...]:
        """Letters for the axes of a type."""
        out: tuple[str, ...] = ()
        for size in kind.shape:
            out = (*out, self.letter(size, out))
        return out

    def quantity(self, name: str) -> a.Quantity:
        kind = self.scope[name]
        return a.Quantity(name, axes(kind, self.each), self.structure(name, kind.structure))

    def statement(self, s: Statement) -> None:
        letters = self.left = self.own(s.type)
        expr = self.entry(s.expr, letters, letters)
        self.body.append(a.Let(s.name, letters, expr, s.type.structure))

    # -- expressions -----------------------------------------------------------------
    def entry(self, e: n.Node, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        """The entry of an expression at letters; `used` are those that stand around it."""
        if isinstance(e, wholes.OVER_COMPONENTS):
            return self.number(e, used)
        if isinstance(e, n.Ref):
            kind = self.scope[e.name]
            return a.Ref(e.name, tuple(map(a.Ix, at[: len(kind.shape)])))
        method = getattr(self, f"of_{type(e).__name__}", None)
        if method is not None:
            found: n.Node = method(e, at, used)
            return found
        return e.rebuilt(lambda c: self.entry(c, at, used))

    def number(self, e: n.Node, used: tuple[str, ...]) -> n.Node:
        """A number that is made of a whole array."""
        return self.whole(e, used)

    def whole(self, e: n.Node, used: tuple[str, ...]) -> n.Node:
        """A sum of entries, the logarithm of one of exponentials, how many there are."""
        if isinstance(e, wholes.Total):
            return self.reduced("sum", e.arg, used)
        if isinstance(e, wholes.LogTotal):
            more = None if e.more is None else self.entry(e.more, (), used)
            return self.reduced("lse", e.arg, used, more)
        assert isinstance(e, wholes.Count)
        size = a.Extent(str(self.axis(infer(e.arg, self.scope).shape[0])))
        return n.add(size, n.Const.of(e.more)) if e.more else size

    def reduced(
        self, op: str, e: n.Node, used: tuple[str, ...], more: n.Node | None = None
    ) -> a.Red:
        """Over a letter of its own."""
        k = self.letter(infer(e, self.scope).shape[0], used)
        return a.Red(op, (k,), self.entry(e, (k,), (*used, k)), more)

    def of_Identity(self, e: wholes.Identity, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return a.Is(a.Ix(at[0]), a.Ix(at[1]))

    def of_Transpose(
        self, e: wholes.Transpose, at: tuple[str, ...], used: tuple[str, ...]
    ) -> n.Node:
        return self.entry(e.arg, at[::-1], used)

    def of_MatMul(self, e: wholes.MatMul, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        k = self.letter(infer(e.left, self.scope).shape[1], used)
        inside = (*used, k)
        left = self.entry(e.left, (at[0], k), inside)
        return a.Red("sum", (k,), n.mul(left, self.entry(e.right, (k, *at[1:]), inside)))

    def of_Outer(self, e: wholes.Outer, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return n.mul(self.entry(e.left, at[:1], used), self.entry(e.right, at[1:], used))

    def of_Trace(self, e: wholes.Trace, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        whole = self.named(e.arg, "dense")
        k = self.letter(self.scope[whole].shape[0], used)
        return a.Red("sum", (k,), a.ref(whole, k, k))

    def of_Symmetrize(
        self, e: wholes.Symmetrize, at: tuple[str, ...], used: tuple[str, ...]
    ) -> n.Node:
        whole = self.named(e.arg, "dense")
        return n.mul(n.HALF, n.add(a.ref(whole, *at), a.ref(whole, *at[::-1])))

    # -- linear algebra --------------------------------------------------------------
    def of_Solve(self, e: wholes.Solve, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return self.linear("solve", self.definite_matrix(e.arg), e.right, at, used)

    def of_HalfSolve(
        self, e: wholes.HalfSolve, at: tuple[str, ...], used: tuple[str, ...]
    ) -> n.Node:
        return self.linear("ltsolve", self.root(e.arg), e.right, at, used)

    def of_HalfProduct(
        self, e: wholes.HalfProduct, at: tuple[str, ...], used: tuple[str, ...]
    ) -> n.Node:
        factor = self.root(e.arg)
        k = self.letter(infer(e.right, self.scope).shape[0], used)
        left = a.ref(factor, at[0], k)
        right = self.entry(e.right, (k, *at[1:]), (*used, k))
        return a.Red("sum", (k,), n.mul(left, right))

    def linear(
        self, op: str, matrix: str, right: n.Node, at: tuple[str, ...], used: tuple[str, ...]
    ) -> n.Node:
        """The operation on whole operands, at the entry's own letters.

        Of a transposed right side the rows are solved with one by one; where such a solution
        is all of an equation, the right side is turned first: its own letters come last.
        """
        if isinstance(right, wholes.Transpose) and at != self.left:
            b = a.ref(self.named(right.arg, "dense"), *at[::-1])
        else:
            b = a.ref(self.named(right, "dense"), *at)
        k = self.letter(str(self.letters[at[0]].size), (*at, *used))
        return a.Lin(op, (a.ref(matrix, at[0], k), b))

    def named(self, e: n.Node, structure: str, stem: str = "part") -> str:
        """The name of a matrix or vector."""
        if isinstance(e, n.Ref):
            return e.name
        if e in self.parts:
            return self.parts[e]
        kind = infer(e, self.scope)
        letters = self.own(kind)
        whole = self.entry(e, letters, letters)
        stem = "identity" if isinstance(e, wholes.Identity) else describe(whole) or stem
        name = self.parts[e] = fresh(stem, self.taken)
        self.taken.add(name)
        self.scope[name] = kind
        self.body.append(a.Let(name, letters, whole, self.known(kind, structure)))
        return name

    def known(self, kind: Type, structure: str) -> str:
        """What is known of a matrix that has been given a name."""
        return structure

    def definite_matrix(self, e: n.Node, stem: str = "part") -> str:
        """The name of what is solved with or factored."""
        name = self.named(e, "sym", stem)
        self.solved.add(name)
        return name

    def root(self, e: n.Node) -> str:
        """The lower factor of a matrix."""
        matrix = self.definite_matrix(e)
        name = fresh(f"{matrix}_root", self.taken)
        self.taken.add(name)
        at = self.own(self.scope[matrix])
        self.body.append(a.Let(name, at, a.Lin("chol", (a.ref(matrix, *at),))))
        return name
