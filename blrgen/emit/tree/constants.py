"""Every number in the arrays' type: a literal of another type would carry its type along.

What is made of given numbers alone is computed in double precision before that: 1 − βᵗ has few
digits otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n
from blrgen.program.naming import constant_name
from blrgen.program.program import fresh


def typed(f: t.Function) -> t.Function:
    """The function with its numbers, and those it is given, made real before all else."""
    taken = {*f.arrays, *f.wholes, *f.lengths, *f.reals}
    taken |= {x for s in f.once for e in t.expressions(s) for x in e.names}
    taken |= {x for s in t.statements(f.body) for e in t.expressions(s) for x in e.names}
    names: dict[n.Node, str] = {}

    def change(e: n.Node) -> n.Node:
        if isinstance(e, n.Const | n.Named):
            if e not in names:
                stem = e.name if isinstance(e, n.Named) else constant_name(e.value)
                names[e] = fresh(_short(stem, e), taken)
                taken.add(names[e])
            return n.Ref(names[e])
        if isinstance(e, n.Neg) and isinstance(e.arg, n.Const | n.Named):
            return n.Neg(change(e.arg))
        return e.rebuilt(change)

    body = t.rewritten(f.body, change)
    own = (s for s in t.statements(body) if not isinstance(s, t.Invoke))
    used = {x for s in own for e in t.expressions(s) for x in e.names}
    once = [
        s.target.name for s in f.once if isinstance(s, t.Assign) and isinstance(s.target, n.Ref)
    ]
    head = [t.Assign(n.Ref(x), t.Real(n.Ref(x))) for x in (*f.reals, *once) if x in used]
    head += [t.Assign(n.Ref(x), t.Real(e)) for e, x in names.items()]
    return replace(f, body=(*head, *body))


def _short(stem: str, e: n.Node) -> str:
    """A name that can be read: numbers with many digits are numbered instead."""
    if isinstance(e, n.Const) and len(stem) > 24:
        return "large" if e.value > Fraction(1) else "number"
    return stem
