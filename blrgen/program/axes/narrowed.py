"""What does not vary along a letter does not have it.

    q[n,i,j] = W[i,j]; h[n,i] = solve(q[n,i,j], x[n,j])   →   q[i,j] = W[i,j]; … solve(q[i,j], …
    s[j] = size(N); t[j] = s[j] * y[j]                     →   s = size(N); t[j] = s * y[j]

A sum over a letter that is gone is so many times what was summed.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def narrowed(program: a.Program) -> a.Program:
    """The program after `anf`, outside of recurrences without letters that nothing varies on."""
    work = _Narrowing(program)
    return replace(program, body=tuple(x for s in program.body for x in work.statement(s)))


class _Narrowing:
    """For each name that has lost letters the places of those that it kept."""

    def __init__(self, program: a.Program) -> None:
        self.program = program
        self.whole = {*program.outs, *(y for _, y in program.writes)}
        self.whole |= {x for put in program.assembled for _, e in put.entries for x in e.names}
        self.whole |= {x.name for x in program.lets if any(self.ragged(y) for y in x.letters)}
        self.places: dict[str, tuple[int, ...]] = {}
        self.solved = _solved(program)
        self.around: set[str] = set()  # letters of recurrences around
        self.ending: set[str] = set()  # those of them that may end early

    def ragged(self, letter: str) -> bool:
        return bool(self.program.letter(letter).under)

    def statement(self, s: a.Statement) -> tuple[a.Statement, ...]:
        if isinstance(s, a.Seq):
            return self.read(s)
        (s,) = self.read(s)
        assert isinstance(s, a.Let)
        own = a.own_letters(s.expr) if isinstance(s.expr, a.Lin) else ()
        rows = max(self.solved.get(s.name, 0), 2 if s.structure != "dense" else 0)
        square = s.letters[len(s.letters) - rows :]
        varies = {*a.free(s.expr), *own, *square}
        if s.name in self.whole or s.at or varies >= set(s.letters):
            return (s,)
        self.places[s.name] = tuple(p for p, x in enumerate(s.letters) if x in varies)
        return (replace(s, letters=tuple(x for x in s.letters if x in varies)),)

    def read(self, s: a.Statement) -> tuple[a.Statement, ...]:
        """The statement with fewer indices where names have lost letters."""
        if isinstance(s, a.Seq):
            own = {s.letter} if s.stop else set()
            outer = self.around, self.ending
            self.around, self.ending = self.around | {s.letter}, self.ending | own
            body = tuple(x for y in s.body for x in self.read(y))
            self.around, self.ending = outer
            return (replace(s, body=body),)
        first = None if s.first is None else self.expr(s.first)
        init = None if s.init is None else self.expr(s.init)
        at = tuple(map(self.expr, s.at))
        if s.at and isinstance(s.expr, a.Red):  # each term of it has a place of its own
            expr: n.Node = replace(s.expr, arg=self.expr(s.expr.arg))
        else:
            expr = self.expr(s.expr)
        return (replace(s, expr=expr, first=first, init=init, at=at),)

    def expr(self, e: n.Node) -> n.Node:
        made = e.rebuilt(self.expr)
        if isinstance(made, a.Ref) and made.name in self.places:
            return a.Ref(made.name, tuple(made.index[p] for p in self.places[made.name]))
        if isinstance(made, a.Red):
            return self.counted(made)
        return made

    def counted(self, e: a.Red) -> n.Node:
        """A reduction without letters that nothing varies on."""
        free = a.free(e.arg)
        if e.op == "last":
            return e
        counted = (x for x in e.letters if not self.ragged(x) and x not in self.ending)
        idle = [x for x in counted if x not in free]
        rows = [x for x in e.letters if self.ragged(x) and x not in free]
        e = replace(e, arg=n.mul(e.arg, *(a.Is(a.Ix(x), a.Ix(x)) for x in rows))) if rows else e
        if not idle:
            return e
        left = tuple(x for x in e.letters if x not in idle)
        sizes = [self.program.letter(x).size for x in idle]
        count = n.mul(*(n.Const.of(x) if isinstance(x, int) else a.Extent(x) for x in sizes))
        if {*left} & self.around:  # it adds up as it goes, and is an equation by itself
            whole = replace(e, letters=left, arg=n.mul(count, e.arg) if e.op == "sum" else e.arg)
            return whole if e.op in ("sum", "max") else e
        if e.op == "lse":
            return self.counted_lse(e, left, n.Call("log", (count,)))
        plain = n.Call("log", (e.arg,)) if e.op == "sumlog" else e.arg
        inner: n.Node = replace(e, letters=left) if left else plain
        return inner if e.op == "max" else n.mul(count, inner)

    def counted_lse(self, e: a.Red, left: tuple[str, ...], log_count: n.Node) -> n.Node:
        """log Σ exp, of so many that are alike."""
        arg = n.add(e.arg, log_count)
        if left:
            return replace(e, letters=left, arg=arg)
        if e.more is None:
            return arg
        return n.add(e.more, n.Call("softplus", (n.Sub(arg, e.more),)))


def _solved(program: a.Program) -> dict[str, int]:
    """Names that linear algebra reads, with how many letters at their end are rows and columns."""
    found: dict[str, int] = {}
    for s in program.lets:
        for e in (x for y in s.expressions for x in n.walk(y) if isinstance(x, a.Lin)):
            for k, x in enumerate(e.args):
                own = 2 if k == 0 else len(a.own_letters(e))
                found[x.name] = max(own, found.get(x.name, 0))
    return found
