"""The statements of one node: which elements each holds for.

x[1] ~ …, x[2] ~ …, x[t] ~ … is a node along t with two first elements: the statement with the
letter holds from t = 3 on.  A whole number elsewhere, x[7] ~ …, is taken out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from blrgen.read.model import raw
from blrgen.read.model.scope import Entry, Scope
from blrgen.read.model.values import Place

Letters = tuple[str | int, ...]


@dataclass
class Group:
    """A node while it is read."""

    names: tuple[str, ...]
    statements: list[raw.RawRandom | raw.RawLink]
    kind: str = ""
    missing: bool = False
    number: int = -1
    entries: list[Entry] = field(default_factory=list)
    letters: tuple[str, ...] = ()
    indices: list[Letters] = field(default_factory=list)  # of each statement
    literal_axis: int = -1  # the position at which statements have whole numbers
    broken: bool = False

    @property
    def name(self) -> str:
        return ",".join(self.names)

    @property
    def places(self) -> list[Place]:
        return [t.place for t in targets(self.statements[0])]

    @property
    def literals(self) -> list[int]:
        """The whole numbers that have a statement of their own."""
        found = [i[self.literal_axis] for i in self.indices] if self.literal_axis >= 0 else []
        return sorted(x for x in found if isinstance(x, int))

    @property
    def first(self) -> int:
        """Where the statement with the letter begins: behind the literals 1, 2 and so on."""
        first = 1
        while first in self.literals:
            first += 1
        return first

    def find_letters(self, letters: Callable[[raw.RawTarget], Letters], scope: Scope) -> None:
        """The plates of the node, from all of its statements together."""
        for said in self.statements:
            first, *others = targets(said)
            found = letters(first)
            for other in others:
                if letters(other) != found:
                    raise scope.mistakes.broken(
                        "index", other.place, f"{other.name} has other indices than {first.name}",
                        why="variables of one density run along the same plates",
                    )  # fmt: skip
            self.indices.append(found)
        self._agree(scope)
        self.letters = self._general(scope)
        for axis in (scope.axes[x] for x in self.letters):
            axis.used = True

    def _agree(self, scope: Scope) -> None:
        """One number of indices, whole numbers at one position only, no element twice."""
        for at, (said, found) in enumerate(zip(self.statements, self.indices, strict=True)):
            place = said.place
            if len(found) != len(self.indices[0]):
                raise scope.mistakes.broken(
                    "index", place, f"{self.name} has {len(found)} indices here, "
                    f"{len(self.indices[0])} on line {self.statements[0].place.line}",
                )  # fmt: skip
            if found in self.indices[:at]:
                raise scope.mistakes.broken(
                    "duplicate", place, f"{self.name} is declared twice",
                    why=f"the first time on line {self._line(found)}",
                    instead="give one of them another name",
                )  # fmt: skip
            for position, index in enumerate(found):
                if isinstance(index, int):
                    if self.literal_axis not in (-1, position):
                        raise scope.mistakes.broken(
                            "index", place, f"{self.name} has whole numbers at two places",
                            why="first elements are along one plate",
                        )  # fmt: skip
                    self.literal_axis = position

    def _line(self, found: Letters) -> int:
        return self.statements[self.indices.index(found)].place.line

    def _general(self, scope: Scope) -> tuple[str, ...]:
        """The letters of the statement that holds for all others."""
        general = [i for i in self.indices if all(isinstance(x, str) for x in i)]
        if len(general) > 1:
            at = self.indices.index(general[1])
            raise scope.mistakes.broken(
                "duplicate", self.statements[at].place, f"{self.name} is declared twice",
                why="two statements hold for all of its elements",
            )  # fmt: skip
        if general:
            letters = tuple(str(x) for x in general[0])
            self._same_letters(letters, scope)
            return letters
        return self._all_literal(scope)

    def _same_letters(self, letters: tuple[str, ...], scope: Scope) -> None:
        for said, found in zip(self.statements, self.indices, strict=True):
            for letter, index in zip(letters, found, strict=True):
                if isinstance(index, str) and index != letter:
                    raise scope.mistakes.broken(
                        "index", said.place, f"{self.name} runs along {index} here, along "
                        f"{letter} elsewhere", instead="write the same letters in all statements",
                    )  # fmt: skip
                size = scope.axes[letter].size
                if isinstance(index, int) and not size.name and index > size.number:
                    raise scope.mistakes.broken(
                        "index", said.place, f"{letter} runs to {size}, not to {index}"
                    )

    def _all_literal(self, scope: Scope) -> tuple[str, ...]:
        """x[1] ~ …, x[2] ~ … alone: the one plate of that many elements."""
        many = len(self.statements)
        fitting = [a.letter for a in scope.axes.values() if str(a.size) == str(many)]
        for axis in scope.axes.values():
            axis.used = True  # one of them was meant
        whole = self.literals == list(range(1, many + 1))
        if len(fitting) != 1 or not whole:
            raise scope.mistakes.broken(
                "index", self.statements[0].place,
                f"{self.name} has statements for {self._some()} alone",
                why="no statement says along which plate it goes on",
                instead=f"write {self.names[0]}[t] ~ … with the letter of a plate"
                + (f", or say that these are all: plate i in {many}" if whole else ""),
            )  # fmt: skip
        found = list(self.indices[0])
        found[self.literal_axis] = fitting[0]
        return tuple(str(x) for x in found)

    def _some(self) -> str:
        return ", ".join(map(str, self.literals[:4])) + (", …" if len(self.literals) > 4 else "")


def targets(said: raw.RawRandom | raw.RawLink) -> tuple[raw.RawTarget, ...]:
    """What stands on the left of a statement."""
    return said.targets if isinstance(said, raw.RawRandom) else (said.target,)
