"""Sizes that are found by what must fit together: equations name + number = name + number.

A size that the text names (N, K, d) or gives (3) is known; a family's own size in one draw is
an unknown, written ?1, ?2, …, until an argument says what it is.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from blrgen.read.model.values import Shape, Size

T = TypeVar("T")


class Sizes:
    """The unknowns met so far and what is known of them."""

    def __init__(self) -> None:
        self.known: dict[str, Size] = {}
        self.count = 0

    def fresh(self) -> Size:
        """A size of which nothing is known."""
        self.count += 1
        return Size(f"?{self.count}")

    def find(self, size: Size) -> Size:
        """What a size is by now."""
        while size.name in self.known:
            better = self.known[size.name]
            size = replace(better, number=better.number + size.number)
        return size

    def same(self, a: Size, b: Size) -> bool:
        """Make two sizes equal; False where they cannot be."""
        a, b = self.find(a), self.find(b)
        if a.name == b.name:
            return a.number == b.number
        if _unknown(b) and not _unknown(a):
            a, b = b, a
        if not _unknown(a):
            return False
        value = replace(b, number=b.number - a.number)
        if not value.name and value.number < 1:
            return False
        self.known[a.name] = value
        return True

    def fit(self, a: Shape, b: Shape) -> bool:
        """Make two shapes equal; False where they cannot be."""
        return len(a) == len(b) and all([self.same(x, y) for x, y in zip(a, b, strict=True)])

    def shape(self, shape: Shape) -> Shape:
        return tuple(map(self.find, shape))

    def settled(self, value: T) -> T:
        """A value with every size in it replaced by what it is."""
        return _settled(self, value)  # type: ignore[no-any-return]

    def open(self, shape: Shape) -> bool:
        """Whether something in a shape is still unknown."""
        return any(_unknown(self.find(s)) for s in shape)


def _unknown(size: Size) -> bool:
    return size.name.startswith("?")


def _settled(sizes: Sizes, value: Any) -> Any:
    if isinstance(value, Size):
        return sizes.find(value)
    if isinstance(value, tuple):
        return tuple(_settled(sizes, v) for v in value)
    if is_dataclass(value) and not isinstance(value, type) and _ours(value):
        inside = {f.name: getattr(value, f.name) for f in fields(value)}
        return type(value)(**{n: _settled(sizes, v) for n, v in inside.items()})
    return value


def _ours(value: Any) -> bool:
    return type(value).__module__ == Size.__module__


def shape_words(shape: Shape) -> str:
    """A shape as it is spoken of: a number, a vector of K, a matrix of d × d."""
    sizes = [("an unknown size" if _unknown(s) else str(s)) for s in shape]
    if not sizes:
        return "a number"
    if len(sizes) == 1:
        return f"a vector of {sizes[0]}"
    return f"{'a matrix' if len(sizes) == 2 else 'an array'} of {' × '.join(sizes)}"
