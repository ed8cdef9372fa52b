"""Equations over ragged rows as loops over what the rows are under.

    s[d] = sum(w, y[d,w])    →    for d: s[d] = sum(w, y[d,w])

For targets that have whole arrays and no rows of different lengths.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def opened(program: a.Program) -> a.Program:
    """The program in which each ragged letter stands inside of a loop over its other one."""
    return replace(program, body=_body(program, program.body, ()))


def _body(
    program: a.Program, body: tuple[a.Statement, ...], around: tuple[str, ...]
) -> tuple[a.Statement, ...]:
    out: list[a.Statement] = []
    for s in body:
        if isinstance(s, a.Seq):
            out.append(replace(s, body=_body(program, s.body, (*around, s.letter))))
            continue
        wanted = [program.letter(x).under for x in _letters(s) if program.letter(x).under]
        made: a.Statement = s
        for x in dict.fromkeys(wanted):
            if x not in around:
                made = a.Seq(x, (made,))
        out.append(made)
    return tuple(out)


def _letters(s: a.Let) -> list[str]:
    """Every letter of an equation."""
    found = [x for e in (*s.expressions, *s.at) for y in n.walk(e)
             for x in (y.letters if isinstance(y, a.Red) else a.free(y))]  # fmt: skip
    return list(dict.fromkeys((*s.letters, *found)))
