"""Log-sum-exp without overflow, and its exponentials once.

l = lse(k, x[k])      →  top = max(k, x[k]) (0 where that is −∞), e[k] = exp(x[k] - top),
                         l = top + log(sum(k, e[k]))
l = lse(k, x[k], y)   →  a = lse(k, x[k]), l = y + log(1 + exp(a - y))
exp(x[k] - l)         →  e[k] * (1 / sum(k, e[k]))
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh

INFINITY = n.Named("inf")


@dataclass(frozen=True)
class _Known:
    """What stands for exp(arg − lse): the exponential and the reciprocal of their sum."""

    let: a.Let
    letters: tuple[str, ...]
    over: str
    arg: n.Node
    exponential: str
    reciprocal: str


def stable(program: a.Program) -> a.Program:
    """The program after `anf`, with each log-sum-exp opened."""
    opening = _Opening(program)
    return replace(program, body=a.mapped(program.body, opening.let))


class _Opening:
    """The names in use, and the sums that have been opened."""

    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)
        self.known: dict[str, _Known] = {}

    def let(self, s: a.Let) -> tuple[a.Statement, ...]:
        s = replace(s, expr=n.transform(s.expr, self.weight))
        first = None if s.first is None else n.transform(s.first, self.weight)
        s = replace(s, first=first)
        at_first = isinstance(s.first, a.Red) and s.expr == n.ZERO
        e = s.first if at_first else s.expr
        if not isinstance(e, a.Red) or e.op != "lse":
            return (s,)
        if e.more is None:
            return self.opened(s, e, at_first)
        least = replace(s, name=self.own(f"{s.name}_least"), structure="dense", init=None)
        found = a.Ref(least.name, tuple(map(a.Ix, s.letters)))
        whole = n.add(e.more, n.Call("softplus", (n.Sub(found, e.more),)))
        part = replace(e, more=None)
        if at_first:
            return (*self.let(replace(least, first=part)), replace(s, first=whole))
        return (*self.let(replace(least, expr=part)), replace(s, expr=whole))

    def own(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name

    def opened(self, s: a.Let, e: a.Red, at_first: bool) -> tuple[a.Statement, ...]:
        """The equations in the place of log Σ exp."""

        def made(name: str, letters: tuple[str, ...], value: n.Node) -> a.Let:
            if at_first:
                return a.Let(name, letters, n.ZERO, first=value)
            return a.Let(name, letters, value, first=s.first)

        inner = tuple(x for x in e.letters if x in a.free(e.arg))
        whole = self.program.arranged((*s.letters, *inner))
        highest, top, ex, total, over = (
            self.own(f"{s.name}_{x}") for x in ("highest", "top", "exp", "total", "over")
        )
        of = {x: a.Ref(x, tuple(map(a.Ix, s.letters))) for x in (highest, top, total)}
        power = a.Ref(ex, tuple(map(a.Ix, whole)))
        none = n.Compare("==", of[highest], n.neg(INFINITY))
        unders = [self.program.letter(x).under for x in whole]
        apart = any(unders.count(x) > 1 for x in unders if x)  # two rows of one place: no array
        if len(inner) == 1 and not apart:
            self.known[s.name] = _Known(s, whole, inner[0], e.arg, ex, over)
        value = n.Call("exp", (n.Sub(e.arg, of[top]),))
        kept = () if apart else (made(ex, whole, value),)
        return (
            made(highest, s.letters, a.Red("max", inner, e.arg)),
            made(top, s.letters, n.Select(none, n.ZERO, of[highest])),
            *kept,
            made(total, s.letters, a.Red("sum", inner, value if apart else power)),
            made(over, s.letters, n.div(n.ONE, of[total])),
            made(s.name, s.letters, n.add(of[top], n.Call("log", (of[total],)))),
        )

    def weight(self, e: n.Node) -> n.Node:
        """exp(x[k] − lse x) from what is there."""
        if not (isinstance(e, n.Call) and e.name == "exp" and isinstance(e.args[0], n.Sub)):
            return e
        left, right = e.args[0].children
        if not isinstance(right, a.Ref) or right.name not in self.known:
            return e
        k = self.known[right.name]
        at = dict(zip(k.let.letters, right.index, strict=True))
        for x in a.free(left):
            if a.swapped(k.arg, {**at, k.over: a.Ix(x)}) == left:
                place = {**at, k.over: a.Ix(x)}
                power = a.Ref(k.exponential, tuple(place[y] for y in k.letters))
                return n.mul(power, a.Ref(k.reciprocal, right.index))
        return e
