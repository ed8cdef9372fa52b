"""Expressions of the tree: whole numbers, entries and parts of arrays, what is made of them.

Arithmetic on numbers is that of `blrgen.program.nodes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from blrgen.program.nodes import Node, Ref


@dataclass(frozen=True)
class Whole(Node):
    """A whole number."""

    value: int


@dataclass(frozen=True)
class Span(Node):
    """From a place to before another; all of an axis where both are left out."""

    start: Node | None = None
    stop: Node | None = None


@dataclass(frozen=True)
class Entry(Node):
    """array[index]; a leaf for those who count nodes."""

    array: str
    index: tuple[Node, ...]

    @cached_property
    def weight(self) -> int:
        return 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.array, *(x for i in self.index for x in i.names))))


@dataclass(frozen=True)
class Shape(Node):
    """How long an array is on one of its axes."""

    array: str
    axis: int


@dataclass(frozen=True)
class Least(Node):
    """The smallest of whole numbers."""

    args: tuple[Node, ...]


@dataclass(frozen=True)
class Greatest(Node):
    """The largest of whole numbers."""

    args: tuple[Node, ...]


@dataclass(frozen=True)
class Length(Node):
    """How many entries an array has."""

    array: str


@dataclass(frozen=True)
class Float(Node):
    """A number of one type in all calls of a function."""

    value: Fraction


@dataclass(frozen=True)
class Integer(Node):
    """A number as a signed whole one."""

    arg: Node


@dataclass(frozen=True)
class Apply(Node):
    """A function of the library on whole arrays."""

    function: str
    args: tuple[Node, ...]
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Quoted(Node):
    """Words for people."""

    words: str


@dataclass(frozen=True)
class Product(Node):
    """left @ right of arrays."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Several(Node):
    """Values side by side, or the names that they go to."""

    args: tuple[Node, ...]


@dataclass(frozen=True)
class Spread(Node):
    """An array whose axes lie where a larger one has them; None where it has none."""

    arg: Node
    axes: tuple[bool, ...]


@dataclass(frozen=True)
class Turned(Node):
    """An array with its axes in another order."""

    arg: Node
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Part(Node):
    """An entry, or several, of an expression."""

    arg: Node
    index: tuple[Node, ...]


@dataclass(frozen=True)
class Outside(Node):
    """Whether a number is not positive, or not finite."""

    arg: Node


@dataclass(frozen=True)
class Retyped(Node):
    """The memory of an array as numbers of another array's type."""

    arg: Node
    like: str


@dataclass(frozen=True)
class Rest(Node):
    """All axes that are not said."""


@dataclass(frozen=True)
class Added(Node):
    """An axis of length 1."""


@dataclass(frozen=True)
class Real(Node):
    """A number in the arrays' type."""

    arg: Node


@dataclass(frozen=True)
class Sum(Node):
    """left + right of whole numbers."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Difference(Node):
    """left − right of whole numbers."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Times(Node):
    """left · right of whole numbers."""

    left: Node
    right: Node


@dataclass(frozen=True)
class RoundedUp(Node):
    """left / right of whole numbers, rounded up."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Remainder(Node):
    """What whole numbers leave when they are divided."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Quotient(Node):
    """left / right of whole numbers, rounded down."""

    left: Node
    right: Node


def plus(left: Node, right: Node) -> Node:
    """The sum of whole numbers, without zeros."""
    if isinstance(left, Whole) and isinstance(right, Whole):
        return Whole(left.value + right.value)
    if right == Whole(0):
        return left
    return right if left == Whole(0) else Sum(left, right)


def last_of(letter: str) -> Ref:
    """The place at which a recurrence over the letter ended."""
    return Ref(f"{letter}_last")


def name(x: str) -> Ref:
    """A variable."""
    return Ref(x)
