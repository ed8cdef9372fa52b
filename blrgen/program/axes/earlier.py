"""What a recurrence has kept is read a place before, instead of being kept twice.

    for t: a[t,k] = a_now[t,k]; b[t,k] = first(0), a_now[t-1,k]
    s[k] = sum(u, b[u,k] * …)   →   s[k] = sum(u, select(u = 0, 0, a[u-1,k]) * …)

Only for what is kept in any case and read outside of the recurrence alone.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.dead import dead


def earlier(program: a.Program) -> a.Program:
    """The program after `kept`, for loops."""
    instead: dict[str, tuple[int, str]] = {}
    for s in program.body:
        if isinstance(s, a.Seq) and not program.letter(s.letter).down and not s.stop:
            instead |= _late(s, program)

    def on(e: n.Node) -> n.Node:
        e = e.rebuilt(on)
        if not isinstance(e, a.Ref) or e.name not in instead:
            return e
        place, kept = instead[e.name]
        at = e.index[place]
        assert isinstance(at, a.Ix)
        first = n.Compare("==", a.Is(at, a.Num(0)), n.ONE)
        index = (*e.index[:place], a.Lag(at.letter, -1), *e.index[place + 1 :])
        return n.Select(first, n.ZERO, a.Ref(kept, index))

    def changed(s: a.Let) -> tuple[a.Statement, ...]:
        first = None if s.first is None else on(s.first)
        init = None if s.init is None else on(s.init)
        return (replace(s, expr=on(s.expr), first=first, init=init),)

    return dead(replace(program, body=a.mapped(program.body, changed))) if instead else program


def _late(s: a.Seq, program: a.Program) -> dict[str, tuple[int, str]]:
    """What is a place late: where its letter stands, and under which name the rest is kept."""
    lets = [x for x in s.body if isinstance(x, a.Let)]
    copies = {x.expr.name: x.name for x in lets
              if isinstance(x.expr, a.Ref) and x.first is None and x.init is None
              and x.expr == a.ref(x.expr.name, *x.letters)}  # fmt: skip
    found: dict[str, tuple[int, str]] = {}
    for x in lets:
        e = x.expr
        if not isinstance(e, a.Ref) or e.name not in copies or x.first != n.ZERO:
            continue
        if x.init is not None or x.name in program.outs or s.letter not in x.letters:
            continue
        place = x.letters.index(s.letter)
        late = tuple(a.Lag(y, -1) if y == s.letter else a.Ix(y) for y in x.letters)
        ragged = any(program.letter(y).under for y in x.letters)
        if e.index == late and not ragged and _read_outside(x.name, place, s, program):
            found[x.name] = place, copies[e.name]
    return found


def _read_outside(name: str, place: int, s: a.Seq, program: a.Program) -> bool:
    """Whether only others read it, at letters of theirs, and so the copy too."""
    inside = set(a.lets(s.body))
    for x in program.lets:
        found = [r for e in (*x.expressions, *x.at) for r in a.refs(e) if r.name == name]
        if found and x in inside:
            return False
        if any(not isinstance(r.index[place], a.Ix) for r in found):
            return False
    return name not in {y for _, y in program.writes}
