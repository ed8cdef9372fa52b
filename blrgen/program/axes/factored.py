"""A matrix that many systems have is factored once, before the loop over them.

    h[n,i] = solve(P[i,k], b[n,i])   →   f[i,k] = factor(P[i,k]); h[n,i] = solve(f[i,k], b[n,i])

A factor is the matrix in another form, and means the matrix.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh

SOLVED = ("solve", "logdet", "half", "weighed")


def factored(program: a.Program) -> a.Program:
    """The program after `anf`, in loops: matrices that lack letters of what is solved."""
    work = _Factoring(program)
    return replace(program, body=work.body(program.body, {}))


class _Factoring:
    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)

    def body(
        self, body: tuple[a.Statement, ...], known: dict[tuple[object, ...], str]
    ) -> tuple[a.Statement, ...]:
        """One body: it knows the factors that stand before it."""
        out: list[a.Statement] = []
        for s in body:
            if isinstance(s, a.Seq):
                out.append(replace(s, body=self.body(s.body, dict(known))))
            else:
                out += self.let(s, known)
        return tuple(out)

    def let(self, s: a.Let, known: dict[tuple[object, ...], str]) -> tuple[a.Let, ...]:
        e = s.expr
        if not isinstance(e, a.Lin) or e.op not in SOLVED:
            return (s,)
        r = e.args[0]
        plain = s.first is None and s.init is None and all(isinstance(i, a.Ix) for i in r.index)
        front, (row, column) = a.free(r)[:-2], a.free(r)[-2:]
        batch = set(s.letters) - set(a.own_letters(e))
        key = (r.name, *front)
        if not plain or (batch <= set(front) and key not in known):
            return (s,)
        before: tuple[a.Let, ...] = ()
        if key not in known:
            known[key] = fresh(f"{r.name}_factor", self.taken)
            self.taken.add(known[key])
            expr = a.Lin("factor", (r,))
            before = (a.Let(known[key], (*front, row, column), expr, structure="factor"),)
        args = (a.Ref(known[key], r.index), *e.args[1:])
        return (*before, replace(s, expr=replace(e, args=args)))
