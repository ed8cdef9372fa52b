"""The value at which a recurrence ended, where the place at which it did is not one for all.

    for n: for w: a[n,w] = …         →   for n: for w: a[n,w] = …; a_last[n] = last(w, a[n,w])
    b[m] = a[m,last(w)] * x[m]           b[m] = a_last[m] * x[m]

So it is where a recurrence may end early, or along rows of different lengths, inside of another
loop, for whoever stands outside of that or asks for another place of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh

Path = tuple[a.Seq, ...]


def last_values(program: a.Program) -> a.Program:
    """The program with such values as quantities of their own."""
    makers = {s.name: (s, path) for s, path in _paths(program.body)}
    used = taken(program)
    made: dict[str, list[a.Let]] = {}
    known: dict[tuple[str, tuple[str, ...]], a.Let] = {}

    def on(e: n.Node, path: Path) -> n.Node:
        e = e.rebuilt(lambda c: on(c, path))
        if not isinstance(e, a.Ref) or e.name not in makers:
            return e
        over = tuple(i.letter for i in e.index if isinstance(i, a.Last))
        maker, around = makers[e.name]
        if not over or not any(_moves(program, e, maker, around, path, x) for x in over):
            return e
        key = e.name, over
        if key not in known:
            name = fresh(f"{e.name}_last", used)
            used.add(name)
            letters = tuple(x for x in maker.letters if x not in over)
            value = a.Ref(e.name, tuple(map(a.Ix, maker.letters)))
            known[key] = a.Let(name, letters, a.Red("last", over, value))
            made.setdefault(e.name, []).append(known[key])
        left = (i for i in e.index if not isinstance(i, a.Last))
        return a.Ref(known[key].name, tuple(left))

    def changed(body: tuple[a.Statement, ...], path: Path) -> Iterator[a.Statement]:
        for s in body:
            if isinstance(s, a.Seq):
                yield replace(s, body=tuple(changed(s.body, (*path, s))))
                continue
            first = None if s.first is None else on(s.first, path)
            init = None if s.init is None else on(s.init, path)
            yield replace(s, expr=on(s.expr, path), first=first, init=init)

    body = tuple(changed(program.body, ()))
    return replace(program, body=a.mapped(body, lambda s: (s, *made.get(s.name, ()))))


def _paths(body: tuple[a.Statement, ...], path: Path = ()) -> Iterator[tuple[a.Let, Path]]:
    """Every equation with the recurrences around it."""
    for s in body:
        if isinstance(s, a.Seq):
            yield from _paths(s.body, (*path, s))
        else:
            yield s, path


def _moves(
    program: a.Program, r: a.Ref, maker: a.Let, around: Path, path: Path, letter: str
) -> bool:
    """Whether the recurrence over the letter ends at a place that is not the last one found."""
    at = next((k for k, s in enumerate(around) if s.letter == letter), None)
    if at is None or not (around[at].stop or program.letter(letter).under):
        return False
    others = [s for s in a.recurrences(program.body) if s.letter == letter]
    outer = around[:at]
    index = dict(zip(maker.letters, r.index, strict=True))
    here = all(x is y for x, y in zip(outer, path, strict=False)) and len(path) >= at
    here = here and all(index.get(s.letter) == a.Ix(s.letter) for s in outer)
    return not here or len(others) > 1
