"""Square matrices of a recurrence lie along the sums that multiply them.

    for t: W[t,l,i] = …; Y[t,l,j] = sum(i, (P[t,l,i] - V[t,l,i]) * W[t,i,j])
           R[t,i,j] = sum(l, W[t,l,i] * Y[t,l,j])
    →   for t: W[t,l,i] = …; W_turned[t,i,l] = W[t,l,i]; Y_part[t,l,i] = P[t,l,i] - V[t,l,i]
               Y[t,j,l] = sum(i, Y_part[t,l,i] * W_turned[t,j,i])
               R[t,i,j] = sum(l, W_turned[t,i,l] * Y[t,j,l])

An entry of the product is then one number that adds up along two rows.  Down a column of a
factor a sum is a row that is loaded and stored at every turn, or a step of a whole row at each.
What only such sums read is made so, any other matrix is turned once.  Of axes whose sizes are
numbers loops are opened in any case, and of a long and thin matrix nobody knows which is which.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh

T = TypeVar("T")


def along(program: a.Program) -> a.Program:
    """The program after `anf` with matrices of recurrences as their products want them."""
    work = _Turning(program)
    return replace(program, body=tuple(map(work.statement, program.body)))


class _Turning:
    """Which matrices products read down their columns, and which of them are made otherwise."""

    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)
        self.size = {x.name: x.size for x in program.letters}
        self.flat = {x.name for x in program.letters if not x.under}
        inside = list(a.lets(tuple(x for x in program.body if isinstance(x, a.Seq))))
        self.made = {s.name: s for s in inside if self.may_turn(s)}
        over = {x.letter for x in a.recurrences(program.body)}
        wanted = {r.name for s in inside if _multiplies(s, over) for r in self.crossed(s)}
        self.sums = {s.name for s in inside if {r.name for r in self.crossed(s)} <= wanted}
        self.flipped = {x for x in wanted if self.only_crossed(x)}
        self.turned = {x: self.named(f"{x}_turned") for x in sorted(wanted - self.flipped)}

    def named(self, stem: str) -> str:
        name = fresh(stem, self.taken)
        self.taken.add(name)
        return name

    # -- whether -----------------------------------------------------------------------
    def may_turn(self, s: a.Let) -> bool:
        """Whether it is a matrix with no more rows than columns, nothing special about it."""
        plain = s.structure == "dense" and s.init is None and not (s.at or s.bounds or s.after)
        return plain and len(s.letters) > 1 and self.is_square(*s.letters[-2:])

    def is_square(self, row: str, column: str) -> bool:
        size = self.size[row]
        return {row, column} <= self.flat and isinstance(size, str) and size == self.size[column]

    def crossed(self, s: a.Let) -> list[a.Ref]:
        """The factors that are to be turned so that a sum runs along all; none if one may not."""
        e = s.expr
        if not isinstance(e, a.Red) or e.op != "sum" or len(e.letters) > 1 or s.bounds or s.at:
            return []
        (k,) = e.letters
        read = [r for r in a.refs(e.arg) if k in a.free(r)]
        down = [r for r in read if r.index[-1] != a.Ix(k)]
        fits = len(read) > 1 and s.first in (None, n.ZERO)
        return down if fits and all(self.may_read(r, k) for r in down) else []

    def may_read(self, r: a.Ref, k: str) -> bool:
        """Whether it stands at the letter's row, of this place of the recurrence."""
        at_letters = all(isinstance(i, a.Ix) for i in r.index) and len(set(r.index)) == len(r.index)
        return at_letters and r.name in self.made and r.index[-2] == a.Ix(k)

    def only_crossed(self, name: str) -> bool:
        """Whether nothing but such sums reads it, so that it is made so."""
        kept = {*self.program.outs, *(y for _, y in self.program.writes)}
        kept |= {x for put in self.program.assembled for _, e in put.entries for x in e.names}
        if name in kept or isinstance(self.made[name].expr, a.Lin):
            return False
        for s in self.program.lets:
            parts = (*s.expressions, *s.at, *(() if s.where is None else (s.where[1],)))
            read = [r for e in parts for r in a.refs(e) if r.name == name]
            if len(read) > sum(r.name == name for r in self.down(s)):
                return False
        return True

    def down(self, s: a.Let) -> list[a.Ref]:
        return self.crossed(s) if s.name in self.sums else []

    # -- how ---------------------------------------------------------------------------
    def statement(self, s: a.Statement) -> a.Statement:
        if isinstance(s, a.Let):
            return s
        out: list[a.Statement] = []
        for x in s.body:
            out += [self.statement(x)] if isinstance(x, a.Seq) else self.let(x, s.letter)
        return replace(s, body=tuple(out))

    def let(self, s: a.Let, at: str) -> list[a.Let]:
        """An equation of a recurrence with what it multiplies along its sum, and itself turned."""
        down, before = self.down(s), list[a.Let]()
        if down:
            assert isinstance(s.expr, a.Red)
            factors = s.expr.arg.args if isinstance(s.expr.arg, n.Mul) else (s.expr.arg,)
            args = (self.part(s, self.read(f, down), at, before) for f in factors)
            s = replace(s, expr=replace(s.expr, arg=n.mul(*args)))
        if s.name in self.flipped:
            s = replace(s, letters=_swapped(s.letters))
        if s.name not in self.turned:
            return [*before, s]
        first = n.ZERO if s.first == n.ZERO else None
        whole = a.Ref(s.name, tuple(map(a.Ix, s.letters)))
        return [*before, s, a.Let(self.turned[s.name], _swapped(s.letters), whole, first=first)]

    def read(self, e: n.Node, down: list[a.Ref]) -> n.Node:
        """The expression with turned matrices in the place of those."""
        if isinstance(e, a.Ref):
            name = self.turned.get(e.name, e.name)
            return a.Ref(name, _swapped(e.index)) if e in down else e
        return e.rebuilt(lambda c: self.read(c, down))

    def part(self, s: a.Let, f: n.Node, at: str, before: list[a.Let]) -> n.Node:
        """A factor that takes arithmetic, once for each of its own entries."""
        letters = tuple(x for x in (*s.letters, *_reduced(s)) if x in a.free(f))
        if isinstance(f, a.Ref | n.Const) or at not in letters or len(letters) > len(s.letters):
            return f
        name = self.named(f"{s.name}_part")
        before.append(a.Let(name, letters, f, first=s.first))
        return a.Ref(name, tuple(map(a.Ix, letters)))


def _multiplies(s: a.Let, over: set[str]) -> bool:
    """Whether it multiplies a matrix by another one, not by a vector."""
    places = [i for r in a.refs(s.expr) for i in r.index[-2:] if {*a.free(i)} & {*s.letters}]
    return len({x for i in places for x in a.free(i)} - over) > 1


def _swapped(letters: tuple[T, ...]) -> tuple[T, ...]:
    *batch, row, column = letters
    return (*batch, column, row)


def _reduced(s: a.Let) -> tuple[str, ...]:
    return s.expr.letters if isinstance(s.expr, a.Red) else ()
