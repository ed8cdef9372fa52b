"""A phase of an elementwise program as a program over one axis.

Arrays have the letter i, numbers have none; a sum over all elements reduces i, or j over the
same axis where it stands inside of an equation that has the letter i.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.expand import expanded
from blrgen.program.program import ELEMENTWISE, Phase, Program, Statement, fresh
from blrgen.program.types import SCALAR, Type

AXIS = "d"
_X = n.Sym("x")
_LOGISTIC = expanded(n.Call("logistic", (_X,)))


def over_axis(program: Program, phase: Phase) -> a.Program:
    """The phase: its results are outs, and what it writes is written."""
    if program.kind != ELEMENTWISE:
        raise InternalError(f"not elementwise: {program.kind}")
    work = _Lowering(program.scope, AXIS)
    statements = (*phase.scalars, *phase.body)
    made = tuple(s.name for s in statements)
    known = {*phase.reads, *made}
    writes = tuple((x, y) for x, y in phase.writes if x in known and x != y and y in made)
    given = tuple(map(work.quantity, phase.reads))
    return a.Program(work.both, given, work.body(statements), made, writes)


def pass_over_axis(
    program: Program, phase: Phase, arrays: Collection[str], outputs: Collection[str] = ()
) -> a.Program:
    """What a pass over the arrays does, the phase's numbers given.

    What it writes to `arrays` is written at the end; `outputs` among them are never read and
    are handed out.
    """
    scope = program.scope
    work = _Lowering(scope, fresh(AXIS, {*scope, *phase.body_reads}))
    puts = [(x, y) for x, y in phase.writes if x in arrays]
    names = {y: x for x, y in reversed(puts) if x in outputs and phase.assigns(y)}
    read = [x for x in phase.body_reads if x not in names.values()]
    read += [x for x, _ in puts if x not in read and x not in outputs]
    body = list(work.body(phase.body))
    body = [a.Let(names.get(s.name, s.name), s.letters, a.renamed(s.expr, names)) for s in body]
    made, writes = {s.name for s in body}, []
    for x, y in puts:
        own = x if x in outputs else names.get(y, y)
        if own not in made:  # a copy, of what is given or of what another output is
            own = x if x in outputs else fresh(f"{x}_next", {*scope, *made})
            body.append(a.Let(own, ("i",), work.ref(names.get(y, y), "i")))
            made.add(own)
        writes += [] if x in outputs else [(x, own)]
    outs = tuple(x for x, _ in puts if x in outputs)
    return a.Program(work.both, tuple(map(work.quantity, read)), tuple(body), outs, tuple(writes))


class _Lowering:
    """Equations over an axis of a name that is not in use."""

    def __init__(self, types: dict[str, Type], axis: str) -> None:
        self.types, self.axis = types, axis
        self.both = (a.Letter("i", axis), a.Letter("j", axis))

    def quantity(self, name: str) -> a.Quantity:
        return a.Quantity(name, (self.axis,) * len(self.letters(name, "i")))

    def letters(self, name: str, letter: str) -> tuple[str, ...]:
        return () if self.types[name] == SCALAR else (letter or "i",)

    def ref(self, name: str, letter: str) -> a.Ref:
        return a.Ref(name, tuple(map(a.Ix, self.letters(name, letter))))

    def body(self, statements: Iterable[Statement]) -> tuple[a.Let, ...]:
        out = []
        for s in statements:
            own = self.letters(s.name, "i")
            out.append(a.Let(s.name, own, self.expr(s.expr, "".join(own))))
        return tuple(out)

    def expr(self, e: n.Node, letter: str) -> n.Node:
        """With references in the place of symbols, and reductions in that of totals."""
        if isinstance(e, n.Sym):
            return self.ref(e.name, letter)
        if isinstance(e, n.Total):
            return self.reduced("sum", e.arg, letter)
        if isinstance(e, n.LogTotal):
            more = None if e.more is None else self.expr(e.more, letter)
            return self.reduced("lse", e.arg, letter, more)
        if isinstance(e, n.Count):
            size = a.Extent(self.axis)
            return n.add(size, n.Const.of(e.more)) if e.more else size
        if _is_logistic(e):
            (smaller,) = e.children[0].children
            return n.Call("logistic", (self.expr(smaller.children[0], letter),))
        return e.rebuilt(lambda c: self.expr(c, letter))

    def reduced(self, op: str, e: n.Node, letter: str, more: n.Node | None = None) -> a.Red:
        """Over the letter that is not in use."""
        own = "j" if letter == "i" else "i"
        e = self.expr(e, own)
        if own not in a.free(e):
            raise InternalError("a total of a number")
        return a.Red(op, (own,), e, more)


def _is_logistic(e: n.Node) -> bool:
    """Whether it is e^min(x, 0)/(1 + e^−|x|), as arrays compute the logistic function."""
    if not isinstance(e, n.Div) or not isinstance(e.top, n.Call) or e.top.name != "exp":
        return False
    (smaller,) = e.top.args
    if not isinstance(smaller, n.Call) or smaller.name != "min":
        return False
    return n.substituted(_LOGISTIC, {_X.name: smaller.args[0]}) == e
