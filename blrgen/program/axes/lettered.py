"""One letter for one axis, as far as that goes: what has the same letters is one loop.

    a[k] = sum(n, r[n,k]); b[k,j] = sum(m, r[m,k] * x[m,j])
    →   a[k] = sum(n, r[n,k]); b[k,i] = sum(n, r[n,k] * x[n,i])
    for u: s[u,k] = …; a[k] = sum(t, s[t,k] * x[t])   →   …; a[k] = sum(u, s[u,k] * x[u])

Outside of recurrences names of letters mean nothing.  What reads the values of a recurrence at
its own index takes the recurrence's letter, the last one's of several, so that it may stand in
its loop; else the letter that is declared first.  What is read at the place at which a
recurrence ends is its last value, of which the others need not be kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def lettered(program: a.Program) -> a.Program:
    """The program after `anf` with few letters outside of recurrences."""
    work = _Lettering(program)
    return replace(program, body=tuple(map(work.statement, program.body)))


Followed = tuple[int, int, str]  # how many recurrences come first, the place, the letter


class _Lettering:
    """For each quantity the recurrence that it follows, and how many come before it."""

    def __init__(self, program: a.Program) -> None:
        self.program = program
        self.made: dict[str, Followed] = {}
        self.lets: dict[str, a.Let] = {}  # those in recurrences
        self.levels: dict[str, int] = {}
        self.count = 0

    def statement(self, s: a.Statement) -> a.Statement:
        if isinstance(s, a.Seq):
            level = 1 + max((self.level(x) for x in a.lets((s,))), default=0)
            self.followed(s, level)
            return s
        s = self.ended(s)
        if s.at or (s.structure != "dense" and not isinstance(s.expr, a.Lin)):
            return self.noted(s)
        return self.noted(self.changed(s))

    def ended(self, s: a.Let) -> a.Let:
        """The equation with the first place of what runs down to it as its recurrence's last."""

        def on(e: n.Node) -> n.Node:
            if not isinstance(e, a.Ref) or e.name not in self.lets:
                return e
            letters = self.lets[e.name].letters
            *_, letter = self.made[e.name]
            down = self.program.letter(letter).down and not self.program.letter(letter).under
            index = tuple(a.Last(x) if down and x == letter and i == a.Num(0) else i
                          for x, i in zip(letters, e.index, strict=True))  # fmt: skip
            return a.Ref(e.name, index)

        return s if s.first is not None else replace(s, expr=n.transform(s.expr, on))

    def level(self, s: a.Let) -> int:
        """How many recurrences, one after the other, lead to the equation."""
        return max((self.levels.get(x, 0) for e in s.expressions for x in e.names), default=0)

    def followed(self, s: a.Seq, level: int) -> None:
        """The recurrence's values come with its letter, unless it may end early."""
        self.count += 1
        for x in s.body:
            if isinstance(x, a.Seq):
                self.followed(x, level)
                continue
            self.levels[x.name] = level
            if not s.stop:
                self.lets[x.name] = x
                self.made[x.name] = (level, self.count, s.letter)

    def noted(self, s: a.Let) -> a.Let:
        """What is made of a recurrence's values entry by entry follows it, too."""
        self.levels[s.name] = self.level(s)
        found = [self.made[x] for e in s.expressions for x in e.names if x in self.made]
        last = max(found, default=None)
        if last is not None and last[-1] in s.letters:
            self.made[s.name] = last
        return s

    def changed(self, s: a.Let) -> a.Let:
        """The equation with letters chosen anew: those on the left, then those reduced."""
        every = list(dict.fromkeys((*s.letters, *_inside(s.expr))))
        under = {self.program.letter(x).under for x in every}
        every.sort(key=lambda x: (bool(self.program.letter(x).under), x not in under))
        new: dict[str, str] = {}
        for x in every:
            new[x] = self.chosen(s, x, new)
        letters = tuple(new[x] for x in s.letters)
        return replace(s, letters=letters, expr=_named(s.expr, new))

    def chosen(self, s: a.Let, letter: str, new: dict[str, str]) -> str:
        """The first that is free, of those over the same axis."""
        at = self.program.letter(letter)
        every = map(self.program.letter, {*s.letters, *_inside(s.expr)})
        rows = {(x.size, x.pointers) for x in every if x.under == letter}
        under = new.get(at.under, at.under)
        same = [
            x for x in self.program.letters
            if (x.size, x.under, x.pointers) == (at.size, under, at.pointers)
            and x.name not in new.values() and rows <= self.rows(x.name)
        ]  # fmt: skip
        wanted = self.wanted(s, letter)
        best = [x.name for x in same if x.name == wanted]
        best += [x.name for x in same if not x.down] + [x.name for x in same]
        return best[0]

    def rows(self, letter: str) -> set[tuple[a.Size, str]]:
        """The axes that are ragged under the letter."""
        return {(x.size, x.pointers) for x in self.program.letters if x.under == letter}

    def wanted(self, s: a.Let, letter: str) -> str:
        """The letter of the last recurrence whose values are read at this one."""
        read = [r for r in a.refs(s.expr) if r.name in self.made and a.Ix(letter) in r.index]
        return max((self.made[r.name] for r in read), default=(0, 0, ""))[-1]


def _inside(e: n.Node) -> Iterator[str]:
    """All letters of an expression, reduced ones too."""
    for x in n.walk(e):
        if isinstance(x, a.Ix | a.Lag):
            yield x.letter
        elif isinstance(x, a.Red):
            yield from x.letters


def _named(e: n.Node, new: dict[str, str]) -> n.Node:
    made = e.rebuilt(lambda c: _named(c, new))
    if isinstance(made, a.Ix | a.Lag):  # a last place is that of a recurrence, whose letter stays
        return replace(made, letter=new.get(made.letter, made.letter))
    if isinstance(made, a.Red):
        return replace(made, letters=tuple(new[x] for x in made.letters))
    return made
