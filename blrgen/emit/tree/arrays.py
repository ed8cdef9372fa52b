"""Equations → array statements: letters become axes, loops are left for recurrences only.

    dx[n,k,i] = x[n,i] - mu[k,i]              dx = x[:, None, :] - mu
    s[k,i] = sum(n, r[n,k] * x[n,i])          s = np.einsum("nk,ni->ki", r, x)
    for t: a[t,k] = …                         for t in range(T): a[t] = …

An axis under which another is ragged is a loop too, with the row of it as a slice.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.statements import START, Statements
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import anf, taken
from blrgen.program.axes.check import check
from blrgen.program.axes.joined import joined
from blrgen.program.axes.labels import labels
from blrgen.program.axes.last_values import last_values
from blrgen.program.axes.outside import outside
from blrgen.program.axes.prepared import simpler
from blrgen.program.axes.ragged import opened
from blrgen.program.axes.stable import stable
from blrgen.program.axes.strips import Strips, strips
from blrgen.program.program import fresh

STRIP = 1024  # rows at a time where arrays of all rows would be large


def array_function(program: a.Program, name: str) -> t.Function:
    """The program as one function on arrays, which returns its outs."""
    check(program)
    ready = stable(labels(anf(joined(labels(last_values(program))))))
    rows = outside(simpler(ready))
    parts = strips(rows)
    if parts is not None:
        return InStrips(rows, name, parts).function()
    return Statements(opened(outside(simpler(ready, whole=True))), name).function()


def array_body(program: a.Program, name: str) -> tuple[t.Statement, ...]:
    """The equations of a program after `anf` as statements, results in arrays that are given."""
    names, used = dict[str, str](), taken(program)
    for x in program.outs:  # the array itself is there
        names[x] = fresh(f"{x}_now", used)
        used.add(names[x])
    body = tuple(replace(s, name=names.get(s.name, s.name), expr=a.renamed(s.expr, names))
                 for s in program.lets)  # fmt: skip
    program = replace(program, body=body)
    work = Statements(program, name)
    puts = [*names.items(), *program.writes]
    return (*work.statements(program.body), *(work.put(x, y) for x, y in puts))


class InStrips(Statements):
    """The same with the rows of data in strips, whose sums are added up."""

    def __init__(self, program: a.Program, name: str, parts: Strips) -> None:
        """Rows are read from views, which are given arrays of another name."""
        used = taken(program)
        size = program.letter(parts.letter).size
        self.views: dict[str, str] = {}
        for q in program.given:
            if size in q.sizes:
                self.views[q.name] = fresh(f"{q.name}_rows", used)
                used.add(self.views[q.name])
        self.place_of_rows = fresh(f"{parts.letter}0", used)
        more = tuple(replace(q, name=self.views[q.name]) for q in program.given
                     if q.name in self.views)  # fmt: skip
        rows = {s.name for s in parts.rows}

        def let(s: a.Let) -> tuple[a.Statement, ...]:
            return (replace(s, expr=a.renamed(s.expr, self.views)) if s.name in rows else s,)

        body = a.mapped(program.body, let)
        super().__init__(replace(program, body=body, given=(*program.given, *more)), name)
        self.parts, self.strip = parts, size

    def function(self) -> t.Function:
        """The arguments are those of the program."""
        found = super().function()
        own = set(self.views.values())
        return replace(found, arrays=tuple(x for x in found.arrays if x not in own))

    def whole_body(self, rest: list[a.Statement]) -> list[t.Statement]:
        """What comes before rows, the strips, what comes after."""
        lets = {s.name: s for s in rest if isinstance(s, a.Let)}
        before = [s for s in rest if s in self.parts.before]
        after = [s for s in rest if s in self.parts.after]
        inside = [lets[s.name] for s in self.parts.rows]
        sums = [s for s in inside if self.parts.sums(s)]
        size = self.size(self.parts.letter)
        body = [*map(self.view, self.views.items())]
        for s in inside:
            body += [self.added(s)] if s in sums else self.let(s)
        strip = t.For(self.place_of_rows, t.Whole(0), size, tuple(body), step=t.Whole(STRIP))
        zeros = map(self.zero, sums)
        return [*self.statements(before), *zeros, strip, *self.statements(after)]

    def view(self, names: tuple[str, str]) -> t.Statement:
        """The rows of a strip; the last one has fewer."""
        given, own = names
        axes = self.stored(self.sizes[given])
        at = axes.index(self.letters[self.parts.letter].size)
        start = t.name(self.place_of_rows)
        part = t.Span(start, t.plus(start, t.Whole(STRIP)))
        return t.View(own, t.Entry(given, (*(t.Span() for _ in range(at)), part)))

    def zero(self, s: a.Let) -> t.Statement:
        """What a sum starts from."""
        assert isinstance(s.expr, a.Red)
        if not s.letters:
            return t.Assign(t.name(s.name), START[s.expr.op])
        return t.Make(s.name, tuple(map(self.size, s.letters)), fill=START[s.expr.op])

    def added(self, s: a.Let) -> t.Statement:
        """What the rows of a strip add."""
        assert isinstance(s.expr, a.Red)
        self.left = s.letters
        value, target = self.aligned(self.expr(s.expr), s.letters), t.name(s.name)
        if s.expr.op == "max":
            return t.Assign(target, n.Call("max", (target, value)))
        return t.Increase(target, value)
