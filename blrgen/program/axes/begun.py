"""A factor that only says where a recurrence has begun is left out beside one that says it too.

for i: w[i] = first(0), 1; b[i,k] = first(0), a[i-1,k]
sum(i, w[i] * b[i,k] * x[i])   →   sum(i, b[i,k] * x[i])
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def begun(program: a.Program) -> a.Program:
    """The program with such products shorter."""
    marks, late = _marks(program)
    if not marks or not late:
        return program

    def on(e: n.Node) -> n.Node:
        e = e.rebuilt(on)
        if not isinstance(e, n.Mul):
            return e
        known = {_at(x, late) for x in e.args} - {None}
        return n.mul(*(x for x in e.args if _at(x, marks) not in known))

    def changed(s: a.Let) -> tuple[a.Statement, ...]:
        return (replace(s, expr=on(s.expr)),)

    return replace(program, body=a.mapped(program.body, changed))


Places = dict[str, tuple[int, bool]]  # a name → where its recurrence's letter is, if it goes down


def _marks(program: a.Program) -> tuple[Places, Places]:
    """What is 0 at first and 1 later, and what else is 0 at first."""
    marks: Places = {}
    late: Places = {}
    for s in program.body:
        if not isinstance(s, a.Seq) or program.letter(s.letter).under:
            continue
        down = program.letter(s.letter).down
        for x in (y for y in s.body if isinstance(y, a.Let)):
            if x.first != n.ZERO or x.init is not None or s.letter not in x.letters:
                continue
            found = marks if x.expr == n.ONE and len(x.letters) == 1 else late
            found[x.name] = x.letters.index(s.letter), down
    return marks, late


def _at(e: n.Node, places: Places) -> tuple[str, bool] | None:
    """The letter at which such a value is read, and the way of its recurrence."""
    if not isinstance(e, a.Ref) or e.name not in places:
        return None
    place, down = places[e.name]
    index = e.index[place]
    return (index.letter, down) if isinstance(index, a.Ix) else None
