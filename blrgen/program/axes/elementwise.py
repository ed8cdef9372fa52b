"""A phase of an elementwise program as a program over one axis.

Arrays have the letter i, numbers have none; a sum over all elements reduces j, which runs over
the same axis.
"""

from __future__ import annotations

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.program import ELEMENTWISE, Phase, Program
from blrgen.program.types import SCALAR

AXIS = "d"
LETTERS = (a.Letter("i", AXIS), a.Letter("j", AXIS))


def over_axis(program: Program, phase: Phase) -> a.Program:
    """The phase: its results are outs, and what it writes is written."""
    if program.kind != ELEMENTWISE:
        raise InternalError(f"not elementwise: {program.kind}")
    work = _Lowering(program)
    statements = (*phase.scalars, *phase.body)
    body = tuple(
        a.Let(s.name, work.letters(s.name, "i"), work.expr(s.expr, "i")) for s in statements
    )
    made = tuple(s.name for s in statements)
    given = tuple(a.Quantity(x, (AXIS,) * len(work.letters(x, "i"))) for x in phase.reads)
    known = {*phase.reads, *made}
    writes = tuple((x, y) for x, y in phase.writes if x in known and x != y and y in made)
    return a.Program(LETTERS, given, body, made, writes)


class _Lowering:
    def __init__(self, program: Program) -> None:
        self.types = program.scope

    def letters(self, name: str, letter: str) -> tuple[str, ...]:
        return () if self.types[name] == SCALAR else (letter,)

    def expr(self, e: n.Node, letter: str) -> n.Node:
        """With references in the place of symbols, and reductions in that of totals."""
        if isinstance(e, n.Sym):
            return a.Ref(e.name, tuple(map(a.Ix, self.letters(e.name, letter))))
        if isinstance(e, n.Total):
            return self.reduced("sum", self.expr(e.arg, "j"))
        if isinstance(e, n.LogTotal):
            whole = self.reduced("lse", self.expr(e.arg, "j"))
            return whole if e.more is None else self.log_sum(whole, self.expr(e.more, letter))
        if isinstance(e, n.Count):
            size = a.Extent(AXIS)
            return n.add(size, n.Const.of(e.more)) if e.more else size
        return e.rebuilt(lambda c: self.expr(c, letter))

    def reduced(self, op: str, e: n.Node) -> n.Node:
        if "j" not in a.free(e):
            raise InternalError("a total of a number")
        return a.Red(op, ("j",), e)

    def log_sum(self, x: n.Node, y: n.Node) -> n.Node:
        """log(eˣ + eʸ) = y + log(1 + e^(x − y))."""
        return n.add(y, n.Call("softplus", (n.Sub(x, y),)))
