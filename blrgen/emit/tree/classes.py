"""A class as a value: its methods, what they do in turn, and what all of it needs.

Loops over numbers are functions (`nodes.Function`); a class checks, keeps and calls.  So its
statements are few: values are kept under names, functions are called, something is returned.
`Use` is a name that comes from outside of the class: a support function, or an import.
`Word` and `Formula` say what is done to arrays and numbers; how that is written is a target's
(`spelling`), and after it only `Text` is left of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from blrgen.program import nodes as n


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
    filled: bool = False  # where it is long, as many on a line as fit


@dataclass(frozen=True)
class Table:
    """A dictionary, with what another has behind its pairs."""

    pairs: tuple[tuple[Expression, Expression], ...]
    filled: bool = False
    rest: Expression | None = None


@dataclass(frozen=True)
class Each:
    """value for targets in over: a list, with a key a dictionary, `bare` in a call's brackets."""

    value: Expression
    targets: tuple[Expression, ...]
    over: Expression
    key: Expression | None = None
    bare: bool = False


@dataclass(frozen=True)
class Either:
    """yes if condition else no."""

    yes: Expression
    condition: Expression
    no: Expression


@dataclass(frozen=True)
class Words:
    """What is said to a caller; what stands in braces is put in."""

    text: str


@dataclass(frozen=True)
class Word:
    """Something that every target can do with arrays, and writes in its own way."""

    name: str
    args: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Formula:
    """Arithmetic of a program; `names` are what its symbols are written as.

    Where `over` names arrays it is computed element by element; `typed`: in their type.
    """

    expr: n.Node
    names: tuple[tuple[str, Expression], ...] = ()
    over: tuple[str, ...] = ()
    typed: bool = False


@dataclass(frozen=True)
class Text:
    """An expression that a printer has written, and what it needs."""

    text: str
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sign:
    """left op right, or op right."""

    op: str
    right: Expression
    left: Expression | None = None


Expression = (
    Name | Use | Attribute | Item | Invoked | Literal | Row | Table | Sign | Each | Either
    | Words | Word | Formula | Text
)  # fmt: skip


@dataclass(frozen=True)
class Set:
    """targets = value, with the type of a single one where a reader needs it."""

    targets: tuple[Expression, ...]
    value: Expression
    kind: str = ""
    note: str = ""  # behind it
    op: str = "="  # or +=


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
    """The body where the condition holds, otherwise `other`."""

    condition: Expression
    body: tuple[Statement, ...]
    other: tuple[Statement, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Loop:
    """The body for each of several things."""

    targets: tuple[Expression, ...]
    over: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Attempt:
    """The body; where it is refused, `other`."""

    body: tuple[Statement, ...]
    refused: str
    other: tuple[Statement, ...]
    note: str = ""


@dataclass(frozen=True)
class Raise:
    """What is wrong is said; nothing: what was said is said again."""

    kind: str = ""
    said: Expression | None = None


@dataclass(frozen=True)
class Break:
    """The innermost loop ends."""


@dataclass(frozen=True)
class Note:
    """A line of comment."""

    text: str


@dataclass(frozen=True)
class Lines:
    """Statements that a printer has written, with their margin, and what they need."""

    rows: tuple[str, ...]
    uses: tuple[str, ...] = ()


Statement = Set | Do | Return | When | Loop | Attempt | Raise | Break | Note | Lines


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
    elif isinstance(value, Text | Lines):
        yield from value.uses
    elif isinstance(value, tuple):
        for x in value:
            yield from used(x)
    elif hasattr(value, "__dataclass_fields__"):
        if isinstance(value, Argument):
            yield from _words(value.kind)
        if isinstance(value, Method):
            yield from _words(f"{value.returns} {value.mark}")
        if isinstance(value, Set):
            yield from _words(value.kind)
        for f in () if isinstance(value, Formula) else fields(value):  # type: ignore[arg-type]
            yield from used(getattr(value, f.name))


def own(*names: str) -> tuple[Name, ...]:
    """Local names."""
    return tuple(map(Name, names))


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
