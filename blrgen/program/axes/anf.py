"""Every reduction, every operation of linear algebra and every draw as an equation by itself.

    lp[k] = lc[k] - sum(i, y[k,i]**2)
    →   lp_sum[k] = sum(i, y[k,i]**2);  lp[k] = lc[k] - lp_sum[k]

What is left is entrywise.  What an equation has at its first index only is computed there only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.program import fresh


def anf(program: a.Program) -> a.Program:
    """The program with every `Red`, `Lin` and `Draw` at the top of an equation of its own."""
    return replace(program, body=_Lifting(program).body(program.body))


def taken(program: a.Program) -> set[str]:
    """Every name in use."""
    names = {q.name for q in program.given} | {s.name for s in program.lets}
    names |= {x.name for x in program.assembled} | set(program.outs)
    return names | {x.name for x in program.letters} | {str(x.size) for x in program.letters}


class _Lifting:
    """The names in use."""

    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)
        self.order = [x.name for x in program.letters]
        self.around: tuple[str, ...] = ()

    def body(self, body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
        out: list[a.Statement] = []
        for s in body:
            if isinstance(s, a.Seq):
                before: list[a.Let] = []
                outer, self.around = self.around, (*self.around, s.letter)
                inside = self.body(tuple(self.begun(x, before) for x in s.body))
                self.around = outer
                inside, after = _parted(s.letter, inside)
                out += [*before, replace(s, body=inside), *after]
            else:
                out += self.let(s)
        return tuple(out)

    def begun(self, s: a.Statement, before: list[a.Let]) -> a.Statement:
        """The equation with what its `init` reduces made before the recurrence."""
        if not isinstance(s, a.Let) or s.init is None:
            return s
        return replace(s, init=self.lifted(s.init, _Place(s, before, "plain")))

    def let(self, s: a.Let) -> list[a.Let]:
        """The equation after those that it is made of."""
        made: list[a.Let] = []
        plain = s.first is None or (s.first == n.ZERO and isinstance(s.expr, a.Red | a.Lin))
        alone = s.structure in ("dense", "lower") or isinstance(s.expr, a.Lin)
        own = next((x for x in reversed(self.around) if x in s.letters), "")
        place = _Place(s, made, "plain" if s.first is None else "later", own)
        if alone and plain and isinstance(s.expr, a.Red | a.Lin | a.Draw):
            expr = s.expr.rebuilt(lambda c: self.lifted(c, place))
        else:
            expr = self.lifted(s.expr, place)
        begins = s.expr == n.ZERO and isinstance(s.first, a.Red | a.Lin | a.Draw)
        place = _Place(s, made, "first", own)
        if s.first is not None and alone and begins:
            first: n.Node | None = s.first.rebuilt(lambda c: self.lifted(c, place))
        else:
            first = None if s.first is None else self.lifted(s.first, place)
        return [*made, replace(s, expr=expr, first=first)]

    def lifted(self, e: n.Node, place: _Place) -> n.Node:
        """The expression with its reductions replaced by references to equations."""
        e = e.rebuilt(lambda c: self.lifted(c, place))
        if not isinstance(e, a.Red | a.Lin | a.Draw):
            return e
        word = e.law if isinstance(e, a.Draw) else e.op
        name = fresh(f"{place.of.name}_{word}", self.taken)
        self.taken.add(name)
        own = a.own_letters(e) if isinstance(e, a.Lin) else ()
        order = dict.fromkeys((*place.of.letters, *self.order))
        batch = [x for x in order if x in a.free(e) and x not in own]
        letters = (*self.program.arranged(batch), *own)
        place.made.append(place.equation(name, letters, e))
        return a.Ref(name, tuple(map(a.Ix, letters)))


def _parted(
    letter: str, body: tuple[a.Statement, ...]
) -> tuple[tuple[a.Statement, ...], list[a.Statement]]:
    """What is made of a finished sum over a recurrence stands after it."""
    sums: set[str] = set()
    inside: list[a.Statement] = []
    after: list[a.Statement] = []
    for s in body:
        if isinstance(s, a.Let) and isinstance(s.expr, a.Red) and letter in s.expr.letters:
            sums.add(s.name)
        late = isinstance(s, a.Let) and sums.intersection(*[set(e.names) for e in s.expressions])
        if isinstance(s, a.Let) and late and letter not in s.letters:
            sums.add(s.name)
            after.append(s)
        else:
            inside.append(s)
    return tuple(inside), after


@dataclass
class _Place:
    """Where equations go that are made for one: computed always, at the first index, or later.

    What has not the recurrence's letter is the same at all indices.
    """

    of: a.Let
    made: list[a.Let]
    when: str
    letter: str = ""

    def equation(self, name: str, letters: tuple[str, ...], e: n.Node) -> a.Let:
        if self.when == "plain" or self.letter not in letters:
            return a.Let(name, letters, e)
        if self.when == "later":
            return a.Let(name, letters, e, first=n.ZERO)
        return a.Let(name, letters, n.ZERO, first=e)
