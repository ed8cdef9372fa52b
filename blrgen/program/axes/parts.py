"""Assignments of a rule as a part: numbers of arrays by name, one factor for what is definite.

    total_a = sum(i, a[i])              the first pass adds up,
    k = f(total_a)                      numbers are computed once,
    a_next[i] = g(a[i], k)              the next pass uses them.

Every state that must stay definite has its next value factored before anything is
written: that is the check, and solves share the factor.  Where the next value is an inverse,
X⁺ = B⁻¹, it is B that is factored: one is definite when the other is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from blrgen.algebra.ranks import SymMat
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.lowered import Equations, Statement
from blrgen.program.lowering import Lowering
from blrgen.program.naming import describe
from blrgen.program.part import Part
from blrgen.program.program import Program, fresh, numbered
from blrgen.program.sizes import Count
from blrgen.program.types import SCALAR, Type
from blrgen.program.words import LETTERS, Word

Expr = Any
LONGEST = 12  # letters of what is added up, in a name
PLACES = LETTERS[:2]  # the letters of a matrix by itself

Writes = Sequence[tuple[str, str]]
Averages = Mapping[str, tuple[str, str]]  # name → what it is a sum of, and of how many


def part_of(
    rule: Program,
    known: Lowering,
    statements: Sequence[Statement],
    writes: Writes = (),
    averages: Averages | None = None,
) -> Part:
    """The statements as a part of their rule; what they make is written to states at the end.

    First come `averages`.
    """
    return _Part(rule, known, statements, writes).part(averages or {})


class _Part(Equations):
    """The equations of a part, and which matrices are factored."""

    def __init__(
        self, rule: Program, known: Lowering, statements: Sequence[Statement], writes: Writes
    ) -> None:
        super().__init__(known, statements)
        self.rule, self.statements, self.writes = rule, statements, tuple(writes)
        self.factors: dict[str, str] = {}  # matrix → its factor
        self.inverted: set[str] = set()
        # what must be definite, by its entry at two letters
        self.gaps = {v.name: v.definite for v in rule.variables if v.definite is not None}
        after = dict(writes)
        for state, local in writes:
            if state in self.gaps:
                self.gaps[local] = a.renamed(self.gaps[state], after)

    def part(self, averages: Averages) -> Part:
        """All equations, each factor right after what it factors."""
        for name, (total, count) in averages.items():
            letters = self.own(self.types[name])
            mean = n.Div(a.ref(total, *letters), a.ref(count))
            self.put(name, letters, mean, self.types[name].structure)
        for s in self.statements:
            self.statement(s)
        for target, local in self.writes:
            self.own(self.types[target])  # it may be written to by what is given
            self.look(target, local)
        body = list(self.body)
        for matrix, name in self.factors.items():
            at = next((k + 1 for k, s in enumerate(body) if s.name == matrix), 0)
            letters = self.own(self.types[matrix])
            whole = a.Lin("chol", (a.ref(matrix, *letters),))
            body.insert(at, a.Let(name, letters, whole, "lower"))
        made = tuple(replace(s, structure=self.structure(s.name, s.structure)) for s in body)
        return Part(self.rule, tuple(self.letters.values()), made, self.writes, (), self.each)

    # -- numbers that are made of whole arrays ---------------------------------------------
    def statement(self, s: Statement) -> None:
        """What is all of a statement has its name."""
        before = len(self.body)
        super().statement(self.opened(s))
        made = self.body[-2] if len(self.body) > before + 1 else None
        if made is not None and self.body[-1].expr == a.Ref(made.name):
            self.parts[made.expr, ()] = s.name
            self.taken.discard(made.name)
            self.body[-2:] = [replace(made, name=s.name)]

    def reduced(
        self, op: str, size: str, inside: Callable[[], n.Node], more: n.Node | None = None
    ) -> n.Node:
        with self.place((), ()):
            whole = super().reduced(op, size, inside, more)
        return self.once(whole, _total_name(whole))

    def counted(self, count: Count) -> n.Node:
        return self.once(super().counted(count), count.label)

    def known(self, kind: Type) -> str:
        return kind.structure

    def once(self, whole: n.Node, name: str) -> n.Node:
        """It by its name."""
        if (whole, ()) not in self.parts:
            found = self.parts[whole, ()] = self.next(name)
            self.types[found] = SCALAR
            self.put(found, (), whole)
        return a.Ref(self.parts[whole, ()])

    def next(self, name: str) -> str:
        """The name, or the next number at its end."""
        if name in self.taken:
            name = numbered(f"{name.rstrip('0123456789').removesuffix('_')}_", 2, self.taken)
        self.taken.add(name)
        return name

    # -- what is definite ------------------------------------------------------------------
    def solved(self, matrix: Expr, right: Word, turned: bool = False) -> n.Node:
        """By the factor, where the matrix or its negative must stay definite."""
        if matrix.is_Symbol:
            gap, own = self.gaps.get(matrix.name), a.ref(matrix.name, *PLACES)
            if gap == own:
                self.root(matrix)
            elif gap == n.Neg(own):
                minus = self.of_gap(gap, self.types[matrix.name])
                return n.Neg(self.linear("solve", minus, right, turned))
        return super().solved(matrix, right, turned)

    def root(self, x: Expr) -> str:
        return self.factored(self.definite(x, "precision"))

    def factored(self, matrix: str) -> str:
        """The factor of a matrix."""
        self.solved_with.add(matrix)
        if matrix not in self.factors:
            name = self.factors[matrix] = self.next(f"{matrix}_factor")
            self.types[name] = self.types[matrix]
        return self.factors[matrix]

    def of_gap(self, gap: n.Node, kind: Type, name: str = "") -> str:
        """The name of what must be definite, and its factor."""
        letters = self.own(kind)
        own = dict(zip(PLACES, letters, strict=True))
        whole = n.transform(gap, lambda e: a.Ix(own[e.letter]) if isinstance(e, a.Ix) else e)
        if name:
            self.types[name] = kind
            self.put(name, letters, whole, kind.structure)
        alone = isinstance(whole, a.Ref) and whole.name
        found = name or alone or self.equation(whole, letters, kind, "precision")
        self.factored(found)
        return found

    def opened(self, s: Statement) -> Statement:
        """X⁺ = B⁻¹ as the solution with B, which is named."""
        x = self.prepared(s.expr)
        alone = self.gaps.get(s.name) == a.ref(s.name, *PLACES)
        if not (alone and x.is_Pow and x.exp == -1) or x.base.is_Symbol:
            return s
        own = fresh(f"{s.name}_inverse", self.taken)
        self.taken.add(own)
        super().statement(Statement(own, x.base, s.type))
        self.types[own], self.gaps[own] = s.type, a.ref(own, *PLACES)
        self.inverted.add(s.name)
        return replace(s, expr=SymMat(own) ** -1)

    def look(self, state: str, local: str) -> None:
        """The next value of what must stay definite has a factor."""
        gap = self.gaps.get(local)
        if gap is None or local in self.inverted:
            return
        alone = isinstance(gap.arg if isinstance(gap, n.Neg) else gap, n.Ref)
        self.of_gap(gap, self.types[state], "" if alone else self.free(f"{local}_gap"))


def _total_name(whole: n.Node) -> str:
    """What a number that is made of a whole array is called."""
    if not isinstance(whole, a.Red) or whole.op != "sum":
        return "log_total_1"
    words = describe(whole.arg)
    return f"total_{words}" if words is not None and len(words) <= LONGEST else "total_1"
