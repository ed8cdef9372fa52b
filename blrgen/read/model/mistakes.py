"""Mistakes in a model: what kind, where, why, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from blrgen.errors import UserError
from blrgen.read.model.values import Place

T = TypeVar("T")
U = TypeVar("U")

KINDS = (
    "syntax", "unknown-family", "unknown-name", "duplicate", "arguments", "cycle", "index",
    "size", "domain", "improper", "unused", "measure", "nothing-observed", "data", "support",
    "not-applicable", "unidentified",
)  # fmt: skip


# what holds of every mistake of a kind: said where nothing closer is
WHY = {
    "syntax": "the line is no statement of the language",
    "unknown-family": "no file declares it",
    "unknown-name": "no statement says what it is",
    "duplicate": "a name means one thing in a model",
    "arguments": "arguments are matched by position, or by the names in the family's file",
    "cycle": "a model is built from its parents on: none comes before itself",
    "index": "a name takes its plates in order, then components of its value",
    "size": "values that meet have one shape, and sizes are shared by name",
    "domain": "the density is defined inside the domain only",
    "nothing-observed": "without data every posterior is its prior",
    "unused": "no statement refers to it",
    "data": "arrays have the axes of the plates, then those of the value",
    "support": "its density there is 0",
}
INSTEAD = {
    "syntax": "see the statements of the models that ship: blrgen list models",
    "arguments": "give each argument once",
    "cycle": "make one of them without the others",
    "index": "write the letter of a plate of that size, a whole number from 1, or a label",
    "size": "declare them with the same sizes",
    "domain": "choose a value inside",
    "improper": "choose a value inside",
    "data": "give an array of that shape",
    "support": "choose a family with such values, or correct the data",
}


@dataclass(frozen=True)
class Mistake:
    """One mistake; `node` is the node that it is about, "" where it is about none."""

    kind: str
    line: int
    column: int
    node: str
    text: str
    why: str = ""
    instead: str = ""

    def error(self, file: str) -> UserError:
        """The mistake as it is printed."""
        where = f"{file}:{self.line}:{self.column}" if self.line else file
        return UserError(self.text, where=where, why=self.why, how=self.instead)


class ModelError(UserError):
    """A model with mistakes: all that were found, in the order of the text."""

    def __init__(self, file: str, mistakes: tuple[Mistake, ...]) -> None:
        self.mistakes = mistakes
        self.file = file
        first = mistakes[0].error(file)
        super().__init__(first.what, where=first.where, why=first.why, how=first.how)

    def render(self) -> str:
        return "\nerror: ".join(m.error(self.file).render() for m in self.mistakes)


class Broken(Exception):
    """Raised where a part cannot be read further; what is wrong has been noted."""


MANY = 200


class Mistakes:
    """Gathers mistakes while a model is read; `node` is what is being read just now."""

    def __init__(self) -> None:
        self.found: list[Mistake] = []
        self.known: set[Mistake] = set()
        self.node = ""

    def note(
        self, kind: str, place: Place, text: str, *, why: str = "", instead: str = "",
        node: str | None = None,
    ) -> None:  # fmt: skip
        """Keep a mistake, once."""
        about = self.node if node is None else node
        why, instead = why or WHY.get(kind, ""), instead or INSTEAD.get(kind, "")
        mistake = Mistake(kind, place.line, place.column, about, text, why, instead)
        if mistake not in self.known:
            self.known.add(mistake)
            self.found.append(mistake)

    def broken(
        self, kind: str, place: Place, text: str, *, why: str = "", instead: str = ""
    ) -> Broken:
        """Keep a mistake and give the exception that leaves the part."""
        self.note(kind, place, text, why=why, instead=instead)
        return Broken(text)

    @property
    def many(self) -> bool:
        """So many that words like the unknown ones are no longer looked for."""
        return len(self.found) > MANY

    def in_order(self) -> tuple[Mistake, ...]:
        """By place, those found first before others at the same place."""
        return tuple(sorted(self.found, key=lambda m: (m.line, m.column)))


def every(do: Callable[[T], U], items: Iterable[T]) -> list[U]:
    """All of them done, so that all mistakes are found; then broken if any was."""
    done, trouble = [], None
    for item in items:
        try:
            done.append(do(item))
        except Broken as broken:
            trouble = broken
    if trouble is not None:
        raise trouble
    return done
