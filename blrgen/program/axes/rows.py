"""A program over all rows → the same over the rows of a minibatch.

    sum(n, x[n,i] * p[n])   →   sum(b, x[rows[b],i] * p[b])

What is given is read at the places in `rows`; what is made has the batch's own letter.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def minibatch(program: a.Program, letter: str, batch: str, size: a.Size, rows: str) -> a.Program:
    """The program over the rows that the labels `rows` name."""
    axis = program.letter(letter).size
    given = {q.name for q in program.given}
    to_given, to_made = a.At(a.ref(rows, batch)), a.Ix(batch)

    def on(e: n.Node) -> n.Node:
        if isinstance(e, a.Red):
            return replace(e, letters=_swap(e.letters), arg=on(e.arg))
        if isinstance(e, a.Ref):
            place = to_given if e.name in given else to_made
            return a.Ref(e.name, tuple(place if i == a.Ix(letter) else on(i) for i in e.index))
        return to_made if e == a.Ix(letter) else e.rebuilt(on)

    def _swap(letters: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(batch if x == letter else x for x in letters)

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        first = None if s.first is None else on(s.first)
        init = None if s.init is None else on(s.init)
        at = tuple(map(on, s.at))
        return (
            replace(s, letters=_swap(s.letters), expr=on(s.expr), first=first, init=init, at=at),
        )

    letters = tuple(x for x in program.letters if x.name != letter)
    return replace(
        program,
        letters=(a.Letter(batch, size), *letters),
        given=(*program.given, a.Quantity(rows, (size,), labels=axis)),
        body=a.mapped(program.body, let),
    )
