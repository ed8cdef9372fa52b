"""Where the sizes of vectors and matrices are read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from blrgen.errors import InternalError
from blrgen.program.program import Program
from blrgen.program.types import Type


@dataclass(frozen=True)
class Extent:
    """A size as the length of an axis of an array."""

    array: str
    axis: int = 0

    def text(self, name: Callable[[str], str] = str) -> str:
        """len(V), or M.shape[1]."""
        held = name(self.array)
        return f"len({held})" if self.axis == 0 else f"{held}.shape[{self.axis}]"


def extents(program: Program) -> dict[str, Extent]:
    """Size → where it is read from: the parameters first, then other states and constants."""
    main = program.parameter
    others = [v for v in program.of("state", "hyper") if v.name != main.name]
    found: dict[str, Extent] = {}
    for v in (main, *others):
        for axis, size in enumerate(v.type.shape):
            found.setdefault(size, Extent(v.name, axis))
    return found


def extent_text(size: str, known: Mapping[str, Extent], name: Callable[[str], str] = str) -> str:
    """A size in code."""
    if size.isdigit() and size not in known:
        return size
    if size not in known:
        raise InternalError(f"no array has the size {size}")
    return known[size].text(name)


def rows_like(t: Type, known: Mapping[str, Extent], name: Callable[[str], str] = str) -> str:
    """An array with as many rows as a symmetric matrix of this type."""
    where = known.get(t.shape[0])
    if where is None:
        raise InternalError(f"no array has the size {t.shape[0]}")
    return name(where.array) + (".T" if where.axis else "")
