"""One factor of a matrix for all that is solved with it, and determinants from its pivots.

    x[a] = solve(S[a,b], v[a]);  K[a,j] = solve(S[a,b], D[a,j]);  h = logdet(S[a,b])
    →   S_ldl[a,b] = ldl(S[a,b]);  x[a] = ldlsolve(S_ldl[a,b], v[a]);  K[a,j] = …;
        h = -sumlog(a, S_ldl[a,a])

The factor is S = L D Lᵀ without roots, with 1/D on the diagonal.  A sum of such determinants over
a recurrence is one running product over both, with a log now and then.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh


def factored(program: a.Program) -> a.Program:
    """The program after `anf` with such factors as equations of their own."""
    work = _Factoring(program)
    program = replace(program, body=work.body(program.body, {}))
    return _Gathering(program, work.taken).whole()


class _Factoring:
    """The names in use."""

    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)

    def body(
        self, body: tuple[a.Statement, ...], known: dict[tuple[a.Ref, bool], a.Ref]
    ) -> tuple[a.Statement, ...]:
        """Statements with factors before the first who need them."""
        out: list[a.Statement] = []
        for s in body:
            if isinstance(s, a.Seq):
                out.append(replace(s, body=self.body(s.body, {})))
            elif isinstance(s.expr, a.Lin) and s.expr.op in ("solve", "logdet"):
                out += self.solved(s, s.expr, known)
            else:
                out.append(s)
        return tuple(out)

    def solved(
        self, s: a.Let, e: a.Lin, known: dict[tuple[a.Ref, bool], a.Ref]
    ) -> tuple[a.Let, ...]:
        """The equation by a factor, after the factor if it is new."""
        matrix, late = e.args[0], s.first is not None
        letters = tuple(x for i in matrix.index for x in a.free(i))
        if (late and s.first != n.ZERO) or len(set(letters)) < len(matrix.index):
            return (s,)
        before: list[a.Let] = []
        if (matrix, late) not in known:
            name = self.own(f"{matrix.name}_ldl")
            before.append(a.Let(name, letters, a.Lin("ldl", (matrix,)), first=s.first))
            known[matrix, late] = a.Ref(name, tuple(map(a.Ix, letters)))
        factor = known[matrix, late]
        if e.op == "solve":
            return (*before, replace(s, expr=a.Lin("ldlsolve", (factor, *e.args[1:]))))
        i, j = letters[-2:]
        pivots = a.swapped(factor, {j: a.Ix(i)})
        logs = a.Let(self.own(f"{s.name}_logs"), s.letters, a.Red("sumlog", (i,), pivots))
        value = n.neg(a.Ref(logs.name, tuple(map(a.Ix, s.letters))))
        return (*before, replace(logs, first=s.first), replace(s, expr=value))

    def own(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name


class _Gathering:
    """Sums of sums of logs, Σ_t (x_t − Σ_a log y_ta), as Σ_t x_t − Σ_ta log y_ta."""

    def __init__(self, program: a.Program, names: set[str]) -> None:
        self.program, self.taken = program, names
        self.made = {s.name: s for s in program.lets}

    def whole(self) -> a.Program:
        return replace(self.program, body=a.mapped(self.program.body, self.let))

    def let(self, s: a.Let) -> tuple[a.Statement, ...]:
        e = s.expr
        plain = s.first is None and not s.at and isinstance(e, a.Red) and e.op == "sum"
        if not plain or not isinstance(e, a.Red):
            return (s,)
        terms = e.arg.args if isinstance(e.arg, n.Add) else (e.arg,)
        logs = {x: found for x in terms if (found := self.logs(x)) is not None}
        if not logs:
            return (s,)
        rest = n.add(*(x for x in terms if x not in logs))
        parts: list[tuple[n.Node, a.Red]] = []
        if rest != n.ZERO:
            parts.append((n.ONE, a.Red("sum", e.letters, rest)))
        for sign, inner in logs.values():
            parts.append((sign, a.Red("sumlog", (*e.letters, *inner.letters), inner.arg)))
        made = [a.Let(self.own(s.name), s.letters, x) for _, x in parts]
        at = tuple(map(a.Ix, s.letters))
        values = (n.mul(k, a.Ref(x.name, at)) for x, (k, _) in zip(made, parts, strict=True))
        return (*made, replace(s, expr=n.add(*values)))

    def logs(self, e: n.Node) -> tuple[n.Node, a.Red] | None:
        """The sum of logs that a term is, read at its own letters, and its sign."""
        sign: n.Node = n.ONE
        while True:
            if isinstance(e, n.Neg):
                sign, e = n.neg(sign), e.arg
            if not isinstance(e, a.Ref) or e.name not in self.made:
                return None
            s = self.made[e.name]
            if s.target != e.index or s.first is not None:
                return None
            if isinstance(s.expr, a.Red):
                return (sign, s.expr) if s.expr.op == "sumlog" else None
            e = s.expr

    def own(self, name: str) -> str:
        name = fresh(f"{name}_part", self.taken)
        self.taken.add(name)
        return name
