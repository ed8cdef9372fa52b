"""One division where many would be by the same number.

    a[t,k] = w[t,k] / s[t]    →    s_over[t] = 1 / s[t];  a[t,k] = w[t,k] * s_over[t]

Where an equation has more letters than what it divides by, that is one division for all of
them; other equations that divide by it share it.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh


def quotients(program: a.Program) -> a.Program:
    """The program with reciprocals of its divisors as equations of their own."""
    work = _Dividing(program)
    body = a.mapped(program.body, lambda s: (work.divided(s),))
    given = tuple(work.reciprocal(q.name, work.letters(q)) for q in program.given
                  if q.name in work.over)  # fmt: skip
    return replace(program, body=(*given, *a.mapped(body, work.beside)))


class _Dividing:
    """The names of reciprocals."""

    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)
        self.over: dict[str, str] = {}
        whole = {q.name for q in program.given if len(self.letters(q)) == len(q.sizes)}
        self.known = whole | {s.name for s in program.lets if not s.at}

    def letters(self, q: a.Quantity) -> tuple[str, ...]:
        """A letter for each axis of what is given; fewer where only some of its places are read."""
        out: list[str] = []
        for size in q.sizes:
            same = (x.name for x in self.program.letters if x.size == size and x.name not in out)
            out += [x for x in (next(same, ""),) if x]
        return tuple(out)

    def reciprocal(self, name: str, letters: tuple[str, ...]) -> a.Let:
        entry = a.Ref(name, tuple(map(a.Ix, letters)))
        return a.Let(self.over[name], letters, n.div(n.ONE, entry))

    def beside(self, s: a.Let) -> tuple[a.Statement, ...]:
        """The equation, and the reciprocal of what it makes if it is asked for."""
        if s.name not in self.over:
            return (s,)
        made = self.reciprocal(s.name, s.letters)
        init = None if s.init is None else n.div(n.ONE, s.init)
        return s, replace(made, init=init)

    def divided(self, s: a.Let) -> a.Let:
        def on(e: n.Node | None) -> n.Node | None:
            if e is None:
                return None
            over = e.letters if isinstance(e, a.Red) else ()
            return self.without(e, {*s.letters, *over})

        expr = on(s.expr)
        assert expr is not None
        return replace(s, expr=expr, first=on(s.first))

    def without(self, e: n.Node, letters: set[str]) -> n.Node:
        """The expression with products in the place of such quotients."""
        if isinstance(e, a.Ref | a.Lin):
            return e
        e = e.rebuilt(lambda c: self.without(c, letters))
        if not isinstance(e, n.Div) or not isinstance(e.bottom, a.Ref):
            return e
        b = e.bottom
        if b.name not in self.known or not set(a.free(b)) < letters or e.top == n.ONE:
            return e
        if b.name not in self.over:
            self.over[b.name] = fresh(f"{b.name}_over", self.taken)
            self.taken.add(self.over[b.name])
        return n.mul(e.top, a.Ref(self.over[b.name], b.index))
