"""Families as a model uses them: their parameters in order, with shapes in sizes of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from blrgen import core
from blrgen.errors import UserError
from blrgen.read.family import family_of, find_family, list_families, source_of
from blrgen.read.model import elsewhere
from blrgen.read.model.mistakes import Mistakes
from blrgen.read.model.raw import RawFamily
from blrgen.read.model.values import Place, Shape, Size

_SIZE = re.compile(r"([^\W\d]\w*)(?:([+-])(\d+))?|(\d+)")
_SHIPPED: dict[str, core.Family] = {}


@dataclass(frozen=True)
class Signature:
    """A family's parameters by role and the shapes of its variables, in its own sizes."""

    family: core.Family
    natural: tuple[core.Parameter, ...]
    working: tuple[core.Parameter, ...]
    fixed: tuple[core.Parameter, ...]

    @property
    def positional(self) -> tuple[core.Parameter, ...]:
        """What stands without a keyword: the working parameters, then the fixed ones."""
        return (*(self.working or self.natural), *self.fixed)

    @property
    def spoken(self) -> str:
        """The names of the arguments, as a call is written."""
        return f"({', '.join(p.name for p in self.positional)})"


def own_shape(size: tuple[str, ...]) -> Shape:
    """("K-1",) as a shape in the family's own names."""
    found = []
    for text in size:
        match = _SIZE.fullmatch(text.replace(" ", ""))
        assert match is not None, text
        name, sign, change, number = match.groups()
        found.append(
            Size("", int(number)) if number else Size(name, int(f"{sign or ''}{change or 0}"))
        )
    return tuple(found)


class Families:
    """The families that one model names, read once each."""

    def __init__(self, folder: Path, mistakes: Mistakes) -> None:
        self.folder, self.mistakes = folder, mistakes
        self.aliases: dict[str, RawFamily] = {}
        self.read: dict[str, Signature | None] = {}
        self.hints: dict[str, str] = {}

    def declare(self, said: RawFamily) -> None:
        """family name = "file.toml"."""
        if said.name in self.aliases or said.name in ("choose", "point"):
            self.mistakes.note(
                "duplicate", said.place, f"the family {said.name} is declared twice"
                if said.name in self.aliases else f"a family cannot be called {said.name}",
                why="" if said.name in self.aliases else "it is a word of the language",
                instead="give one of them another name", node="",
            )  # fmt: skip
            return
        self.aliases[said.name] = said
        self.read[said.name] = self._of_file(said)

    def get(self, name: str, place: Place) -> Signature | None:
        """The family of a name; None where it is none (and that was said)."""
        if name not in self.read:
            self.read[name] = self._shipped(name)
        if self.read[name] is None and name not in self.aliases:
            self.mistakes.note(
                "unknown-family", place, f"unknown family {name[:80]!r}",
                why="it is neither a family that comes with blrgen nor declared here",
                instead=f"{self.near(name[:80])} "
                f'(a file of your own: family {name[:40]} = "file.toml")',
            )  # fmt: skip
        return self.read[name]

    def near(self, name: str) -> str:
        """Families with a name like it; looked for once."""
        if name not in self.hints:
            self.hints[name] = elsewhere.family(name, {*list_families(), *self.aliases})
        return self.hints[name]

    def used(self) -> tuple[tuple[str, core.Family], ...]:
        return tuple((n, s.family) for n, s in self.read.items() if s is not None)

    def _shipped(self, name: str) -> Signature | None:
        if name not in list_families():
            return None
        if name not in _SHIPPED:
            _SHIPPED[name] = family_of(source_of(str(find_family(name))), minimal=False)
        return _signature(_SHIPPED[name])

    def _of_file(self, said: RawFamily) -> Signature | None:
        """A file beside the model; what is wrong in it is told with its own place."""
        path = self.folder / said.path
        try:
            if not said.path.endswith(".toml"):
                raise UserError("a family file ends in .toml", how=f'write "{said.path}.toml"')
            if not path.is_file():
                raise UserError(f"there is no file {said.path}", why=f"looked at {path}",
                                how="the path is relative to the model's file")  # fmt: skip
            return _signature(family_of(source_of(str(path))))
        except UserError as error:
            why = "; ".join(x for x in (error.where, error.why) if x)
            self.mistakes.note(
                "unknown-family", said.place,
                f"the family {said.name} cannot be read: {error.what}",
                why=why, instead=error.how or f"see blrgen check {said.path}", node="",
            )  # fmt: skip
            return None


def _signature(family: core.Family) -> Signature:
    return Signature(family, family.natural, family.working or family.simplex, family.fixed)
