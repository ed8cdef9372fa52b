"""Types: axes and a structure.

The type of a value is its axes, by the names of their sizes, and what is known of the last
two: `number`, `[d]`, `[n, d]`, `[d, d] sym`, `[d, d] lower`; `[each]` are the entries of arrays
of any shape.  What an expression has is found by `blrgen.program.words`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """The names of the sizes of its axes, and the structure on the last two."""

    shape: tuple[str, ...] = ()
    structure: str = "dense"  # dense | sym | lower, as of quantities

    def __str__(self) -> str:
        if not self.shape:
            return "number"
        return f"[{', '.join(self.shape)}]" + f" {self.structure}" * (self.structure != "dense")

    @property
    def is_square(self) -> bool:
        """Whether its last two axes are one."""
        return len(self.shape) == 2 and self.shape[0] == self.shape[1]

    @property
    def is_symmetric(self) -> bool:
        """Whether it is known to equal its transpose."""
        return self.structure == "sym"


SCALAR = Type()
EACH = "each"  # the axis of the entries of arrays of any shape, on which a rule acts one by one
ENTRIES = Type((EACH,))


def vector(size: str = "d") -> Type:
    """An array with one axis."""
    return Type((size,))


def symmetric(size: str = "d") -> Type:
    """A square matrix that equals its transpose."""
    return Type((size, size), "sym")


def matrix(rows: str, columns: str) -> Type:
    """A matrix without structure."""
    return Type((rows, columns))
