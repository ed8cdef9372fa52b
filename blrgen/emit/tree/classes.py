"""A class as a value: its methods, what they do in turn, and what all of it needs.

Loops over numbers are functions (`nodes.Function`); a class checks, keeps and calls.  So its
statements are few: values are kept under names, functions are called, something is returned.
`Use` is a name that comes from outside of the class: a support function, or an import.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Name:
    """A local name, or a constant of the file."""

    name: str


@dataclass(frozen=True)
class Use:
    """A support function or an import: the file has what it is."""

    name: str


@dataclass(frozen=True)
class Attribute:
    """of.name."""

    of: Expression
    name: str


@dataclass(frozen=True)
class Item:
    """of[key]."""

    of: Expression
    key: Expression


@dataclass(frozen=True)
class Invoked:
    """function(arguments, word=argument)."""

    function: Expression
    args: tuple[Expression, ...] = ()
    words: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True)
class Literal:
    """A number, a text, None, True."""

    value: float | int | str | bool | None


@dataclass(frozen=True)
class Row:
    """A tuple, or a list."""

    items: tuple[Expression, ...]
    listed: bool = False


@dataclass(frozen=True)
class Table:
    """A dictionary."""

    pairs: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class Sign:
    """left op right, or op right."""

    op: str
    right: Expression
    left: Expression | None = None


Expression = Name | Use | Attribute | Item | Invoked | Literal | Row | Table | Sign


@dataclass(frozen=True)
class Set:
    """targets = value, with the type of a single one where a reader needs it."""

    targets: tuple[Expression, ...]
    value: Expression
    kind: str = ""


@dataclass(frozen=True)
class Do:
    """A call for what it does."""

    call: Expression


@dataclass(frozen=True)
class Return:
    """return value."""

    value: Expression


@dataclass(frozen=True)
class When:
    """The body where the condition holds."""

    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Note:
    """A line of comment."""

    text: str


Statement = Set | Do | Return | When | Note


@dataclass(frozen=True)
class Argument:
    """An argument with its type; `only` by its name."""

    name: str
    kind: str
    default: Expression | None = None
    only: bool = False


@dataclass(frozen=True)
class Method:
    """A method: its first line says what it does."""

    name: str
    arguments: tuple[Argument, ...]
    returns: str
    doc: str
    body: tuple[Statement, ...]
    mark: str = ""


@dataclass(frozen=True)
class Class:
    """A class with its methods in order."""

    name: str
    doc: str
    methods: tuple[Method, ...]


def used(value: object) -> Iterator[str]:
    """The names from outside in any of these values, types in signatures among them."""
    if isinstance(value, Use):
        yield value.name
    elif isinstance(value, tuple):
        for x in value:
            yield from used(x)
    elif hasattr(value, "__dataclass_fields__"):
        if isinstance(value, Argument):
            yield from _words(value.kind)
        if isinstance(value, Method):
            yield from _words(value.returns)
        if isinstance(value, Set):
            yield from _words(value.kind)
        for f in fields(value):  # type: ignore[arg-type]
            yield from used(getattr(value, f.name))


def _words(kind: str) -> Iterator[str]:
    """The names in a type."""
    word = ""
    for c in f"{kind} ":
        if c.isalnum() or c == "_":
            word += c
        else:
            yield from [word] if word else []
            word = ""


def attribute(name: str) -> Attribute:
    """self.name."""
    return Attribute(Name("self"), name)


def call(function: str | Expression, *args: Expression, **words: Expression) -> Invoked:
    """A call; a name with an underscore before it is a support function."""
    if isinstance(function, str):
        function = Use(function) if function.startswith("_") else Name(function)
    return Invoked(function, args, tuple(words.items()))
