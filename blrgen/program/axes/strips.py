"""Which equations may be done for some rows at a time, and added up.

    r[n,k] = exp(…); s[k,i] = sum(n, r[n,k] * x[n,i]); m[k,i] = s[k,i] / …
    →   before: –; rows: r and s; after: m

For targets that have whole arrays: what has rows and two more axes would be an array of that
size.  Rows are the letter that is outermost, where all data are read at it alone and nothing of
a row needs a finished sum.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.order import order

MANY = 3  # letters of a product, rows among them, from which it is done in strips


@dataclass(frozen=True)
class Strips:
    """The letter of rows, and the equations around those that are done for some of them."""

    letter: str
    before: tuple[a.Statement, ...]
    rows: tuple[a.Let, ...]
    after: tuple[a.Statement, ...]

    def sums(self, s: a.Let) -> bool:
        """Whether the equation adds up rows."""
        return self.letter not in s.letters


def strips(program: a.Program) -> Strips | None:
    """The parts, if rows may be done apart and that saves an array; not beside ragged rows."""
    if any(x.under for x in program.letters):
        return None
    for letter in order(program):
        if _may(program, letter):
            found = _parted(program, letter)
            return found if found is not None and _saves(found) else None
    return None


def _may(program: a.Program, letter: str) -> bool:
    """Whether the letter is one of rows of data, and the only one over its axis."""
    at = program.letter(letter)
    whole = isinstance(at.size, str) and not at.under
    ragged = any(x.under == letter for x in program.letters)
    data = any(q.sizes[:1] == (at.size,) for q in program.given)
    return whole and not ragged and data


def _parted(program: a.Program, letter: str) -> Strips | None:
    size = program.letter(letter).size
    places = {x: [p for p, y in enumerate(of) if y == size] for x, of in program.sizes.items()}
    before: list[a.Statement] = []
    rows: list[a.Let] = []
    after: list[a.Statement] = []
    made: set[str] = set()
    finished: set[str] = set()
    for s in program.body:
        inside = [*a.lets((s,))]
        reads = {x for y in inside for e in (*y.expressions, *y.at) for x in e.names}
        if _over(s, letter):
            assert isinstance(s, a.Let)
            if reads & finished or not _plain(s, letter, places):
                return None
            rows.append(s)
            made.add(s.name)
            finished |= {s.name} if letter not in s.letters else set()
        elif any(places.get(x) for x in reads) or any(places[y.name] for y in inside):
            return None
        elif reads & (made | finished):
            after.append(s)
            finished |= {y.name for y in inside}
        else:
            before.append(s)
    handed_out = {*program.outs, *(y for _, y in program.writes)}
    if not rows or any(letter in s.letters for s in rows if s.name in handed_out):
        return None
    return Strips(letter, tuple(before), tuple(rows), tuple(after))


def _over(s: a.Statement, letter: str) -> bool:
    """Whether it is an equation of rows, or a sum of them."""
    if isinstance(s, a.Seq):
        return False
    reduced = isinstance(s.expr, a.Red) and letter in s.expr.letters
    return letter in s.letters or reduced


def _plain(s: a.Let, letter: str, places: dict[str, list[int]]) -> bool:
    """Whether all is read at the row itself, and what is added up is a sum or the largest."""
    if s.first is not None or s.init is not None or s.at:
        return False
    if letter not in s.letters and (
        not isinstance(s.expr, a.Red) or s.expr.op not in ("sum", "max")
    ):
        return False
    if any(isinstance(x, a.Draw) for x in n.walk(s.expr)):
        return False
    wanted = a.Ix(letter)
    return all(
        [p for p, i in enumerate(r.index) if i == wanted] == places[r.name]
        for r in a.refs(s.expr)
    )  # fmt: skip


def _saves(found: Strips) -> bool:
    """Whether a product of rows has so many letters that an array of it would be large."""

    def letters(s: a.Let) -> set[str]:
        inner = s.expr.letters if isinstance(s.expr, a.Red) else ()
        return {*a.free(s.expr), *inner, *s.letters}

    return any(len(letters(s)) >= MANY for s in found.rows)
