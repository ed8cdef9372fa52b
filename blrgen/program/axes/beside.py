"""What a recurrence only hands out is made beside what it is made of.

    for u: b[u,j] = sum(k, A[j,k] * w[u+1,k]); w[u,k] = c[u,k] * b[u,k]; g[u,k] = a[u,k] * b[u,k]
    →   g[u,j] = a[u,j] * b[u,j], in the loop that makes b

Letters are no part of what an equation means.  Nothing of the recurrence may read the value, or
it would have to be kept beside the one of the place before.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program.axes import nodes as a


def beside(program: a.Program) -> a.Program:
    """The program with letters of such equations those of what they read."""
    return replace(program, body=tuple(_inside(s, program) for s in program.body))


def _inside(s: a.Statement, program: a.Program) -> a.Statement:
    if isinstance(s, a.Let):
        return s
    made = {x.name: x for x in s.body if isinstance(x, a.Let)}
    lets = list(a.lets(s.body))
    read = {y for x in lets for e in (*x.expressions, *x.at) for y in e.names}
    read |= {s.stop, *(x.where[1].name for x in lets if x.where is not None)}

    def of(x: a.Statement) -> a.Statement:
        if isinstance(x, a.Seq):
            return _inside(x, program)
        return x if x.name in read else _renamed(x, made, program, s.letter)

    return replace(s, body=tuple(map(of, s.body)))


def _renamed(s: a.Let, made: dict[str, a.Let], program: a.Program, over: str) -> a.Let:
    """The equation of entries with letters of the equations of the recurrence that it reads."""
    special = s.at or s.bounds or s.where or s.init is not None or s.structure != "dense"
    if special or any(isinstance(e, a.Red | a.Lin | a.Draw) for e in s.expressions):
        return s
    for x in s.letters:
        found = _makers(s, x, made)
        y = min(found, default=x)
        if x == over or len(found) != 1 or y in (*s.letters, over) or not _same(x, y, program):
            continue
        first = None if s.first is None else a.swapped(s.first, {x: a.Ix(y)})
        letters = tuple(y if z == x else z for z in s.letters)
        s = replace(s, letters=letters, expr=a.swapped(s.expr, {x: a.Ix(y)}), first=first)
    return s


def _makers(s: a.Let, x: str, made: dict[str, a.Let]) -> set[str]:
    """The letters under which what the equation reads at its letter is made."""
    read = [r for e in s.expressions for r in a.refs(e) if r.name in made]
    places = ((y, i) for r in read for y, i in zip(made[r.name].letters, r.index, strict=True))
    return {y for y, i in places if i == a.Ix(x)}


def _same(x: str, y: str, program: a.Program) -> bool:
    """Whether two letters run over one axis, not row by row."""
    one, two = program.letter(x), program.letter(y)
    return one.size == two.size and not one.under and not two.under
