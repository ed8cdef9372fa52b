"""What a recurrence does not change stands before it.

for t: part = log(s); a[t] = part * a[t-1]   →   part = log(s); for t: a[t] = part * a[t-1]
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program.axes import nodes as a


def outside(program: a.Program) -> a.Program:
    """The program with equations that read nothing of a recurrence before it."""
    return replace(program, body=_moved(program.body))


def _moved(body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
    out: list[a.Statement] = []
    for s in body:
        if isinstance(s, a.Let):
            out.append(s)
            continue
        inside = list(_moved(s.body))
        made = {x.name for x in a.lets(tuple(inside))}
        free = [x for x in inside if isinstance(x, a.Let) and not _depends(x, s.letter, made)]
        while free:
            out += free
            inside = [x for x in inside if x not in free]
            made -= {x.name for x in free}
            free = [x for x in inside if isinstance(x, a.Let) and not _depends(x, s.letter, made)]
        out.append(replace(s, body=tuple(inside)))
    return tuple(out)


def _depends(s: a.Let, letter: str, made: set[str]) -> bool:
    """Whether the equation has the letter, or reads what the recurrence makes."""
    over = {x for e in s.expressions for y in (a.free(e), _reduced(e)) for x in y}
    read = {x for e in (*s.expressions, *s.at) for x in e.names} - {s.name}
    return letter in over or letter in s.letters or bool(read & made) or bool(s.at)


def _reduced(e: object) -> tuple[str, ...]:
    return e.letters if isinstance(e, a.Red) else ()
