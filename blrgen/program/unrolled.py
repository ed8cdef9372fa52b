"""Linear algebra of known small sizes as numbers: every entry is a statement of its own.

A phase of vectors and matrices becomes one of numbers without loops.  What is symmetric is
computed once for both triangles; entries that are known to be 0 or 1 (of the identity, of
matrices given as constants) go wherever arithmetic lets them, through products, factors and
substitutions.  A = L D Lᵀ with ones on the diagonal of L needs a division for each column
and no root; D is positive where A is definite, and each entry of D is a pivot that whoever
runs the program has to look at.  The ordinary passes then share what is equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program.arithmetic import inner, less, minus, over, plus, times
from blrgen.program.cse import cse
from blrgen.program.dead import dead
from blrgen.program.program import ELEMENTWISE, Phase, Program, Statement, Variable, fresh
from blrgen.program.types import SCALAR, Memory, Type, elementwise, infer

ENTRY = elementwise("entries")  # the type of an entry: it may be named and shared
Rows = list[list[n.Node]]  # a vector is a column
Value = n.Node | Rows
Known = Mapping[str, tuple[tuple[Fraction, ...], ...]]  # given matrices, as numbers


@dataclass(frozen=True)
class Unrolled:
    """Straight-line code; its statements and names stand for entries."""

    body: tuple[Statement, ...]
    loads: tuple[tuple[str, str, tuple[int, ...]], ...]  # name, array, place
    stores: tuple[tuple[str, tuple[int, ...], n.Node], ...]  # result, place, value
    pivots: Mapping[str, n.Node]  # statement → what has it as a pivot


def unrolled(program: Program, known: Known | None = None) -> Unrolled:
    """The entries of every written matrix and vector, for a program of one phase."""
    (phase,) = program.phases
    work = _Unroller(program, phase, known or {})
    for s in phase.body:
        work.statement(s)
    return work.finished()


@dataclass
class _Factor:
    """A = L D Lᵀ: the part of L below its ones, the pivots, and their reciprocals."""

    lower: Rows
    pivots: list[n.Node]
    over: list[n.Node]


class _Unroller:
    """What every name of the phase stands for, and the statements so far."""

    def __init__(self, program: Program, phase: Phase, known: Known) -> None:
        self.program, self.phase = program, phase
        self.scope = Memory(program.scope)
        self.taken = set(program.scope)
        self.values: dict[str, Value] = {}
        self.factors: dict[str, _Factor] = {}
        self.body: list[Statement] = []
        self.loads: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.pivots: dict[str, n.Node] = {}
        self.solutions = 0
        self.halves: dict[str, tuple[_Factor, Rows]] = {}  # L⁻¹ X without its roots
        for name, rows in known.items():
            self.values[name] = [[n.Const(x) for x in row] for row in rows]

    # -- statements ----------------------------------------------------------------
    def statement(self, s: Statement) -> None:
        if isinstance(s.expr, n.Factor):
            self.factors[s.name] = self.factored(s.name, s.expr.arg)
            return
        if isinstance(s.expr, n.LowerSolve):
            f = self.factor_of(s.expr.arg)
            self.halves[s.name] = f, self.forward(f, self.rows(s.expr.right))
            return
        self.values[s.name] = self.named(s.name, self.value(s.expr), s.type)

    def named(self, stem: str, value: Value, kind: Type) -> Value:
        """Every entry under a name of its own, but for what is a name or a number already."""
        if isinstance(value, n.Node):
            return self.entry(stem, value)
        same = kind.rank == "symmetric"
        out: Rows = [[n.ZERO for _ in row] for row in value]
        for i, row in enumerate(value):
            for j, x in enumerate(row):
                if same and j < i:
                    continue
                place = f"{i}" if kind.rank == "vector" else f"{i}_{j}"
                out[i][j] = self.entry(f"{stem}_{place}", x)
                if same:
                    out[j][i] = out[i][j]
        return out

    def entry(self, name: str, x: n.Node) -> n.Node:
        if isinstance(x, n.Sym | n.Const):
            return x
        name = self.own(name)
        self.body.append(Statement(name, x, ENTRY))
        self.scope[name] = ENTRY
        return n.Sym(name)

    def own(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name

    # -- values --------------------------------------------------------------------
    def value(self, node: n.Node) -> Value:
        """A number's formula, or the formulas of all entries."""
        if isinstance(node, n.Sym):
            return self.read(node.name)
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is not None:
            found: Value = method(node)
            return found
        return self.plain(node)

    def plain(self, node: n.Node) -> n.Node:
        """A number made of numbers."""
        if isinstance(node, n.Call) and node.name != "sqrt":
            raise UserError(
                f"entries cannot be written out here: {node.name} of a number is in between",
                how="leave --size out",
            )
        return node.rebuilt(self.number)

    def number(self, node: n.Node) -> n.Node:
        found = self.value(node)
        if isinstance(found, n.Node):
            return found
        raise InternalError(f"a matrix where a number is meant: {type(node).__name__}")

    def rows(self, node: n.Node) -> Rows:
        found = self.value(node)
        if isinstance(found, n.Node):
            raise InternalError(f"a number where a matrix is meant: {type(node).__name__}")
        return found

    def read(self, name: str) -> Value:
        """A name's entries; of an argument the ones on and above the diagonal are loaded."""
        if name in self.values:
            return self.values[name]
        if name in self.halves:
            self.values[name] = self.named(name, self.rooted(*self.halves[name]), self.scope[name])
            return self.values[name]
        kind = self.scope[name]
        if kind == SCALAR:
            return n.Sym(name)
        if kind.rank == "vector":
            found = [[self.load(name, (i,))] for i in range(int(kind.shape[0]))]
        else:
            height, width = map(int, kind.shape)
            same = kind.rank == "symmetric"
            found = [[n.ZERO] * width for _ in range(height)]
            for i in range(height):
                for j in range(width):
                    turned = same and j < i
                    found[i][j] = found[j][i] if turned else self.load(name, (i, j))
        self.values[name] = found
        return found

    def load(self, array: str, place: tuple[int, ...]) -> n.Node:
        name = self.own("_".join([array, *map(str, place)]))
        self.loads[name] = (array, place)
        self.scope[name] = ENTRY
        return n.Sym(name)

    # -- entry by entry ------------------------------------------------------------
    def of_Add(self, node: n.Add) -> Value:
        return self.joined([self.value(a) for a in node.args], lambda xs: plus(*xs))

    def of_Sub(self, node: n.Sub) -> Value:
        parts = [self.value(node.left), self.value(node.right)]
        return self.joined(parts, lambda xs: minus(xs[0], xs[1]))

    def of_Neg(self, node: n.Neg) -> Value:
        return self.joined([self.value(node.arg)], lambda xs: n.neg(xs[0]))

    def of_Mul(self, node: n.Mul) -> Value:
        parts = [self.value(a) for a in node.args]
        scale = times(*(p for p in parts if isinstance(p, n.Node)))
        matrix = [p for p in parts if not isinstance(p, n.Node)]
        return [[times(scale, x) for x in row] for row in matrix[0]] if matrix else scale

    def of_Div(self, node: n.Div) -> Value:
        bottom = self.number(node.bottom)
        return self.joined([self.value(node.top)], lambda xs: over(xs[0], bottom))

    def joined(self, parts: list[Value], f: Callable[[list[n.Node]], n.Node]) -> Value:
        """f of numbers, or of the entries at each place."""
        matrices = [p for p in parts if not isinstance(p, n.Node)]
        if not matrices:
            return f([p for p in parts if isinstance(p, n.Node)])
        places = [range(len(matrices[0])), range(len(matrices[0][0]))]
        return [[f([m[i][j] for m in matrices]) for j in places[1]] for i in places[0]]

    # -- products ------------------------------------------------------------------
    def of_Identity(self, node: n.Identity) -> Rows:
        d = int(node.size)
        return [[n.ONE if i == j else n.ZERO for j in range(d)] for i in range(d)]

    def of_Transpose(self, node: n.Transpose) -> Rows:
        return [list(row) for row in zip(*self.rows(node.arg), strict=True)]

    def of_MatMul(self, node: n.MatMul) -> Rows:
        half = self.halves.get(node.right.name) if isinstance(node.right, n.Sym) else None
        if half is not None and node.left == n.Transpose(node.right):
            return self.square(*half)
        left, right = (self.shared(x) for x in (node.left, node.right))
        same = infer(node, self.scope).rank == "symmetric"
        out: Rows = [[n.ZERO] * len(right[0]) for _ in left]
        for i, row in enumerate(left):
            for j in range(len(right[0])):
                if same and j < i:
                    out[i][j] = out[j][i]
                else:
                    out[i][j] = inner(row, [x[j] for x in right])
        return out

    def square(self, f: _Factor, below: Rows) -> Rows:
        """Yᵀ D⁻¹ Y: Zᵀ Z of Z = D^(−1/2) Y, without a root."""
        d = range(len(below[0]))
        scaled = self.named(
            "over", [[times(x, f.over[k]) for x in row] for k, row in enumerate(below)],
            Type("matrix"),
        )  # fmt: skip
        assert not isinstance(scaled, n.Node)
        out: Rows = [[n.ZERO for _ in d] for _ in d]
        for i in d:
            for j in range(i, len(out)):
                out[i][j] = out[j][i] = inner([x[i] for x in below], [x[j] for x in scaled])
        return out

    def shared(self, node: n.Node) -> Rows:
        """A factor of a product, each of whose entries is read many times: under names."""
        kind = infer(node, self.scope)
        found = self.named("part", self.rows(node), kind)
        assert not isinstance(found, n.Node)
        return found

    def of_Outer(self, node: n.Outer) -> Rows:
        left, right = self.shared(node.left), self.shared(node.right)
        return [[times(x[0], y[0]) for y in right] for x in left]

    def of_Dot(self, node: n.Dot) -> n.Node:
        left, right = self.shared(node.left), self.shared(node.right)
        return inner([x[0] for x in left], [y[0] for y in right])

    def of_Trace(self, node: n.Trace) -> n.Node:
        rows = self.rows(node.arg)
        return plus(*(row[i] for i, row in enumerate(rows)))

    def of_Symmetrize(self, node: n.Symmetrize) -> Rows:
        rows = self.shared(node.arg)
        places = range(len(rows))
        return [
            [rows[i][i] if i == j else times(n.HALF, plus(rows[min(i, j)][max(i, j)],
             rows[max(i, j)][min(i, j)])) for j in places] for i in places
        ]  # fmt: skip

    # -- factors and substitution -----------------------------------------------------
    def factored(self, stem: str, what: n.Node) -> _Factor:
        """Column after column: c = A − Σ c lᵀ before division by the pivot, l after it."""
        a = self.rows(what)
        d = len(a)
        lower: Rows = [[n.ZERO] * d for _ in range(d)]
        before: Rows = [[n.ZERO] * d for _ in range(d)]
        pivots: list[n.Node] = []
        reciprocals: list[n.Node] = []
        for j in range(d):
            for i in range(j, d):
                stem_ij = f"{stem}_pivot_{j}" if i == j else f"{stem}_{i}_{j}_whole"
                c = less(a[i][j], before[i][:j], lower[j][:j])
                before[i][j] = self.pivot(stem_ij, c, what) if i == j else self.entry(stem_ij, c)
            pivots.append(before[j][j])
            reciprocals.append(self.entry(f"{stem}_over_{j}", over(n.ONE, before[j][j])))
            for i in range(j + 1, d):
                lower[i][j] = self.entry(f"{stem}_{i}_{j}", times(before[i][j], reciprocals[j]))
        return _Factor(lower, pivots, reciprocals)

    def pivot(self, name: str, x: n.Node, what: n.Node) -> n.Node:
        """A statement of its own, so that it can be looked at; a known one is looked at here."""
        if isinstance(x, n.Const):
            if x.value <= 0:
                raise UserError(f"{', '.join(n.names(what))} is not positive definite")
            return x
        name = self.own(name)
        self.body.append(Statement(name, x, ENTRY))
        self.scope[name] = ENTRY
        self.pivots[name] = what
        return n.Sym(name)

    def factor_of(self, node: n.Node) -> _Factor:
        if isinstance(node, n.Sym) and node.name in self.factors:
            return self.factors[node.name]
        raise UserError(
            "entries cannot be written out here: a matrix that may be indefinite is solved with",
            why="that needs rows to change places, as the numbers say",
            how="leave --size out",
        )

    def of_Solve(self, node: n.Solve) -> Rows:
        f = self.factor_of(node.arg)
        below = self.forward(f, self.rows(node.right))
        scaled = [[times(x, f.over[i]) for x in row] for i, row in enumerate(below)]
        return self.backward(f, scaled)

    def of_LowerSolve(self, node: n.LowerSolve) -> Rows:
        f = self.factor_of(node.arg)
        return self.rooted(f, self.forward(f, self.rows(node.right)))

    def rooted(self, f: _Factor, below: Rows) -> Rows:
        """D^(−1/2) Y: the rows of L⁻¹ X with the factor that has its roots in it."""
        return [[times(n.sqrt(f.over[i]), x) for x in row] for i, row in enumerate(below)]

    def of_HalfSolve(self, node: n.HalfSolve) -> Rows:
        f = self.factor_of(node.arg)
        right = self.rows(node.right)
        return self.backward(
            f, [[times(x, n.sqrt(f.over[i])) for x in row] for i, row in enumerate(right)]
        )

    def forward(self, f: _Factor, right: Rows) -> Rows:
        """L⁻¹ right."""
        self.solutions += 1
        order = range(len(right))
        return self.substituted("y", right, order, lambda i, k: f.lower[i][k])

    def backward(self, f: _Factor, right: Rows) -> Rows:
        """L⁻ᵀ right."""
        order = range(len(right) - 1, -1, -1)
        return self.substituted("x", right, order, lambda i, k: f.lower[k][i])

    def substituted(
        self, stem: str, right: Rows, order: range, at: Callable[[int, int], n.Node]
    ) -> Rows:
        """Row after row less what the rows before it take off, each under a name."""
        stem += str(self.solutions) if self.solutions > 1 else ""
        out: Rows = [list(row) for row in right]
        done: list[int] = []
        for i in order:
            for j, b in enumerate(right[i]):
                rest = less(b, [at(i, k) for k in done], [out[k][j] for k in done])
                place = f"{i}_{j}" if len(right[i]) > 1 else f"{i}"
                out[i][j] = self.entry(f"{stem}_{place}", rest)
            done.append(i)
        return out

    # -- the whole -----------------------------------------------------------------
    def finished(self) -> Unrolled:
        """After the ordinary passes; what no result and no pivot needs is dropped."""
        stores = []
        for _, local in self.phase.writes:
            if self.scope[local] == SCALAR and not any(s.name == local for s in self.phase.body):
                continue  # known before the body is run
            found = self.read(local)
            if isinstance(found, n.Node):
                raise UserError(
                    f"entries cannot be written out here: {local} is a number",
                    how="leave --size out",
                )
            vector = self.scope[local].rank == "vector"
            for i, row in enumerate(found):
                for j, x in enumerate(row):
                    stores.append((local, (i,) if vector else (i, j), x))
        last = {x for _, _, e in stores for x in e.names} | self.pivots.keys()
        writes = tuple((x, x) for x in sorted(last) if x not in self.loads)
        entries = tuple(Variable(x, "input", ENTRY) for x in self.loads)
        scalars = tuple(Variable(k, "hyper", SCALAR) for k, t in self.scope.items() if t == SCALAR)
        made = Program(
            (*entries, *scalars), (Phase("update", (), tuple(self.body), writes),), ELEMENTWISE
        )
        (phase,) = cse(dead(made)).phases
        read = {x for s in phase.body for x in n.names(s.expr)} | {
            x for _, _, e in stores for x in e.names
        }
        loads = tuple((name, *where) for name, where in self.loads.items() if name in read)
        return Unrolled(phase.body, loads, tuple(stores), self.pivots)
