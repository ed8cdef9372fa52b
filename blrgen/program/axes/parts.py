"""Assignments of a rule as a part: numbers of arrays by name, one factor for what is definite.

    total_a = sum(i, a[i])              the first pass adds up,
    k = f(total_a)                      numbers are computed once,
    a_next[i] = g(a[i], k)              the next pass uses them.

Every state that must stay definite has its next value factored before anything is
written: that is the check, and solves share the factor.  Where the next value is an inverse,
X⁺ = B⁻¹, it is B that is factored: one is definite when the other is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program import wholes
from blrgen.program.axes import nodes as a
from blrgen.program.axes.lowered import Lowering, Statement
from blrgen.program.naming import describe
from blrgen.program.part import Part
from blrgen.program.program import Program, fresh, numbered
from blrgen.program.types import SCALAR, Type

LONGEST = 12  # letters of what is added up, in a name


Writes = Sequence[tuple[str, str]]


def part_of(rule: Program, statements: Sequence[Statement], writes: Writes = ()) -> Part:
    """The statements as a part of their rule; what they make is written to states at the end."""
    return _Part(rule, statements, writes).part()


class _Part(Lowering):
    """The equations of a part, and which matrices are factored."""

    def __init__(self, rule: Program, statements: Sequence[Statement], writes: Writes) -> None:
        super().__init__(rule.scope, statements)
        self.rule, self.statements, self.writes = rule, statements, tuple(writes)
        self.factors: dict[str, str] = {}  # matrix → its factor
        self.inverted: set[str] = set()
        self.gaps = {v.name: v.definite for v in rule.variables if v.definite is not None}
        after: dict[str, n.Node] = {state: n.Ref(local) for state, local in writes}
        for state, local in writes:
            if state in self.gaps:
                self.gaps[local] = n.substituted(self.gaps[state], after)

    def part(self) -> Part:
        """All equations, each factor right after what it factors."""
        for s in self.statements:
            self.statement(s)
        for target, local in self.writes:
            self.own(self.scope[target])  # it may be written to by what is given
            self.look(target, local)
        body = list(self.body)
        for matrix, name in self.factors.items():
            at = next((k + 1 for k, s in enumerate(body) if s.name == matrix), 0)
            letters = self.own(self.scope[matrix])
            whole = a.Lin("chol", (a.ref(matrix, *letters),))
            body.insert(at, a.Let(name, letters, whole, "lower"))
        made = tuple(replace(s, structure=self.structure(s.name, s.structure)) for s in body)
        return Part(self.rule, tuple(self.letters.values()), made, self.writes, (), self.each)

    # -- numbers that are made of whole arrays ---------------------------------------------
    def statement(self, s: Statement) -> None:
        if not isinstance(s.expr, wholes.OVER_COMPONENTS):
            super().statement(self.opened(s))
            return
        whole = self.whole(s.expr, ())
        self.parts.setdefault(s.expr, s.name)
        self.body.append(a.Let(s.name, (), whole))

    def number(self, e: n.Node, used: tuple[str, ...]) -> n.Node:
        if e not in self.parts:
            whole = self.whole(e, ())
            name = self.parts[e] = self.free(_total_name(e, whole))
            self.scope[name] = SCALAR
            self.body.append(a.Let(name, (), whole))
        return a.Ref(self.parts[e])

    def free(self, name: str) -> str:
        """The name, or the next number at its end."""
        if name in self.taken:
            name = numbered(f"{name.rstrip('0123456789').removesuffix('_')}_", 2, self.taken)
        self.taken.add(name)
        return name

    def known(self, kind: Type, structure: str) -> str:
        return kind.structure if kind.is_symmetric else structure

    # -- what is definite ------------------------------------------------------------------
    def of_Solve(self, e: wholes.Solve, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        """By the factor, where the matrix or its negative must stay definite."""
        gap = self.gaps.get(e.arg.name) if isinstance(e.arg, n.Ref) else None
        if gap == e.arg:
            self.root(e.arg)
        elif gap == n.Neg(e.arg):
            self.root(gap)
            return n.Neg(self.linear("solve", self.definite_matrix(gap), e.right, at, used))
        return super().of_Solve(e, at, used)

    def root(self, e: n.Node) -> str:
        matrix = self.definite_matrix(e, "precision")
        if matrix not in self.factors:
            self.factors[matrix] = self.free(f"{matrix}_factor")
        return self.factors[matrix]

    def opened(self, s: Statement) -> Statement:
        """X⁺ = B⁻¹ as the solution with B, which is named."""
        inside = s.expr.arg if isinstance(s.expr, wholes.Symmetrize) else s.expr
        if (
            self.gaps.get(s.name) != n.Ref(s.name)
            or not isinstance(inside, wholes.Solve)
            or not isinstance(inside.right, wholes.Identity)
            or isinstance(inside.arg, n.Ref)
        ):
            return s
        own = fresh(f"{s.name}_inverse", self.taken)
        self.taken.add(own)
        super().statement(Statement(own, inside.arg, s.type))
        self.scope[own], self.gaps[own] = s.type, n.Ref(own)
        self.inverted.add(s.name)
        whole: n.Node = wholes.Solve(n.Ref(own), inside.right)
        return replace(s, expr=wholes.Symmetrize(whole) if inside is not s.expr else whole)

    def look(self, state: str, local: str) -> None:
        """The next value of what must stay definite has a factor."""
        gap = self.gaps.get(local)
        if gap is None or local in self.inverted:
            return
        if not isinstance(gap.arg if isinstance(gap, n.Neg) else gap, n.Ref):
            kind, own = self.scope[state], fresh(f"{local}_gap", self.taken)
            self.taken.add(own)
            super().statement(Statement(own, gap, kind))
            self.scope[own], gap = kind, n.Ref(own)
        self.root(gap)


def _total_name(e: n.Node, whole: n.Node) -> str:
    """What a number that is made of a whole array is called."""
    if isinstance(e, wholes.Count):
        return e.label
    words = (
        describe(whole.arg) if isinstance(e, wholes.Total) and isinstance(whole, a.Red) else None
    )
    if words is not None and len(words) <= LONGEST:
        return f"total_{words}"
    return "total_1" if isinstance(e, wholes.Total) else "log_total_1"
