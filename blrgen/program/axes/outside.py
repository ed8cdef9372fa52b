"""What a recurrence does not change stands before it.

    for t: part = log(s); a[t] = part * a[t-1]   →   part = log(s); for t: a[t] = part * a[t-1]

So do rows that it reads by labels, again and again the same: they are fetched once.

    for d: for t: a[d,t,k] = sum(i, b[w[d,i],k] * a[d,t-1,k])
    →   for d: b_rows[d,i,k] = b[w[d,i],k]; for t: a[d,t,k] = sum(i, b_rows[d,i,k] * a[d,t-1,k])
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh


def outside(program: a.Program) -> a.Program:
    """The program with equations that read nothing of a recurrence before it."""
    ends = {(r.name, i.letter) for s in program.lets for e in s.expressions for r in a.refs(e)
            for i in r.index if isinstance(i, a.Last)}  # fmt: skip
    return _fetched(replace(program, body=_moved(program.body, ends)))


def _fetched(program: a.Program) -> a.Program:
    """The program with rows that recurrences read by labels under names of their own."""
    used = taken(program)

    def fetched(body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
        out: list[a.Statement] = []
        for s in body:
            if isinstance(s, a.Let):
                out.append(s)
                continue
            s = replace(s, body=fetched(s.body))
            names: dict[a.Ref, a.Ref] = {}
            for r in _rows(s, program):
                name = fresh(f"{r.name}_rows", used)
                used.add(name)
                letters = program.arranged(a.free(r))
                out.append(a.Let(name, letters, r))
                names[r] = a.Ref(name, tuple(map(a.Ix, letters)))
            out += a.mapped((s,), partial(_renamed, names=names)) if names else [s]
        return tuple(out)

    return replace(program, body=fetched(program.body))


def _rows(seq: a.Seq, program: a.Program) -> list[a.Ref]:
    """Rows by labels that stand still, of one place of an outer letter at a time: few of them."""

    def few(r: a.Ref) -> bool:
        letters = [program.letter(x) for x in a.free(r)]
        return any(x.under and x.under in a.free(r) for x in letters)

    made = {x.name for x in a.lets(seq.body)}
    found: dict[a.Ref, None] = {}
    for s in (x for x in a.lets(seq.body) if x.where is None):
        for r in (r for e in s.expressions for r in a.refs(e)):
            labels = [i for i in r.index if isinstance(i, a.At)]
            still = seq.letter not in a.free(r) and not made & set(r.names)
            plain = all(isinstance(i, a.Ix) for i in r.index if i not in labels)
            if labels and len(r.index) > len(labels) and still and plain and few(r):
                found[r] = None
    return list(found)


def _renamed(s: a.Let, names: dict[a.Ref, a.Ref]) -> tuple[a.Statement, ...]:
    def on(e: n.Node) -> n.Node:
        return names.get(e, e) if isinstance(e, a.Ref) else e.rebuilt(on)

    def changed(e: n.Node | None) -> n.Node | None:
        return None if e is None else on(e)

    first, init = changed(s.first), changed(s.init)
    return (replace(s, expr=on(s.expr), first=first, init=init),)


def _moved(body: tuple[a.Statement, ...], ends: set[tuple[str, str]]) -> tuple[a.Statement, ...]:
    """The body with such equations outside; of `ends` where a recurrence ended is read."""

    def moves(x: a.Statement, letter: str, made: set[str]) -> bool:
        if isinstance(x, a.Let) and (x.name, letter) in ends:
            return False
        return not _depends(x, letter, made)

    out: list[a.Statement] = []
    for s in body:
        if isinstance(s, a.Let):
            out.append(s)
            continue
        inside = list(_moved(s.body, ends))
        made = {x.name for x in a.lets(tuple(inside))}
        free = [x for x in inside if moves(x, s.letter, made)]
        while free:
            out += free
            inside = [x for x in inside if x not in free]
            made -= {x.name for x in a.lets(tuple(free))}
            free = [x for x in inside if moves(x, s.letter, made)]
        out += [replace(s, body=tuple(inside))] if inside else []
    return tuple(out)


def _depends(s: a.Statement, letter: str, made: set[str]) -> bool:
    """Whether the equation has the letter, or reads what the recurrence makes."""
    if isinstance(s, a.Seq):
        return True
    over = {x for e in s.expressions for y in (a.free(e), _reduced(e)) for x in y}
    read = {x for e in (*s.expressions, *s.at) for x in e.names} - {s.name}
    return letter in over or letter in s.letters or bool(read & made) or bool(s.at)


def _reduced(e: object) -> tuple[str, ...]:
    return e.letters if isinstance(e, a.Red) else ()
