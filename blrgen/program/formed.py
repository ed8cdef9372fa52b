"""A symmetric matrix that is made entry by entry, factored and solved with once.

Where a phase makes S⁺ = Σ cₖAₖ (+ c·I) of matrices that are there, and uses it only for
one solution S⁺⁻¹b, or for none and only looks whether it is definite, one pass over memory
writes it and the triangle that is factored.  What is not entry by entry inside the sum, XᵀX
say, is named and made before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blrgen.program import nodes as n
from blrgen.program.naming import constant_name
from blrgen.program.program import LINEAR, Phase, Program, Statement, fresh
from blrgen.program.types import SCALAR, infer, symmetric

UNIT = "unit"  # what stands for an entry of the identity


@dataclass(frozen=True)
class Formed:
    """How one matrix of a phase is made; `entry` is its formula in `leaves` and `scalars`."""

    name: str
    state: str
    factor: str
    entry: n.Node
    leaves: tuple[str, ...]
    scalars: tuple[str, ...]
    constants: tuple[tuple[str, n.Const], ...]  # numbers, by the names they have in `entry`
    program: Program  # the same, with the parts of the sum named
    products: tuple[str, ...] = ()  # the first statements, Xᵀ A with one X of data
    solved: bool = True  # whether something is solved with it; else it is only looked at

    @property
    def has_identity(self) -> bool:
        return UNIT in n.names(self.entry)

    @property
    def again(self) -> bool:
        """Whether the old matrix is factored and solved with, as a look at it did a step ago."""
        (phase,) = self.program.phases
        old = [s.name for s in phase.body if s.expr == n.Factor(n.Sym(self.state))]
        if self.solved or len(old) != 1:
            return False
        nodes = [x for s in phase.body for x in n.walk(s.expr)]
        solving = [
            x for x in nodes
            if isinstance(x, n.Solve | n.HalfSolve | n.LowerSolve) and x.arg == n.Sym(old[0])
        ]  # fmt: skip
        return nodes.count(n.Sym(old[0])) == len(solving)


def formed(program: Program) -> Formed | None:
    """The matrix that can be made so, where a planned program has one."""
    (phase,) = program.phases
    if program.kind != LINEAR:
        return None
    for k, s in enumerate(phase.body):
        factor = _factor_of(phase, s)
        if factor is not None and s.type == symmetric(s.type.shape[0]):
            return _Former(program, phase, k, factor).formed()
    return None


def _factor_of(phase: Phase, matrix: Statement) -> str | None:
    """The factor's name, where at most one solution with a vector uses the matrix."""
    if matrix.type.rank != "symmetric" or matrix.name not in [local for _, local in phase.writes]:
        return None
    users = [s for s in phase.body if matrix.name in n.names(s.expr)]
    if len(users) != 1 or users[0].expr != n.Factor(n.Sym(matrix.name)):
        return None
    factor = n.Sym(users[0].name)
    nodes = [x for s in phase.body for x in n.walk(s.expr)]
    solved = [x for x in nodes if isinstance(x, n.Solve) and x.arg == factor]
    return factor.name if len(solved) == nodes.count(factor) <= 1 else None


