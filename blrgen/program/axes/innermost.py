"""Which letter of an equation goes innermost, by how what it reads lies in memory."""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def along(s: a.Let) -> str:
    """The letter of a sum that runs along rows of all that it is in: it goes innermost."""
    e = s.expr
    if not isinstance(e, a.Red) or len(e.letters) > 1:
        return ""
    (letter,) = e.letters
    found = [r for r in a.refs(e.arg) if letter in a.free(r)]
    last = all(len(r.index) > 1 and r.index[-1] == a.Ix(letter) for r in found)
    return letter if last and len(found) > 1 else ""


def across(s: a.Let) -> str:
    """The letter along rows of all that a sum passes over by columns: it goes innermost.

    In a recurrence, where no letter of rows is left that many are done at once of.
    """
    e = s.expr
    if not isinstance(e, a.Red) or e.op != "sum" or len(e.letters) > 1 or not s.letters:
        return ""
    (summed,), letter = e.letters, s.letters[-1]
    found = [r for r in a.refs(e.arg) if letter in a.free(r)]
    crossed = any(summed in a.free(r) for r in found)
    return letter if crossed and all(r.index[-1] == a.Ix(letter) for r in found) else ""


def as_it_lies(s: a.Let, letters: list[str]) -> list[str]:
    """The letters in the order of the axes, where a value of calls has one and all it reads."""
    own = [x for x in s.letters if x in letters]
    if isinstance(s.expr, a.Red | a.Lin) or s.at or s.bounds or len(own) < len(letters):
        return letters
    if not any(isinstance(x, n.Call) for x in n.walk(s.expr)):
        return letters
    for r in a.refs(s.expr):
        found = [x for i in r.index for x in a.free(i) if x in own]
        if found != [x for x in own if x in found]:
            return letters
    return own
