"""Solves by a symmetric positive definite matrix share one Cholesky factor.

Every state that must stay definite has its next value factored before anything is
written: that is the check, and usually the factor is needed anyway.  Where the next value
is an inverse, X⁺ = B⁻¹, it is B that is factored: one is definite when the other is.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.program import Phase, Program, Statement, fresh
from blrgen.program.types import Type, infer


def factor(program: Program) -> Program:
    """Factors as statements of their own, each placed right after what it factors."""
    taken = set(program.scope)
    return program.with_phases(lambda p: _Factors(program, taken).phase(p))


class _Factors:
    """The factors one phase needs, and the statements that make them."""

    def __init__(self, program: Program, taken: set[str]) -> None:
        self.program, self.taken = program, taken
        self.names: dict[n.Node, str] = {}  # what is factored → the factor's name
        self.extra: list[Statement] = []  # matrices that had no name
        self.gaps = {v.name: v.definite for v in program.variables if v.definite is not None}
        states = [v.name for v in program.of("state")]
        written = {a for p in program.phases for a, _ in p.writes}
        table: dict[str, n.Node] = {s: n.Ref(f"{s}_next") for s in states if s in written}
        for s in states:
            if s in self.gaps and s in written:
                self.gaps[f"{s}_next"] = n.substituted(self.gaps[s], table)

    def of(self, what: n.Node) -> n.Node:
        """The factor of a matrix that has a name, or of its negative."""
        if what not in self.names:
            self.names[what] = self.fresh(f"{'_'.join(_spelled(what))}_factor")
        return n.Ref(self.names[what])

    def fresh(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name

    def change(self, node: n.Node) -> n.Node:
        if not isinstance(node, n.Solve | n.HalfSolve | n.HalfProduct):
            return node
        if isinstance(node.arg, n.Ref):
            gap = self.gaps.get(node.arg.name)
            if gap == node.arg or not isinstance(node, n.Solve):
                return replace(node, arg=self.of(node.arg))
            if gap == n.Neg(node.arg):
                return n.Neg(replace(node, arg=self.of(gap)))
            return node
        if isinstance(node, n.Solve):
            return node
        return replace(node, arg=self.of(self.named(node.arg, "precision")))

    def named(self, matrix: n.Node, name: str) -> n.Node:
        """A matrix as a statement of its own."""
        known = next((s.name for s in self.extra if s.expr == matrix), "")
        if not known:
            known = self.fresh(name)
            self.extra.append(Statement(known, matrix, infer(matrix, self.program.scope)))
        return n.Ref(known)

    def phase(self, phase: Phase) -> Phase:
        body, inverted = self.opened(phase)
        body = [replace(s, expr=n.transform(s.expr, self.change)) for s in body]
        for state, local in phase.writes:
            gap = self.gaps.get(f"{state}_next")
            if gap is None or local in inverted:
                continue
            if isinstance(gap.arg if isinstance(gap, n.Neg) else gap, n.Ref):
                self.of(gap)
            else:
                own = self.fresh(f"{local}_gap")
                body.append(Statement(own, gap, self.program[state].type))
                self.of(n.Ref(own))
        body = [*self.extra, *body]
        types = self.program.scope | {s.name: s.type for s in body}
        for what, own in self.names.items():
            (name,) = n.names(what)
            at = next((k + 1 for k, s in enumerate(body) if s.name == name), 0)
            body.insert(at, Statement(own, n.Factor(what), Type(types[name].shape, "lower")))
        return replace(phase, body=tuple(body))

    def opened(self, phase: Phase) -> tuple[list[Statement], set[str]]:
        """X⁺ = B⁻¹ as B and the solution with B's factor; the names of such X⁺."""
        body: list[Statement] = []
        inverted: set[str] = set()
        for s in phase.body:
            inside = s.expr.arg if isinstance(s.expr, n.Symmetrize) else s.expr
            definite = self.gaps.get(s.name) == n.Ref(s.name)
            if not (
                definite
                and isinstance(inside, n.Solve)
                and isinstance(inside.right, n.Identity)
                and not isinstance(inside.arg, n.Ref)
            ):
                body.append(s)
                continue
            own = self.fresh(f"{s.name}_inverse")
            body.append(Statement(own, inside.arg, s.type))
            self.gaps[own] = n.Ref(own)
            whole: n.Node = n.Solve(n.Ref(own), inside.right)
            if isinstance(s.expr, n.Symmetrize):
                whole = n.Symmetrize(whole)
            body.append(replace(s, expr=whole))
            inverted.add(s.name)
        return body, inverted


def _spelled(what: n.Node) -> list[str]:
    """Words for a name or its negative."""
    return ["minus" for x in n.walk(what) if isinstance(x, n.Neg)] + list(n.names(what))
