"""Programs drawn by seed, with values for what they are given: all that the language has.

Equations are drawn one after the other; what the checker refuses or what comes out large is
drawn again, so that every program is well typed and a difference in it is a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import TypeMismatch, check
from blrgen.program.axes.dead import dead
from blrgen.program.axes.interpret import interpret
from tests.program.axes.drawn_expressions import Known
from tests.program.axes.drawn_given import Given

LARGEST = 300.0


@dataclass(frozen=True)
class Drawn:
    """A program, what it is given, and the lengths of axes that no given array shows."""

    program: a.Program
    values: Mapping[str, Any]
    sizes: dict[str, int]


def drawn(seed: int, equations: int = 6) -> Drawn:
    """The program of a seed."""
    return Drawing(seed).whole(equations)


class Drawing(Given):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.body: list[a.Statement] = []

    # -- all of it -----------------------------------------------------------------------
    def whole(self, equations: int) -> Drawn:
        self.all_given()
        for _ in range(equations):
            for _ in range(12):
                if self.grown():
                    break
        return self.finished()

    def program(self, body: Sequence[a.Statement], outs: tuple[str, ...] = ()) -> a.Program:
        return a.Program(self.letters, tuple(self.given), tuple(body), outs)

    def grown(self) -> bool:
        """Whether one more statement could be drawn."""
        kinds = [self.entrywise, self.reduced, self.reduced, self.scattered, self.symmetric,
                 self.linear, self.form, self.recurrence, self.recurrence, self.number]  # fmt: skip
        before, known = self.count, dict(self.known)
        made = self.rng.choice(kinds)()
        if made and self.fits(made):
            self.body += made
            self.own |= {s.name for s in a.lets(tuple(made))}
            return True
        self.known, self.count = known, before
        self.inside, self.lags, self.coming, self.late = (), (), {}, False
        return False

    def fits(self, made: list[a.Statement]) -> bool:
        names = tuple(s.name for s in a.lets(tuple(made)))
        p = self.program([*self.body, *made], names)
        try:
            check(p)
            found = interpret(p, self.values, self.shown())
        except TypeMismatch:
            return False
        except InternalError as error:
            if "outside of axis" in str(error) or str(error).startswith("not "):
                return False
            raise
        return all(x.dtype.kind == "b" or self.is_tame(x) for x in found.values())

    def is_tame(self, x: Any) -> bool:
        return bool(np.all(np.isfinite(x)) and np.max(np.abs(x), initial=0) < LARGEST)

    def shown(self) -> dict[str, int]:
        return {x: k for x, k in self.lengths.items() if isinstance(x, str) and x != "O"}

    def finished(self) -> Drawn:
        """What nobody reads is handed out, and some more; or takes the place of what is given."""
        read = {x for s in a.lets(tuple(self.body)) for e in s.expressions for x in e.names}
        stops = {s.stop for s in a.recurrences(tuple(self.body))}
        lets = [s for s in a.lets(tuple(self.body)) if s.name in self.known]
        lets = [s for s in lets if s.name not in stops and not self.known[s.name].last]
        outs = [s.name for s in lets if s.name not in read or self.rng.random() < 0.25]
        p = self.program(self.body, tuple(outs))
        writes = self.written(p) if self.rng.random() < 0.3 else ()
        p = dead(replace(p, writes=writes))
        if self.rng.random() < 0.5:
            p = self.narrow(p)
        used = {q.name for q in p.given} & {
            *(x for s in p.lets for e in s.expressions for x in e.names),
            *(x.pointers for x in p.letters), *(x for x, _ in p.writes),
        }  # fmt: skip
        given = tuple(q for q in p.given if q.name in used)
        p = replace(p, given=given)
        check(p)
        return Drawn(p, {q.name: self.values[q.name] for q in given}, self.shown())

    def written(self, p: a.Program) -> tuple[tuple[str, str], ...]:
        """Arrays that are overwritten, each with what has its axes."""
        sizes, out = p.sizes, []
        plain = [q for q in p.given if q.sizes and not q.labels and q.name != "ptr"
                 and q.structure == "dense"]  # fmt: skip
        made = [x for x in p.outs]
        for q in plain:
            found = [x for x in made if sizes[x] == q.sizes]
            if found:
                out.append((q.name, found[0]))
                made.remove(found[0])
        return tuple(out)

    def narrow(self, p: a.Program) -> a.Program:
        """The program without letters that it does not name."""
        used = {x for s in p.lets for x in s.letters}
        used |= {s.letter for s in a.recurrences(p.body)}
        for e in (e for s in p.lets for e in s.expressions):
            for x in n.walk(e):
                used |= {x.letter} if isinstance(x, a.Ix | a.Lag | a.Last) else set()
        used |= {self.letter[x].under for x in used}
        return replace(p, letters=tuple(x for x in p.letters if x.name in used))

    # -- equations -----------------------------------------------------------------------
    def left(self, most: int = 3) -> tuple[str, ...]:
        return self.arranged(self.fresh_letters((), self.rng.randint(0, most)))

    def learnt(self, s: a.Let, positive: bool = False) -> list[a.Statement]:
        """The equation, known from now on."""
        sizes = tuple(self.letter[x].size for x in s.letters)
        structure = s.structure
        if isinstance(s.expr, a.Lin) and s.expr.op in ("chol", "linv"):
            structure = "lower"
        self.known[s.name] = Known(s.name, sizes, structure, positive)
        return [s]

    def entrywise(self) -> list[a.Statement]:
        letters = self.left()
        return self.learnt(a.Let(self.name("e"), letters, self.expr(letters, 3)))

    def reduced(self) -> list[a.Statement]:
        letters = self.left(2)
        e = self.red(letters, 3)
        return [] if e is None else self.learnt(a.Let(self.name("r"), letters, e))

    def number(self) -> list[a.Statement]:
        return self.learnt(a.Let(self.name("q"), (), self.expr((), 3)))

    def scattered(self) -> list[a.Statement]:
        """A sum by label."""
        labels = [q for q in self.known.values() if q.labels != ""]
        if not labels:
            return []
        q = self.rng.choice(labels)
        index = self.index(q, self.fresh_letters((), 3))
        if index is None:
            return []
        at = a.Ref(q.name, index)
        over = a.free(at)
        to = [x.name for x in self.letters if x.size == q.labels and x.name not in over]
        if not to or not over:
            return []
        v = self.rng.choice(to)
        more = self.fresh_letters((*over, v), self.rng.choice((0, 0, 1)))
        letters = self.arranged(self.shuffled((v, *more)))
        arg = self.expr((*over, *letters), 2)
        expr = a.Red("sum", over, n.mul(a.Is(a.At(at), a.Ix(v)), arg))
        return self.learnt(a.Let(self.name("b"), letters, expr))

    def shuffled(self, x: Sequence[str]) -> list[str]:
        out = list(x)
        self.rng.shuffle(out)
        return out

    def square(self) -> tuple[str, str] | None:
        """Two letters over one axis."""
        found = [(x.name, y.name) for x in self.letters for y in self.letters
                 if x.name != y.name and x.size == y.size and not (x.under or y.under)]  # fmt: skip
        return self.rng.choice(found) if found else None

    def symmetric(self, outer: tuple[str, ...] = ()) -> list[a.Statement]:
        """A sum of squares, with a diagonal that makes it definite or without."""
        pair = self.square()
        if pair is None:
            return []
        i, j = pair
        batch = outer or self.fresh_letters(pair, self.rng.choice((0, 0, 1, 1)))
        batch = self.arranged(batch)
        over = self.fresh_letters((*batch, *pair), 1)
        r = self.ref((*batch, *over, i), i)
        if r is None:
            return []
        product: n.Node = n.mul(r, a.swapped(r, {i: a.Ix(j)}))
        weight = self.ref((*batch, *over), over[0], True) if over else None
        product = product if weight is None else n.mul(weight, product)
        over = tuple(x for x in over if x in a.free(product))
        e: n.Node = a.Red("sum", over, product) if over else product
        if self.rng.random() < 0.65:
            amount = n.Const(Fraction(self.rng.choice((1, 2, 3))))
            e = n.add(e, n.mul(amount, a.Is(a.Ix(i), a.Ix(j))))
            return self.learnt(a.Let(self.name("A"), (*batch, i, j), e, "spd"))
        return self.learnt(a.Let(self.name("C"), (*batch, i, j), e, "sym"))

    def linear(self) -> list[a.Statement]:
        letters = self.left(1)
        made = self.solved(letters)
        return [] if made is None else self.learnt(made)

    def solved(self, ctx: tuple[str, ...]) -> a.Let | None:
        """An operation of linear algebra on what there is, batched over letters."""
        pair = self.square()
        if pair is None or set(pair) & {*ctx, *self.inside}:
            return None
        size = self.letter[pair[0]].size
        found = [q for q in self.readable() if q.structure in ("spd", "lower")
                 and q.sizes[-2:] == (size, size)]  # fmt: skip
        if not found:
            return None
        q = self.rng.choice(found)
        front = self.index(replace(q, sizes=q.sizes[:-2], at=q.at[:-2]), ctx)
        if front is None:
            return None
        matrix = a.Ref(q.name, (*front, *map(a.Ix, pair)))
        spd = q.structure == "spd"
        op = self.rng.choice(("solve", "solve", "chol", "logdet") if spd
                             else ("lsolve", "ltsolve", "linv"))  # fmt: skip
        args: tuple[a.Ref, ...] = (matrix,)
        if op in ("solve", "lsolve", "ltsolve"):
            right = self.right(pair[self.rng.random() < 0.2], ctx, pair)
            if right is None:
                return None
            args = (matrix, right)
        e = a.Lin(op, args)
        own = a.own_letters(e)
        batch = [x for x in dict.fromkeys((*ctx, *a.free(e))) if x not in own]
        return a.Let(self.name("v"), (*self.arranged(batch), *own), e)

    def right(self, row: str, ctx: tuple[str, ...], pair: tuple[str, str]) -> a.Ref | None:
        """A vector or a matrix whose rows are the letter's."""
        size = self.letter[row].size
        wide = self.rng.random() < 0.4
        found = [q for q in self.readable() if not q.last]
        found = [q for q in found if q.sizes[-1 - wide : len(q.sizes) - wide] == (size,)]
        if not found:
            return None
        q = self.rng.choice(found)
        keep = len(q.sizes) - 1 - wide
        front = self.index(replace(q, sizes=q.sizes[:keep], at=q.at[:keep]), ctx)
        if front is None:
            return None
        index: tuple[n.Node, ...] = (*front, a.Ix(row))
        if wide:
            used = {*ctx, *pair, *self.inside}
            more = [x.name for x in self.letters if x.size == q.sizes[-1] and not x.under
                    and x.name not in used]  # fmt: skip
            if not more or (q.at and q.at[-1]):
                return None
            index = (*index, a.Ix(self.rng.choice(more)))
        return a.Ref(q.name, index)

    def form(self) -> list[a.Statement]:
        """xᵀ A x and its like."""
        pair = self.square()
        if pair is None:
            return []
        i, j = pair
        letters = self.arranged(self.fresh_letters(pair, self.rng.randint(0, 2)))
        size = self.letter[i].size
        found = [q for q in self.known.values() if q.sizes[-2:] == (size, size) and not q.last]
        if not found:
            return []
        q = self.rng.choice(found)
        front = self.index(replace(q, sizes=q.sizes[:-2]), letters)
        x = self.ref((*letters, i), i)
        if front is None or x is None:
            return []
        other = (
            a.swapped(x, {i: a.Ix(j)}) if self.rng.random() < 0.8 else self.ref((*letters, j), j)
        )
        matrix = a.Ref(q.name, (*front, *map(a.Ix, self.shuffled(pair))))
        if other is None:
            return []
        e = a.Red("sum", pair, n.mul(*self.rng.sample([x, matrix, other], 3)))
        return self.learnt(a.Let(self.name("f"), letters, e))

    # -- recurrences ---------------------------------------------------------------------
    def recurrence(self) -> list[a.Statement]:
        from tests.program.axes.drawn_recurrences import recurrence

        return recurrence(self)
