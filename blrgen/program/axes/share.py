"""Functions called twice of the same numbers are called once.

    p[n] = logistic(z[n]);  f = sum(n, softplus(z[n]) - …)
    →   p_exp[n] = exp(-abs(z[n]));  p[n] = (1 if z[n] >= 0 else p_exp[n]) / (1 + p_exp[n]);  …

Softplus, σ and log 2 cosh are opened for that, all in e^−|x|, which does not overflow.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.expand import expanded
from blrgen.program.program import fresh

CHEAP = ("sqrt", "abs", "max", "min", "sign", "floor")  # one instruction, in any loop


def share(program: a.Program) -> a.Program:
    """The program after `anf`, outside and inside of recurrences each by itself."""
    opened = a.mapped(program.body, lambda s: (_changed(s, open_calls),))
    return replace(program, body=_Sharing(program).body(opened))


def open_calls(e: n.Node) -> n.Node:
    """The expression with such functions in terms of e^−|x|."""
    return n.transform(e, _open)


def _open(e: n.Node) -> n.Node:
    if not isinstance(e, n.Call) or e.name != "logistic":
        return expanded(e) if isinstance(e, n.Call) else e
    x = e.args[0]
    small = n.Call("exp", (n.neg(n.Call("abs", (x,))),))
    above = n.Select(n.Compare(">=", x, n.ZERO), n.ONE, small)
    return n.div(above, n.add(n.ONE, small))


def _changed(s: a.Let, change: object) -> a.Let:
    assert callable(change)
    first = None if s.first is None else change(s.first)
    init = None if s.init is None else change(s.init)
    return replace(s, expr=change(s.expr), first=first, init=init)


class _Sharing:
    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)

    def body(self, body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
        """Equations of one body share; a recurrence inside is a body of its own."""
        found: Counter[n.Node] = Counter()
        for s in body:
            if isinstance(s, a.Let) and s.first is None:
                found.update(set(_calls(s.expr)))
                found.update(x for x in _again(s.expr))
        names: dict[n.Node, a.Ref] = {}
        out: list[a.Statement] = []
        for s in body:
            if isinstance(s, a.Seq):
                out.append(replace(s, body=self.body(s.body)))
            elif s.first is None:
                out += self.let(s, found, names)
            else:
                out.append(s)
        return tuple(out)

    def let(
        self, s: a.Let, found: Counter[n.Node], names: dict[n.Node, a.Ref]
    ) -> list[a.Statement]:
        """The equation after what it shares with others."""
        before: list[a.Statement] = []

        def on(x: n.Node) -> n.Node:
            if isinstance(x, a.Ref):
                return x
            key = x
            x = x.rebuilt(on)
            if not isinstance(key, n.Call) or found[key] < 2:
                return x
            if key not in names:
                letters = self.program.arranged(a.free(key))
                name = fresh(f"{s.name}_{key.name}", self.taken)
                self.taken.add(name)
                before.append(a.Let(name, letters, x))
                names[key] = a.Ref(name, tuple(map(a.Ix, letters)))
            return names[key]

        if isinstance(s.expr, n.Call) and found[s.expr] > 1 and s.expr not in names:
            names[s.expr] = a.Ref(s.name, tuple(map(a.Ix, s.letters)))
            return [replace(s, expr=s.expr.rebuilt(on))]
        changed = replace(s, expr=on(s.expr))
        return [*before, changed]


def _calls(e: n.Node) -> list[n.Call]:
    return [x for x in n.walk(e) if isinstance(x, n.Call) and x.name not in CHEAP and a.free(x)]


def _again(e: n.Node) -> list[n.Call]:
    """Calls that stand twice in one expression."""
    return [x for x, count in Counter(_calls(e)).items() if count > 1]
