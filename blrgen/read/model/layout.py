"""How a model's values lie in arrays: plate axes in order, ragged ones flat, then value axes.

x[d,i] with i in W[d] is flat along both: Σ_d W[d] elements, in order of the outer one; the
lengths are the array W.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.read.model.values import Const, Model, Node, Shape, Size


@dataclass(frozen=True)
class Extent:
    """One axis of an array: a size, or the sum of the lengths of a ragged one."""

    size: Size

    @property
    def flat(self) -> bool:
        return bool(self.size.per)

    def __str__(self) -> str:
        return f"Σ {self.size.name}" if self.flat else str(self.size)


def extents(model: Model, letters: tuple[str, ...], shape: Shape) -> tuple[Extent, ...]:
    """The axes of the array of a name."""
    found: list[Extent] = []
    inside: set[str] = set()
    for letter in reversed(letters):
        plate = model.plate(letter)
        if letter not in inside:
            found.append(Extent(plate.size))
        inside |= set(plate.outer)
    return (*reversed(found), *map(Extent, shape))


def lengths(model: Model) -> dict[str, str]:
    """Ragged sizes: name → the name of the size (or of the ragged size) that it is given along."""
    return {
        p.size.name: model.plate(p.size.per).size.name or str(model.plate(p.size.per).size)
        for p in model.plates if p.size.per
    }  # fmt: skip


def arrays(model: Model) -> dict[str, tuple[Const | Node, tuple[Extent, ...]]]:
    """Every name that is given as an array, and its axes: constants, and what is observed."""
    found: dict[str, tuple[Const | Node, tuple[Extent, ...]]] = {}
    for c in model.constants:
        found[c.name] = (c, extents(model, c.letters, c.domain.shape))
    for n in model.nodes:
        if n.kind == "observed":
            for name, domain in zip(n.names, n.domains, strict=True):
                found[name] = (n, extents(model, n.letters, domain.shape))
    return found
