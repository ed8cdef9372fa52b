"""What has no entries that could be written out: it is refused by its name."""

from __future__ import annotations

from collections.abc import Collection

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.text import shown, text


def refuse(program: a.Program, letters: Collection[str]) -> None:
    """Refuse to write the axes of these letters out where a place on them is found by running."""
    for w in program.letters:
        if w.under in letters:
            raise _refused(f"rows of different lengths under {w.under}", w.name)
    for seq in a.recurrences(program.body):
        if seq.letter in letters:
            raise _refused(f"a recurrence over {seq.letter}", shown(seq).split("\n")[0])
    sizes = {program.letter(x).size for x in letters}
    made = {s.name for s in program.lets}
    for s in program.lets:
        _refuse(s, program, letters, made, sizes)


def _refuse(
    s: a.Let, program: a.Program, letters: Collection[str], made: set[str], sizes: set[a.Size]
) -> None:
    """One equation."""
    own = {x for i in s.at for x in a.free(i)} | (set(s.letters) if s.at else set())
    if own & set(letters):
        raise _refused("a sum by label", shown(s))
    for e in (x for whole in s.expressions for x in n.walk(whole)):
        if isinstance(e, a.Draw) and {*a.free(e)} & set(letters):
            raise _refused("a draw", shown(s))
        if isinstance(e, a.Ref) and e.name in made:
            places = zip(e.index, program.sizes[e.name], strict=True)
            if any(isinstance(i, a.At) and axis in sizes for i, axis in places):
                raise _refused(f"what labels choose of {e.name}", text(e))


def _refused(what: str, where: str) -> InternalError:
    return InternalError(f"{what} is not written out: {where}")
