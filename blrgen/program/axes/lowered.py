"""A phase of a rule as equations with indices.

    A @ B      →  sum(k, A[i,k] * B[k,j])         x.T          →  x[j,i]
    identity   →  [i == j]                        solve(A, b)  →  on entries, A named if need be
    total(x)   →  sum(j, x[j])                    count(x)     →  how long its axis is

A factor that the phase names is an equation `L[i,j] = chol(A[i,j])`; what is solved with it is
solved with A.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.expand import expanded
from blrgen.program.program import Phase, Program, Statement, fresh
from blrgen.program.types import EACH, Memory, Type, infer

NAMES = "ijklpqrsuvw"
AXIS = "d"  # what the axis of entries is called
_X = n.Ref("x")
_LOGISTIC = expanded(n.Call("logistic", (_X,)))


def over_axes(program: Program, phase: Phase) -> a.Program:
    """The phase: its results are outs, and what it writes is written."""
    work = _Lowering(program)
    statements = (*phase.scalars, *phase.body)
    body = work.equations(statements)
    made = tuple(s.name for s in statements)
    known = {*phase.reads, *made}
    writes = tuple((x, y) for x, y in phase.writes if x in known and x != y and y in made)
    given = tuple(map(work.quantity, phase.reads))
    return a.Program(tuple(work.letters.values()), given, body, made, writes)


def pass_over_axes(program: Program, phase: Phase, outs: Collection[str]) -> a.Program:
    """What a phase does, its numbers given; `outs` are handed out."""
    work = _Lowering(program)
    body = work.equations(phase.body)
    read = {r.name for s in body for r in a.refs(s.expr)} | set(outs)
    given = [work.quantity(x) for x in phase.body_reads if x in read]
    for size in work.counted:  # by an array, where none is read
        if not (size.isdigit() or any(size in q.sizes for q in given)):
            held = (program.parameter, *program.of("state", "hyper"))
            given.append(work.quantity(next(v.name for v in held if size in v.type.shape)))
    made = tuple(x for x in outs if phase.assigns(x))
    return a.Program(tuple(work.letters.values()), tuple(given), body, made)


def writing_pass(
    program: Program, phase: Phase, arrays: Collection[str], outputs: Collection[str] = ()
) -> a.Program:
    """What a pass over arrays does, the phase's numbers given.

    What it writes to `arrays` is written at the end; `outputs` among them are never read and
    are handed out.
    """
    work = _Lowering(program)
    puts = [(x, y) for x, y in phase.writes if x in arrays]
    names = {y: x for x, y in reversed(puts) if x in outputs and phase.assigns(y)}
    read = [x for x in phase.body_reads if x not in names.values()]
    read += [x for x, _ in puts if x not in read and x not in outputs]
    body = [replace(s, name=names.get(s.name, s.name), expr=a.renamed(s.expr, names))
            for s in work.equations(phase.body)]  # fmt: skip
    made, writes = {s.name for s in body}, []
    for x, y in puts:
        own = x if x in outputs else names.get(y, y)
        if own not in made:  # a copy, of what is given or of what another output is
            own = x if x in outputs else fresh(f"{x}_next", {*program.scope, *made})
            letters = work.own(program.scope[x])
            body.append(a.Let(own, letters, a.ref(names.get(y, y), *letters)))
            made.add(own)
        writes += [] if x in outputs else [(x, own)]
    outs = tuple(x for x, _ in puts if x in outputs)
    given = tuple(map(work.quantity, read))
    return a.Program(tuple(work.letters.values()), given, tuple(body), outs, tuple(writes))


class _Lowering:
    """Letters so far, the equations, and the matrices that are solved with."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.scope = Memory(program.scope)
        self.letters: dict[str, a.Letter] = {}
        self.taken = set(program.scope)
        self.body: list[a.Let] = []
        self.solved: set[str] = set()
        self.matrix_of: dict[str, str] = {}  # factor → what it is the factor of
        self.parts: dict[n.Node, str] = {}
        self.counted: dict[str, None] = {}  # sizes that stand in equations
        self.left: tuple[str, ...] = ()  # the letters of the statement that is under way
        self.lengths = {v.name for v in program.of("size")}
        self.each = fresh(AXIS, self.taken)

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
        return int(size) if size.isdigit() else self.each if size == EACH else size

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
        sizes = tuple(map(self.axis, kind.shape))
        return a.Quantity(name, sizes, self.structure(name, kind.structure))

    def statement(self, s: Statement) -> None:
        letters = self.left = self.own(s.type)
        expr = self.entry(s.expr, letters, letters)
        if isinstance(expr, a.Lin) and expr.op == "chol":
            self.matrix_of[s.name] = expr.args[0].name
        self.body.append(a.Let(s.name, letters, expr, s.type.structure))

    # -- expressions -----------------------------------------------------------------
    def entry(self, e: n.Node, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        """The entry of an expression at letters; `used` are those that stand around it."""
        if isinstance(e, n.Ref):
            if e.name in self.lengths:
                self.counted[e.name] = None
                return a.Extent(e.name)
            kind = self.scope[e.name]
            return a.Ref(e.name, tuple(map(a.Ix, at[: len(kind.shape)])))
        method = getattr(self, f"of_{type(e).__name__}", None)
        if method is not None:
            found: n.Node = method(e, at, used)
            return found
        return e.rebuilt(lambda c: self.entry(c, at, used))

    def of_Div(self, e: n.Div, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        if _is_logistic(e):
            (smaller,) = e.children[0].children
            return n.Call("logistic", (self.entry(smaller.children[0], at, used),))
        return e.rebuilt(lambda c: self.entry(c, at, used))

    def of_Total(self, e: n.Total, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return self.reduced("sum", e.arg, used)

    def of_LogTotal(self, e: n.LogTotal, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        more = None if e.more is None else self.entry(e.more, at, used)
        return self.reduced("lse", e.arg, used, more)

    def of_Count(self, e: n.Count, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        size = a.Extent(str(self.axis(infer(e.arg, self.scope).shape[0])))
        return n.add(size, n.Const.of(e.more)) if e.more else size

    def reduced(
        self, op: str, e: n.Node, used: tuple[str, ...], more: n.Node | None = None
    ) -> a.Red:
        """Over a letter of its own."""
        k = self.letter(infer(e, self.scope).shape[0], used)
        return a.Red(op, (k,), self.entry(e, (k,), (*used, k)), more)

    def of_Identity(self, e: n.Identity, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        self.counted[e.size] = None
        return a.Is(a.Ix(at[0]), a.Ix(at[1]))

    def of_Transpose(self, e: n.Transpose, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return self.entry(e.arg, at[::-1], used)

    def of_MatMul(self, e: n.MatMul, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        k = self.letter(infer(e.left, self.scope).shape[1], used)
        inside = (*used, k)
        left = self.entry(e.left, (at[0], k), inside)
        return a.Red("sum", (k,), n.mul(left, self.entry(e.right, (k, *at[1:]), inside)))

    def of_Outer(self, e: n.Outer, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return n.mul(self.entry(e.left, at[:1], used), self.entry(e.right, at[1:], used))

    def of_Trace(self, e: n.Trace, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        whole = self.named(e.arg, "dense")
        k = self.letter(self.scope[whole].shape[0], used)
        return a.Red("sum", (k,), a.ref(whole, k, k))

    def of_Symmetrize(self, e: n.Symmetrize, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        whole = self.named(e.arg, "dense")
        return n.mul(n.HALF, n.add(a.ref(whole, *at), a.ref(whole, *at[::-1])))

    # -- linear algebra --------------------------------------------------------------
    def of_Factor(self, e: n.Factor, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return a.Lin("chol", (a.ref(self.definite_matrix(e.arg), *at),))

    def of_Solve(self, e: n.Solve, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return self.linear("solve", self.definite_matrix(e.arg), e.right, at, used)

    def of_HalfSolve(self, e: n.HalfSolve, at: tuple[str, ...], used: tuple[str, ...]) -> n.Node:
        return self.linear("ltsolve", self.root(e.arg), e.right, at, used)

    def of_HalfProduct(
        self, e: n.HalfProduct, at: tuple[str, ...], used: tuple[str, ...]
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
        if isinstance(right, n.Transpose) and at != self.left:
            b = a.ref(self.named(right.arg, "dense"), *at[::-1])
        else:
            b = a.ref(self.named(right, "dense"), *at)
        k = self.letter(str(self.letters[at[0]].size), (*at, *used))
        return a.Lin(op, (a.ref(matrix, at[0], k), b))

    def named(self, e: n.Node, structure: str) -> str:
        """The name of a matrix or vector."""
        if isinstance(e, n.Ref):
            return e.name
        if e in self.parts:
            return self.parts[e]
        kind = infer(e, self.scope)
        name = self.parts[e] = fresh(_stem(e), self.taken)
        self.taken.add(name)
        self.scope[name] = kind
        letters = self.own(kind)
        self.body.append(a.Let(name, letters, self.entry(e, letters, letters), structure))
        return name

    def definite_matrix(self, e: n.Node) -> str:
        """The name of what is solved with or factored, or of what a factor is the factor of."""
        name = self.matrix_of.get(e.name, "") if isinstance(e, n.Ref) else ""
        name = name or self.named(e, "sym")
        self.solved.add(name)
        return name

    def root(self, e: n.Node) -> str:
        """The lower factor of a matrix."""
        if isinstance(e, n.Ref) and e.name in self.matrix_of:
            return e.name
        matrix = self.definite_matrix(e)
        name = fresh(f"{matrix}_root", self.taken)
        self.taken.add(name)
        at = self.own(self.scope[matrix])
        self.body.append(a.Let(name, at, a.Lin("chol", (a.ref(matrix, *at),))))
        return name


def _is_logistic(e: n.Div) -> bool:
    """Whether it is e^min(x, 0)/(1 + e^−|x|), as arrays compute the logistic function."""
    if not isinstance(e.top, n.Call) or e.top.name != "exp":
        return False
    (smaller,) = e.top.args
    if not isinstance(smaller, n.Call) or smaller.name != "min":
        return False
    return n.substituted(_LOGISTIC, {_X.name: smaller.args[0]}) == e


def _stem(e: n.Node) -> str:
    """What a matrix without a name is called."""
    if isinstance(e, n.Neg) and isinstance(e.arg, n.Ref):
        return f"minus_{e.arg.name}"
    return "identity" if isinstance(e, n.Identity) else "part"