class _Former:
    """Takes one matrix of a phase apart."""

    def __init__(self, program: Program, phase: Phase, at: int, factor: str) -> None:
        self.program, self.phase, self.at, self.factor = program, phase, at, factor
        self.matrix = phase.body[at]
        self.scope = program.scope
        self.taken = {*program.scope, UNIT}
        self.parts: dict[n.Node, str] = {}
        self.constants: dict[n.Const, str] = {}

    def formed(self) -> Formed | None:
        right = next((
            x.right for s in self.phase.body for x in n.walk(s.expr)
            if isinstance(x, n.Solve) and x.arg == n.Sym(self.factor)
        ), None)  # fmt: skip
        scope = self.scope
        if right is not None and infer(right, scope).rank != "vector":
            return None
        entry = self.entry(self.matrix.expr)
        if right is None and isinstance(entry, n.Sym):
            return None  # it is there already
        read = [x for x in n.names(entry) if x not in (UNIT, *self.constants.values())]
        named = tuple(
            Statement(name, part, infer(part, scope)) for part, name in self.parts.items()
        )
        types = scope | {s.name: s.type for s in named}
        body = (*self.phase.body[: self.at], *named, replace(self.matrix, expr=self.whole))
        body += self.phase.body[self.at + 1 :]
        products, body = self.products(body)
        leaves = tuple(x for x in read if types[x] != SCALAR)
        state = next(a for a, b in self.phase.writes if b == self.matrix.name)
        if state not in leaves and self.program[state].type != self.matrix.type:
            return None
        if state == self.program.parameter.name:
            return None  # the caller's own array
        return Formed(
            self.matrix.name, state, self.factor, entry, leaves,
            tuple(x for x in read if types[x] == SCALAR),
            tuple((name, c) for c, name in self.constants.items()),
            self.program.with_phases(lambda p: replace(p, body=body)), products,
            right is not None,
        )  # fmt: skip

    @property
    def whole(self) -> n.Node:
        """The sum with its parts by name."""

        def change(node: n.Node) -> n.Node:
            return n.Sym(self.parts[node]) if node in self.parts else node.rebuilt(change)

        return change(self.matrix.expr)

    def products(
        self, body: tuple[Statement, ...]
    ) -> tuple[tuple[str, ...], tuple[Statement, ...]]:
        """Products Xᵀ A with the same X, where there are several, as the first statements."""
        data = {v.name for v in self.program.of("data")}
        turned = [
            x for s in body for x in n.walk(s.expr)
            if isinstance(x, n.MatMul) and isinstance(x.left, n.Transpose)
            and isinstance(x.left.arg, n.Sym) and isinstance(x.right, n.Sym)
            and {x.left.arg.name, x.right.name} <= data
        ]  # fmt: skip
        found = [x for x in dict.fromkeys(turned) if x.left == turned[0].left]
        if len(found) < 2:
            return (), body
        known = {s.expr: s.name for s in body if s.expr in found}
        names: dict[n.Node, str] = {x: known.get(x) or self.own("product") for x in found}

        def change(node: n.Node) -> n.Node:
            return n.Sym(names[node]) if node in names else node.rebuilt(change)

        first = tuple(Statement(names[x], x, infer(x, self.scope)) for x in found)
        rest = (s for s in body if s.expr not in names)
        return tuple(names.values()), (
            *first,
            *(replace(s, expr=change(s.expr)) for s in rest),
        )

    def entry(self, node: n.Node) -> n.Node:
        """One entry: matrices become numbers, the identity a number that is 1 or 0."""
        if infer(node, self.scope) == SCALAR:
            return self.number(node)
        if isinstance(node, n.Identity):
            return n.Sym(UNIT)
        if isinstance(node, n.Sym):
            return node
        if isinstance(node, n.Add | n.Sub | n.Neg | n.Mul | n.Div):
            return node.rebuilt(self.entry)
        if node not in self.parts:
            self.parts[node] = self.own("product" if isinstance(node, n.MatMul) else "part")
        return n.Sym(self.parts[node])

    def number(self, node: n.Node) -> n.Node:
        """A number in the formula; constants by name, so that each has the arrays' type."""

        def change(x: n.Node) -> n.Node:
            if not isinstance(x, n.Const):
                return x
            if x not in self.constants:
                self.constants[x] = self.own(constant_name(x.value))
            return n.Sym(self.constants[x])

        if any(isinstance(x, n.MATRIX_NODES) for x in n.walk(node)):
            if node not in self.parts:
                self.parts[node] = self.own("number")
            return n.Sym(self.parts[node])
        return n.transform(node, change)

    def own(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name
