"""Coordinate spaces as types: what may be added to what.

Natural parameters λ and mean parameters μ are dual to each other: a gradient with
respect to μ is a displacement of λ, a gradient with respect to λ a displacement of μ.
Working parameters ψ have a dual of their own.  λ − ρ∇_λL is therefore refused; the
Fisher matrix maps between the two sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from blrgen.errors import SpaceError

Expr = Any


@dataclass(frozen=True)
class Space:
    """A coordinate space, told apart by name."""

    name: str
    meaning: str

    @property
    def dual(self) -> Space:
        return _DUAL[self]


NATURAL = Space("natural", "λ, or a gradient with respect to μ")
MEAN = Space("mean", "μ, or a gradient with respect to λ")
WORKING = Space("working", "the working parameters ψ")
WORKING_DUAL = Space("dual of working", "a gradient with respect to ψ")
_DUAL = {NATURAL: MEAN, MEAN: NATURAL, WORKING: WORKING_DUAL, WORKING_DUAL: WORKING}


@dataclass(frozen=True, eq=False)
class Element:
    """A point or displacement: one expression per parameter, and the space it lives in."""

    space: Space
    parts: tuple[Expr, ...]

    def __add__(self, other: Element) -> Element:
        return self._combine(other, "+", lambda a, b: a + b)

    def __sub__(self, other: Element) -> Element:
        return self._combine(other, "-", lambda a, b: a - b)

    def __rmul__(self, factor: Expr) -> Element:
        return Element(self.space, tuple(factor * a for a in self.parts))

    def _combine(self, other: Element, sign: str, how: Callable[[Expr, Expr], Expr]) -> Element:
        if not isinstance(other, Element) or other.space != self.space:
            there = other.space if isinstance(other, Element) else None
            raise SpaceError(
                f"cannot form  left {sign} right",
                why=(
                    f"left is in the {self.space.name} space ({self.space.meaning}),\n"
                    f"       right is in the {there.name} space ({there.meaning})"
                    if there
                    else "right is not in any coordinate space"
                ),
                how="apply the Fisher matrix or its inverse, "
                "or take the gradient in the dual coordinates",
            )
        return Element(
            self.space, tuple(how(a, b) for a, b in zip(self.parts, other.parts, strict=True))
        )

    def map(self, f: Callable[[Expr], Expr]) -> Element:
        return Element(self.space, tuple(f(a) for a in self.parts))


def gradient_in(space: Space, parts: tuple[Expr, ...]) -> Element:
    """The gradient with respect to coordinates in `space`: an element of its dual."""
    return Element(space.dual, parts)
