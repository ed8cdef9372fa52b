"""What stands in brackets behind a name: plates in order, then components of the value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from blrgen.read.model import raw
from blrgen.read.model.mistakes import Broken
from blrgen.read.model.scope import Entry
from blrgen.read.model.values import All, Index, Label, Letter, Literal, Place, Shape, Size

if TYPE_CHECKING:
    from blrgen.read.model.expressions import Resolver


@dataclass
class Around:
    """The statement around an expression: its letters, and where each begins.

    `bound`: letters that stand on the left.  `first`: the first index of a letter along which
    the statement is a chain's.  `need` finds the shape of a name that is used before its own
    statement was read.  `own`: the names that the statement makes.
    """

    bound: tuple[str, ...] = ()
    first: dict[str, int] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    need: Callable[[Entry, Place], None] = lambda entry, place: None
    literals: dict[str, int] = field(default_factory=dict)  # letters replaced by a number


def resolve_indices(
    reader: Resolver, e: raw.RawRef, entry: Entry, shape: Shape, *, whole: bool = False
) -> tuple[tuple[Index, ...], Shape]:
    """The indices of a reference and the shape left; `whole`: components may not be taken."""
    plates = len(entry.letters)
    given = len(e.indices)
    most = plates if whole else plates + len(shape)
    if given not in {plates, most}:
        _wrong_number(reader, e, entry, shape, most)
    found: list[Index] = []
    left: list[Size] = []
    for position, said in enumerate(e.indices):
        if position < plates:
            letter = entry.letters[position]
            index = _index(reader, said, e, letter)
            _fits_plate(reader, index, said, e, entry, position, found)
            size = reader.scope.axes[letter].size
        else:
            size = shape[position - plates]
            index = _index(reader, said, e, "")
            _fits_size(reader, index, said, e, size, f"components of {e.name}")
        if isinstance(index, All):
            left.append(size)
        found.append(index)
    return tuple(found), (*left, *shape[max(0, given - plates) :])


def _wrong_number(reader: Resolver, e: raw.RawRef, entry: Entry, shape: Shape, most: int) -> None:
    letters = ", ".join(entry.letters)
    runs = f"{e.name} runs along {letters}" if letters else f"{e.name} has no plates"
    given = len(e.indices)
    form = f"{e.name}[{letters}]" if letters else e.name
    wants = " or ".join(map(str, sorted({len(entry.letters), most})))
    text = f"{e.name} takes {wants} ind{'ex' if most == 1 else 'ices'}, not {given}"
    how = f"write {form}"
    if given == 0:
        text = f"{e.name} needs its index"
        if len(entry.letters) == 1 and entry.label is None:
            how += f", or {e.name}[:] for all of them"
    elif len(shape) == 2 and given == len(entry.letters) + 1:
        row = ", ".join([*entry.letters, "i", ":"])
        how = f"write {e.name}[{row}] for a row, with the index that you have for i"
    why = runs + (f", its value is {reader.words(shape)}" if shape else ", its value is a number")
    reader.wrong("index", e.place, text, why=why, how=how)


def _index(reader: Resolver, said: raw.RawIndex, e: raw.RawRef, letter: str) -> Index:
    """One index: a letter, a lag, a whole number, a label or all."""
    match said:
        case raw.RawAll():
            return All(said.place)
        case raw.RawNumber(value=value):
            if value.denominator != 1 or value < 1:
                reader.wrong("index", said.place, f"the index {said.text} of {e.name}",
                             how="indices are whole numbers that count from 1")  # fmt: skip
            return Literal(int(value), said.place)
        case raw.RawRef(name=name, indices=()) if name in reader.scope.axes:
            return _bound(reader, name, 0, said.place)
        case raw.RawRef():
            if said.name in reader.scope.size_names and said.name not in reader.scope.entries:
                reader.wrong("index", said.place, f"{said.name} is a size, not an index",
                             how="write the plate's letter, or a whole number")  # fmt: skip
            return reader.label(said)
        case raw.RawOps(
            parts=((_, raw.RawRef(name=name, indices=())), (sign, raw.RawNumber() as n))
        ):
            if said.additive and name in reader.scope.axes and n.value.denominator == 1:
                shift = int(n.value) * (1 if sign == "+" else -1)
                if shift > 0:
                    reader.wrong("index", said.place, f"{e.name}[{name}+{shift}] lies ahead",
                                 why="a statement refers to earlier elements",
                                 how=f"write it for the later, with {name}-{shift}")  # fmt: skip
                return _bound(reader, name, shift, said.place)
    place = getattr(said, "place", e.place)
    reader.wrong(
        "index", place, f"this cannot be an index of {e.name}",
        why="an index is a plate's letter, a lag t-1, a whole number, a label or :",
    )  # fmt: skip


def _bound(reader: Resolver, name: str, shift: int, place: Place) -> Index:
    reader.scope.axes[name].used = True
    if name in reader.around.literals:
        reader.wrong("index", place, f"the index {name} is not bound here",
                     why=f"this statement is for {reader.around.literals[name]} alone",
                     how="write the number instead of the letter")  # fmt: skip
    if name not in reader.around.bound:
        own = ", ".join(reader.around.own)
        reader.wrong(
            "index", place, f"the index {name} is not bound here",
            why=f"{own or 'the left side'} does not run along {name}",
            how=f"write {name} on the left as well, or : for all elements",
        )  # fmt: skip
    first = reader.around.first.get(name, 1)
    if first + shift < 1:
        own = ", ".join(reader.around.own)
        reader.wrong(
            "index", place, f"{name}{shift} reads before the first element",
            why=f"the statement holds from {name} = {first} on",
            how="write the first elements as statements of their own: "
            + ", ".join(f"{own}[{i}] ~ …" for i in range(1, min(-shift, 3) + 1)),
        )  # fmt: skip
    return Letter(name, shift, place)


def _fits_plate(
    reader: Resolver, index: Index, said: raw.RawIndex, e: raw.RawRef, entry: Entry, position: int,
    before: list[Index],
) -> None:  # fmt: skip
    """The index goes along the plate: the same size, and its outer index where it is ragged."""
    letter = entry.letters[position]
    axis = reader.scope.axes[letter]
    if isinstance(index, Letter):
        mine = reader.scope.axes[index.name]
        if mine.size.name != axis.size.name or mine.size.number != axis.size.number:
            how = f"write a letter of a plate in {axis.size}, or a label with that many values"
            if index.name in entry.letters:
                how = f"write its plates in their order: {e.name}[{', '.join(entry.letters)}]"
            reader.wrong(
                "index", index.place, f"{e.name} runs along {letter} in {axis.size}, "
                f"not along {index.name} in {mine.size}", how=how,
            )  # fmt: skip
        for mine_outer, outer in zip(mine.outer, axis.outer, strict=True):
            at = entry.letters.index(outer) if outer in entry.letters else -1
            if at >= 0 and at < position and before[at] != Letter(mine_outer):
                reader.wrong("index", index.place, f"{index.name} counts inside {mine_outer}",
                             why=f"{axis.size.name} has a size for each {mine_outer}",
                             how=f"write {mine_outer} at its place")  # fmt: skip
        return
    if axis.size.per and isinstance(index, All):
        reader.wrong("index", said.place, f"{e.name} has another length for each "
                     f"{axis.size.per}: it is no vector along {letter}")  # fmt: skip
    _fits_size(reader, index, said, e, axis.size, f"elements of {e.name}")


def _fits_size(
    reader: Resolver, index: Index, said: raw.RawIndex, e: raw.RawRef, size: Size, what: str
) -> None:  # fmt: skip
    """A letter, number or label along an axis of this size."""
    sizes = reader.scope.sizes
    size = sizes.find(size)
    place = said.place if not isinstance(said, raw.RawOps) else e.place
    match index:
        case Letter(name=name):
            mine = reader.scope.axes[name].size
            if mine.per or not sizes.same(mine, size):
                reader.wrong("index", index.place, f"{name} runs over {mine}, the {what} "
                             f"over {sizes.find(size)}")  # fmt: skip
        case Literal(value=value):
            if not size.name and value > size.number:
                reader.wrong("index", place, f"there are {size} {what}, not {value}")
        case Label() if isinstance(said, raw.RawRef):
            many = sizes.find(reader.label_size(said))
            if size.per:
                return
            if not sizes.same(many, size):
                reader.wrong("size", place, f"{said.name} has {many} labels, the {what} are "
                             f"{sizes.find(size)}")  # fmt: skip


def left_letters(
    indices: tuple[raw.RawIndex, ...], reader_axes: dict[str, object]
) -> tuple[str | int | None, ...]:
    """The left side's indices: letters and whole numbers; None where it is neither."""
    found: list[str | int | None] = []
    for i in indices:
        match i:
            case raw.RawRef(name=name, indices=()) if name in reader_axes:
                found.append(name)
            case raw.RawNumber(value=value) if value.denominator == 1 and value >= 1:
                found.append(int(value))
            case _:
                found.append(None)
    return tuple(found)


__all__ = ["Around", "Broken", "left_letters", "resolve_indices"]
