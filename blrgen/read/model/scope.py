"""What every name of a model means: plates, sizes, constants, nodes, and who uses them."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field
from difflib import get_close_matches

from blrgen.errors import did_you_mean
from blrgen.read.model import raw
from blrgen.read.model.families import Families
from blrgen.read.model.mistakes import Broken, Mistakes
from blrgen.read.model.unify import Sizes
from blrgen.read.model.values import Domain, Draw, Expr, Place, Shape, Size

RESERVED = ("start", "seed", "steps", "tol", "delay", "forgetting", "floor")
# names that every object of Python keeps for itself, and what stands for infinity
IMPOSSIBLE = ("self", "oo")


@dataclass
class Axis:
    """A plate: its letter's size, and the letters that stand before it where it is ragged."""

    letter: str
    size: Size
    outer: tuple[str, ...]
    said: raw.RawPlate
    times: Expr | None = None
    used: bool = False


@dataclass
class Entry:
    """A name that has values: a constant, or a variable of a node."""

    name: str
    kind: str  # "const" | "param" | "latent" | "observed" | "deterministic"
    place: Place
    letters: tuple[str, ...] = ()
    shape: Shape | None = None  # None: not known (yet, or because its statement is broken)
    domain: Domain | None = None
    label: Size | None = None  # how many labels it has, where it can be an index
    binary: bool = False  # a label of two, 0 and 1
    group: int = -1  # the number of its node
    broken: bool = False
    used: bool = False


@dataclass
class Scope:
    """All names; lookups note what is wrong."""

    mistakes: Mistakes
    families: Families
    sizes: Sizes = field(default_factory=Sizes)
    axes: dict[str, Axis] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    size_names: dict[str, Place] = field(default_factory=dict)
    ragged: dict[str, str] = field(default_factory=dict)  # size name → the letter it is per
    partial: list[tuple[str, str, Draw]] = field(default_factory=list)  # node, kind, what is known
    failed: set[str] = field(default_factory=set)  # names in statements that were not parsed

    def size(self, said: raw.RawSize, *, plate: bool = False) -> Size:
        """A size as the text writes it; a name becomes known as one."""
        if not said.name:
            if not 1 <= said.number <= 10**9:
                raise self.mistakes.broken(
                    "size", said.place, "a size is a whole number, 1 or more",
                    instead="write a name or a number such as 3",
                )  # fmt: skip
            return Size("", said.number)
        if said.name in self.ragged and not plate:
            raise self.mistakes.broken(
                "size", said.place, f"{said.name} is a size for each {self.ragged[said.name]}",
                why="a vector or matrix has one size for all elements",
                instead="write a plate over it, or a size of its own",
            )  # fmt: skip
        self.size_names.setdefault(said.name, said.place)
        return Size(said.name, said.number)

    def entry(self, name: str, place: Place, how: str = "") -> Entry:
        """The constant or variable of a name, or what else the name is; `how` to make it."""
        if name in self.entries:
            found = self.entries[name]
            found.used = True
            return found
        raise self.unknown(name, place, how)

    def unknown(self, name: str, place: Place, declared: str = "") -> Broken:
        """What is wrong with a name that has no value."""
        if name in self.failed:
            return Broken(name)
        if name in self.axes:
            return self.mistakes.broken(
                "index", place, f"{name} is an index, not a number",
                why=f"it is the letter of the plate on line {self.axes[name].said.place.line}",
                instead=f"declare its values as data: const {name}_value[{name}] in R",
            )  # fmt: skip
        if name in self.size_names:
            return self.mistakes.broken(
                "index", place, f"{name} is a size and has no elements", instead=f"write {name}"
            )
        known = [*self.entries, *self.size_names]
        if name == "pi":
            how = "the number is 3.141592653589793; a node is declared: pi ~ dirichlet(…)"
        else:
            near = (
                [] if self.mistakes.many else get_close_matches(name[:80], known, n=1, cutoff=0.55)
            )
            how = (
                did_you_mean(name[:80], known)
                if near
                else declared
                or f"declare it, const {name[:80]} in R, or write the statement that makes it"
            )
        return self.mistakes.broken(
            "unknown-name", place, f"unknown name {name[:80]!r}",
            why="no statement says what it is", instead=how,
        )  # fmt: skip

    def axis_of(self, letter: str) -> Size:
        """The size of a letter's plate."""
        return self.axes[letter].size

    def argument_clash(self, name: str) -> str:
        """Why a name cannot be an argument of the constructor, "" where it can."""
        if name in RESERVED:
            return "the constructor has an argument of that name of its own"
        if name in IMPOSSIBLE:
            return "the name means something else in every program"
        if name.endswith("_") and keyword.iskeyword(name[:-1]) and self.is_known(name[:-1]):
            return f"{name[:-1]} is a word of Python and becomes {name} in the constructor"
        return ""

    def is_known(self, name: str) -> bool:
        return name in self.entries or name in self.axes or name in self.size_names
