"""One division for many: what has fewer letters than the quotient divides once.

    s[t] = …;  al[t,k] = a[t,k] / s[t]   →   s[t] = …;  s_over[t] = 1 / s[t];
                                             al[t,k] = a[t,k] * s_over[t]

The reciprocal stands where its quantity is made, so that all who divide by it share it, in
whatever loops they are; that of something given stands before everything else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh


def reciprocals(program: a.Program) -> a.Program:
    """The program after `anf` with such divisions as products."""
    work = _Dividing(program)
    divided = a.mapped(program.body, lambda s: (work.divided(s),))
    return replace(program, body=(*work.given.values(), *work.placed(divided)))


@dataclass
class _Dividing:
    """The reciprocals so far, by the names of what is made and of what is given."""

    program: a.Program
    made: dict[str, a.Let] = field(default_factory=dict)
    given: dict[str, a.Let] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.taken = taken(self.program)
        self.makers = {s.name: s for s in self.program.lets}

    def divided(self, s: a.Let) -> a.Let:
        """The equation with products."""

        def on(e: n.Node | None) -> n.Node | None:
            return None if e is None else n.transform(e, self.quotient)

        return replace(
            s, expr=n.transform(s.expr, self.quotient), first=on(s.first), init=on(s.init)
        )

    def quotient(self, e: n.Node) -> n.Node:
        """The quotient as a product, if its divisor lacks a letter of it."""
        if not isinstance(e, n.Div) or not isinstance(e.bottom, a.Ref):
            return e
        by = e.bottom
        letters = tuple(i.letter for i in by.index if isinstance(i, a.Ix))
        plain = len(set(letters)) == len(by.index) > 0
        if not plain or set(a.free(e.top)) <= set(letters):
            return e
        found = self.of_made(by.name) if by.name in self.makers else self.of_given(by, letters)
        return e if found is None else n.mul(e.top, a.Ref(found, by.index))

    def of_given(self, by: a.Ref, letters: tuple[str, ...]) -> str:
        """The name of the reciprocal of an array."""
        if by.name not in self.given:
            self.given[by.name] = a.Let(self.own(by.name), letters, n.div(n.ONE, by))
        return self.given[by.name].name

    def of_made(self, name: str) -> str | None:
        """The name of the reciprocal, unless its quantity is 0 but at a first index."""
        maker = self.makers[name]
        if name not in self.made:
            if maker.expr == n.ZERO or maker.at:
                return None
            of = a.Ref(name, maker.target)
            self.made[name] = a.Let(self.own(name), maker.letters, n.div(n.ONE, of))
        return self.made[name].name

    def own(self, name: str) -> str:
        name = fresh(f"{name}_over", self.taken)
        self.taken.add(name)
        return name

    def placed(self, body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
        """With the reciprocals of what is made behind those who make it."""
        return a.mapped(body, lambda s: (s, self.made[s.name]) if s.name in self.made else (s,))
