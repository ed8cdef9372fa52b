"""Parts of a product that do not depend on the innermost letter, as equations of their own.

    H[i,j] = sum(n, h[n] * x[n,i] * x[n,j])   →   H_part[n,i] = h[n] * x[n,i];
                                                  H[i,j] = sum(n, H_part[n,i] * x[n,j])

So do functions called of fewer letters than the equation has: ψ(Σ γ) is computed outside of the
loop over k, log λ_k before the one over t.  Equations of one body that have the same part share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.axes.share import CHEAP
from blrgen.program.program import fresh


def split(program: a.Program, order: Sequence[str]) -> a.Program:
    """The program after `anf` for loops in that order."""
    return replace(program, body=_Splitting(program, order).body(program.body))


class _Splitting:
    def __init__(self, program: a.Program, order: Sequence[str]) -> None:
        self.program, self.taken = program, taken(program)
        self.order = list(order)
        self.known: dict[n.Node, a.Ref] = {}

    def body(self, body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
        """Equations of one body share parts; a recurrence inside is a body of its own."""
        outer, self.known = self.known, {}
        out: list[a.Statement] = []
        for s in body:
            if isinstance(s, a.Seq):
                out.append(replace(s, body=self.body(s.body)))
            else:
                out += self.let(s)
        self.known = outer
        return tuple(out)

    def let(self, s: a.Let) -> tuple[a.Statement, ...]:
        """The equation after those that were split from it."""
        if isinstance(s.expr, a.Lin) or s.first is not None:
            return (s,)
        before: list[a.Let] = []
        if isinstance(s.expr, a.Red):
            arg = self.expr(s, s.expr.arg, before)
            return (*before, replace(s, expr=replace(s.expr, arg=arg)))
        expr = self.calls(s, s.expr, before)
        return (*before, replace(s, expr=expr))

    def expr(self, s: a.Let, e: n.Node, before: list[a.Let]) -> n.Node:
        e = self.calls(s, e, before)
        free = self.sorted(a.free(e))
        if not isinstance(e, n.Mul) or len(free) < 2:
            return e
        inner = [f for f in e.args if free[-1] in a.free(f)]
        outer = [f for f in e.args if free[-1] not in a.free(f)]
        if len(outer) < 2 or not a.free(n.mul(*outer)):
            return n.mul(*outer, *inner)
        part = self.named(s, self.expr(s, n.mul(*outer), before), before)
        return n.mul(part, *inner)

    def calls(self, s: a.Let, e: n.Node, before: list[a.Let]) -> n.Node:
        """The expression with its calls on fewer letters taken out."""
        whole = self.sorted(a.free(e))

        def outer(x: n.Node) -> bool:
            free = self.sorted(a.free(x))
            return free == whole[: len(free)] and len(free) < len(whole)

        def fewer(x: n.Node) -> bool:
            called = isinstance(x, n.Call) and x.name not in CHEAP
            return (called and set(a.free(x)) < set(whole)) or outer(x)

        def on(x: n.Node) -> n.Node:
            if isinstance(x, n.Call | n.Div) and x is not e and fewer(x):
                return self.named(s, x, before)
            if isinstance(x, n.Div) and not isinstance(x.bottom, n.Const) and outer(x.bottom):
                return n.mul(on(x.top), self.named(s, n.div(n.ONE, x.bottom), before))
            return x if isinstance(x, a.Ref) else x.rebuilt(on)

        return on(e)

    def named(self, s: a.Let, e: n.Node, before: list[a.Let]) -> n.Node:
        letters = self.sorted(a.free(e))
        if isinstance(e, a.Ref | n.Const):
            return e
        if e not in self.known:
            name = fresh(f"{s.name}_part", self.taken)
            self.taken.add(name)
            made = self.program.arranged(letters)
            before.append(a.Let(name, made, e))
            self.known[e] = a.Ref(name, tuple(map(a.Ix, made)))
        return self.known[e]

    def sorted(self, letters: Sequence[str]) -> list[str]:
        return sorted(letters, key=self.order.index)
