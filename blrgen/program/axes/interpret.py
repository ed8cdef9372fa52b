"""What a program means: every equation as a whole array, letters broadcast by name.

Slow and large on purpose; nothing else defines meaning.  A recurrence binds its letter and is
evaluated index by index; so is an axis under which another is ragged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.evaluate import Bound, Evaluation, Law
from blrgen.program.axes.meanings import Array
from blrgen.program.axes.text import shown
from blrgen.value.kinds import DOUBLES, Kind


def interpret(
    program: a.Program,
    given: Mapping[str, Any],
    sizes: Mapping[str, int] | None = None,
    laws: Mapping[str, Law] | None = None,
    kind: Kind = DOUBLES,
) -> dict[str, Array]:
    """The outs of a program by name, and the given arrays it writes with their new values.

    `sizes` are those that no given array shows, `kind` is that of the numbers.
    """
    arrays = {k: np.asarray(v) for k, v in given.items()}
    run = _Run(program, arrays, dict(sizes or {}), laws or {}, kind)
    with np.errstate(all="ignore"):
        run.body(program.body)
    made = {name: run.values[name] for name in program.outs}
    made |= {x.name: run.put(x) for x in program.assembled}
    return made | {name: run.values[y].copy() for name, y in program.writes}


class _Run(Evaluation):
    """The equations one after the other, and recurrences index by index."""

    def body(self, body: Sequence[a.Statement]) -> None:
        for s in body:
            if isinstance(s, a.Seq):
                self.seq(s)
            else:
                self.let(s)

    def seq(self, s: a.Seq) -> None:
        """Index by index; sums over the letter start before it."""
        places = self.places(s.letter)
        order = places[::-1] if self.letters[s.letter].down else places
        outer = self.around
        key = tuple(self.bound[x] for x in outer)
        for x in a.lets(s.body):  # of several letters at the outermost
            sums = [e for e in x.expressions if isinstance(e, a.Red) and s.letter in e.letters
                    and not {*e.letters} & {*outer}]  # fmt: skip
            if sums:
                self.store(x, self.start(x, sums[0].op))
        ends: dict[tuple[int, ...], int] = {}
        for x in a.lets(s.body):
            self.room(x)  # where there are no indices nothing else makes it
            ends = self.ends.setdefault((x.name, s.letter), (outer, ends))[1]
        self.around = (*outer, s.letter)
        self.each |= {s.letter} if s.each else set()
        for place in order:
            ends[key] = place
            with self.at(s.letter, place):
                self.body(s.body)
                if s.stop and self.stopped(s):
                    break
        self.around = outer
        self.each.discard(s.letter)

    def stopped(self, s: a.Seq) -> bool:
        """Whether the value that ends the recurrence is true at this index."""
        (made,) = (x for x in a.lets(s.body) if x.name == s.stop)
        return bool(self.expr(a.Ref(s.stop, made.target))[1])

    def start(self, s: a.Let, op: str) -> Bound:
        return (), np.array({"sum": 0.0, "sumlog": 0.0, "last": 0.0}.get(op, -np.inf), self.real)

    def let(self, s: a.Let) -> None:
        """One equation for all its letters, place by place where another one is ragged."""
        over = s.expr.letters if s.at and isinstance(s.expr, a.Red) else ()
        if s.at and not {*over} & {*self.around}:
            self.store(s, self.start(s, "sum"))
        for _ in self.row_by_row([self.letters[x].under for x in (*s.letters, *over)]):
            self.whole(s)

    def whole(self, s: a.Let) -> None:
        if s.at and isinstance(s.expr, a.Red):
            self.scattered(s, s.expr)
            return
        e = s.first if s.first is not None and self.is_first(s) else s.expr
        if isinstance(e, a.Red) and {*e.letters} & {*self.around}:
            rest = tuple(x for x in e.letters if x not in self.bound)
            part = self.part(a.Red(e.op, rest, e.arg))
            if e.op == "last":
                self.store(s, part)
                return
            before = self.expr(a.Ref(s.name, tuple(map(a.Ix, s.letters))))
            op = "sum" if e.op == "sumlog" else e.op
            self.store(s, self.joined(lambda *x: self.reduce(op, np.stack(x)), before, part))
        elif isinstance(e, a.Red) and e.op == "sum":
            self.store(s, self.red(e, [x for x in s.bounds if {*x} & {*e.letters}]))
        else:
            self.store(s, self.expr(e))

    def scattered(self, s: a.Let, e: a.Red) -> None:
        """Each term is added at its own place."""
        letters = dict.fromkeys((*(x for i in (*s.at, e.arg) for x in a.free(i)), *e.letters))
        free = tuple(x for x in letters if x not in self.bound)
        whole = [len(self.places(x)) for x in free]
        terms = np.broadcast_to(self.spread(self.expr(e.arg), free), whole)
        places = self.grid(s.at, free, [self.letters[x].size for x in s.letters])
        np.add.at(self.values[s.name], tuple(np.broadcast_to(x, whole) for x in places), terms)

    def is_first(self, s: a.Let) -> bool:
        """Whether the innermost recurrence that the equation is on is at its first index."""
        letter = self.own_recurrence(s)
        places = self.places(letter)
        first = places[-1] if self.letters[letter].down else places[0]
        return self.bound[letter] == first

    def own_recurrence(self, s: a.Let) -> str:
        return next(x for x in reversed(self.around) if x in s.letters and x not in self.each)

    def store(self, s: a.Let, value: Bound) -> None:
        """Into the array of the left side, which is made when it is first needed."""
        target = self.room(s)
        free = tuple(x for x in s.letters if x not in self.bound)
        whole = np.broadcast_to(
            self.spread(value, free), [len(self.places(x)) for x in free]
        )  # fmt: skip
        sizes = [self.letters[x].size for x in s.letters]
        target[self.grid(tuple(map(a.Ix, s.letters)), free, sizes)] = whole
        self.claimed(s, whole)

    def room(self, s: a.Let) -> Array:
        """The array of the left side."""
        if s.name not in self.values:
            sizes = [self.letters[x].size for x in s.letters]
            shape = [self.length(x) for x in self.stored(sizes)]
            kind = bool if isinstance(s.expr, n.Compare) else self.real
            self.values[s.name] = np.zeros(shape, kind)
        return self.values[s.name]

    def put(self, x: a.Assembled) -> Array:
        """An array from its entries."""
        out = np.zeros([self.length(y) for y in self.stored(x.sizes)], self.real)
        for index, e in x.entries:
            free = tuple(y for i in index for y in a.free(i))
            for own in self.row_by_row([self.letters[y].under for y in free]):
                left = tuple(y for y in free if y not in own)
                out[self.grid(index, left, x.sizes)] = self.spread(self.expr(e), left)
        return out

    def row_by_row(self, letters: Sequence[str]) -> Iterator[Sequence[str]]:
        """For all places of the letters, which are bound meanwhile."""
        loops = [x for x in dict.fromkeys(letters) if x and x not in self.bound]
        for places in product(*(self.places(x) for x in loops)):
            self.bound.update(zip(loops, places, strict=True))
            yield loops
            for x in loops:
                del self.bound[x]

    def claimed(self, s: a.Let, whole: Array) -> None:
        """What is stated of the last two axes must be so."""
        if s.structure == "dense":
            return
        turned = np.swapaxes(whole, -1, -2) if s.structure != "lower" else np.tril(whole)
        if self.exact:
            if not np.all(whole == turned):
                raise InternalError(f"not {s.structure}: {shown(s)}")
            return
        scale = np.max(np.abs(whole), initial=0.0)
        if np.max(np.abs(whole - turned), initial=0.0) > 1e3 * np.finfo(self.real).eps * scale:
            raise InternalError(f"not {s.structure}: {shown(s)}")
