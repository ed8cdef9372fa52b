"""Equations over ragged rows as loops over what the rows are under.

    s[d] = sum(w, y[d,w])    →    for d: s[d] = sum(w, y[d,w])

For targets that have whole arrays and no rows of different lengths.  What follows in a loop over
the same rows is in that loop, so that nothing of all rows is kept between the two.
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
                made = a.Seq(x, (made,), each=True)
        before = out[-1] if out else None
        if (
            isinstance(before, a.Seq)
            and isinstance(made, a.Seq)
            and not around
            and _one_loop(program, before, made)
        ):
            out[-1] = replace(before, body=(*before.body, *made.body))
        else:
            out.append(made)
    return tuple(out)


def _one_loop(program: a.Program, one: a.Seq, other: a.Seq) -> bool:
    """Whether two loops over the same rows may be one: all is read at the row itself.

    Recurrences along a row keep what they make, and loops of their own.
    """
    along = [x for s in (one, other) for x in s.body if isinstance(x, a.Seq)]
    if one.letter != other.letter or one.stop or other.stop:
        return False
    if any(program.letter(x.letter).under for x in along):
        return False
    made = {s.name: s for s in a.lets(one.body)}
    for s in a.lets(other.body):
        for r in (r for e in (*s.expressions, *s.at) for r in a.refs(e) if r.name in made):
            at = dict(zip(made[r.name].letters, r.index, strict=True))
            if at.get(one.letter) != a.Ix(one.letter):
                return False
    return True


def _letters(s: a.Let) -> list[str]:
    """Every letter of an equation."""
    found = [x for e in (*s.expressions, *s.at) for y in n.walk(e)
             for x in (y.letters if isinstance(y, a.Red) else a.free(y))]  # fmt: skip
    return list(dict.fromkeys((*s.letters, *found)))
