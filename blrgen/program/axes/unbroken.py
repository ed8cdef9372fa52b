"""A recurrence that begins as if it had been zero before needs no equations for its beginning.

    for t: s[t] = first(0), sum(k, a[t,k] * x[t-1,k]); x[t,i] = first(b[t,i]), b[t,i] + c[i] * s[t]
    →   for t: s[t] = sum(k, a[t,k] * x[t-1,k]); x[t,i] = init(0), b[t,i] + c[i] * s[t]

So its body is there once and not twice.  Only for a recurrence in which this holds of every
equation.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def unbroken(program: a.Program) -> a.Program:
    """The program with recurrences in one piece where that is right."""
    body = tuple(_unbroken(s) if isinstance(s, a.Seq) else s for s in program.body)
    return replace(program, body=body)


def _unbroken(s: a.Seq) -> a.Seq:
    """The recurrence after zeros; itself if that is another one."""
    lets = [x for x in s.body if isinstance(x, a.Let)]
    if len(lets) < len(s.body) or s.stop or any(x.init is not None for x in lets):
        return s
    made = {x.name: x for x in lets}
    lagged = {r.name for x in lets for r in a.refs(x.expr) if _is_late(r, s.letter)}
    zeros: set[str] = set()
    for x in lets:
        found = _begun(x.expr, s.letter, zeros)
        if x.first is not None and found != x.first:
            return s
        if found == n.ZERO:
            zeros.add(x.name)
    if not lagged or not lagged <= made.keys():
        return s
    begun = (replace(x, first=None, init=n.ZERO if x.name in lagged else None) for x in lets)
    return replace(s, body=tuple(begun))


def _is_late(r: a.Ref, letter: str) -> bool:
    """Whether it is read a place before, in the order of the recurrence."""
    return any(isinstance(i, a.Lag) and i.letter == letter for i in r.index)


def _begun(e: n.Node, letter: str, zeros: set[str]) -> n.Node:
    """The expression at the first index, where what is late and what is in `zeros` is 0."""
    if isinstance(e, a.Ref):
        return n.ZERO if _is_late(e, letter) or e.name in zeros else e
    if isinstance(e, a.Lin):
        return e
    e = e.rebuilt(lambda x: _begun(x, letter, zeros))
    if isinstance(e, n.Add):
        return n.add(*e.args)
    if isinstance(e, n.Sub) and e.right == n.ZERO:
        return e.left
    if isinstance(e, n.Mul) and n.ZERO in e.args:
        return n.ZERO
    if isinstance(e, a.Red) and e.op == "sum" and e.arg == n.ZERO:
        return n.ZERO
    return n.ZERO if isinstance(e, n.Neg) and e.arg == n.ZERO else e
