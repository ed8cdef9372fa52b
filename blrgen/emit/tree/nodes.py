"""The tree between a program and its text: functions, loops, statements.

Expressions are the arithmetic of `blrgen.program.nodes` over names and entries of arrays.
What a node needs (functions, modules) is in it; printers decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from blrgen.emit.tree.places import (
    Added,
    Apply,
    Difference,
    Entry,
    Float,
    Greatest,
    Integer,
    Least,
    Length,
    Outside,
    Part,
    Product,
    Quoted,
    Quotient,
    Real,
    Remainder,
    Rest,
    Retyped,
    RoundedUp,
    Several,
    Shape,
    Span,
    Spread,
    Sum,
    Times,
    Turned,
    Whole,
    last_of,
    name,
    plus,
)
from blrgen.program.nodes import Call, Node, Select, walk

__all__ = [
    "Added", "Apply", "Assign", "Break", "Difference", "Entry", "Float", "For", "Function",
    "Greatest", "If", "Increase", "Integer", "Invoke", "Least", "Length", "Make", "Outside",
    "Part", "Product", "Quoted", "Quotient", "Real", "Remainder", "Rest", "Return", "Retyped",
    "RoundedUp", "Several", "Shape", "Span", "Spread", "Statement", "Sum", "Times", "Turned",
    "View", "Whole", "expressions", "last_of", "name", "plus", "rewritten", "statements",
    "support",
]  # fmt: skip


@dataclass(frozen=True)
class Assign:
    """target = value."""

    target: Node
    value: Node


@dataclass(frozen=True)
class Increase:
    """target += value."""

    target: Node
    value: Node


@dataclass(frozen=True)
class Make:
    """A new array: `kind` is real, truth or whole; `fill` what is in it, if anything."""

    name: str
    shape: tuple[Node, ...]
    kind: str = "real"
    fill: Node | None = None


@dataclass(frozen=True)
class View:
    """name = part, which shares its memory."""

    name: str
    part: Entry


@dataclass(frozen=True)
class For:
    """For each whole number from start to before stop, or down to it; `side` marks `prange`.

    `rows`: rows of arrays are taken out of the loop before it.
    """

    letter: str
    start: Node
    stop: Node
    body: tuple[Statement, ...]
    step: Node | None = None
    down: bool = False
    side: bool = False
    rows: bool = False


@dataclass(frozen=True)
class If:
    """The body where the condition holds, otherwise `other`."""

    condition: Node
    body: tuple[Statement, ...]
    other: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Return:
    """The function ends with a value."""

    value: Node


@dataclass(frozen=True)
class Break:
    """The innermost loop ends."""


@dataclass(frozen=True)
class Invoke:
    """A function that works on arrays in place; `support` says that files hold it."""

    function: str
    args: tuple[Node, ...]
    support: bool = True


Statement = Assign | Increase | Make | View | For | If | Break | Return | Invoke


@dataclass(frozen=True)
class Function:
    """A compiled function: its arguments by kind, its body, and how it is compiled."""

    name: str
    arrays: tuple[str, ...]
    wholes: tuple[str, ...]
    reals: tuple[str, ...]
    body: tuple[Statement, ...]
    summary: str = ""
    parallel: bool = False
    reals_of: str = ""  # the array whose type all numbers have
    returns: tuple[Node, ...] = ()
    gives: str = ""  # the type of what it returns in its body
    once: tuple[Statement, ...] = ()  # numbers in double precision, before all else
    numbers: tuple[str, ...] = ()  # in the arrays' type already, in one argument
    handed: bool = False  # that argument is handed on as it is, and the arrays are its last
    ordered: bool = False  # sums are in the order in which they are written
    inlined: bool = False  # it is compiled into those who call it
    apart: bool = False  # other threads go on while it runs
    called: bool = False  # it calls compiled functions and is not compiled
    quiet: bool = False  # what is no number is looked at by those who call it
    lengths: tuple[str, ...] = ()  # tuples as long as an axis, which is a number then, or empty

    @property
    def result(self) -> str:
        """The type of what it returns: numbers, or nothing."""
        if self.gives or len(self.returns) < 2:
            return self.gives or ("float" if self.returns else "None")
        return f"tuple[{', '.join(['float'] * len(self.returns))}]"


def statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement, those inside of others too."""
    for s in body:
        yield s
        if isinstance(s, For):
            yield from statements(s.body)
        elif isinstance(s, If):
            yield from statements(s.body)
            yield from statements(s.other)


def expressions(s: Statement) -> tuple[Node, ...]:
    """The expressions of a statement itself."""
    if isinstance(s, Assign | Increase):
        return s.target, s.value
    if isinstance(s, Return):
        return (s.value,)
    if isinstance(s, Make):
        return (*s.shape, *([] if s.fill is None else [s.fill]))
    if isinstance(s, View):
        return (s.part,)
    if isinstance(s, For):
        return tuple(x for x in (s.start, s.stop, s.step) if x is not None)
    if isinstance(s, If):
        return (s.condition,)
    return s.args if isinstance(s, Invoke) else ()


def rewritten(body: tuple[Statement, ...], change: Callable[[Node], Node]) -> tuple[Statement, ...]:
    """The body with every expression changed."""

    def on(x: Node | None) -> Node | None:
        return None if x is None else change(x)

    out: list[Statement] = []
    for s in body:
        if isinstance(s, Assign | Increase):
            out.append(replace(s, target=change(s.target), value=change(s.value)))
        elif isinstance(s, Return):
            out.append(Return(change(s.value)))
        elif isinstance(s, Make):
            out.append(replace(s, shape=tuple(map(change, s.shape)), fill=on(s.fill)))
        elif isinstance(s, View):
            part = change(s.part)
            assert isinstance(part, Entry)
            out.append(replace(s, part=part))
        elif isinstance(s, For):
            ends = {"start": change(s.start), "stop": change(s.stop), "step": on(s.step)}
            out.append(replace(s, body=rewritten(s.body, change), **ends))  # type: ignore[arg-type]
        elif isinstance(s, If):
            parts = rewritten(s.body, change), rewritten(s.other, change)
            out.append(If(change(s.condition), *parts))
        elif isinstance(s, Invoke):
            out.append(replace(s, args=tuple(map(change, s.args))))
        else:
            out.append(s)
    return tuple(out)


def support(functions: tuple[Function, ...]) -> tuple[str, ...]:
    """The support functions that the tree calls, each once."""
    found: list[str] = []
    for s in (s for f in functions for s in statements((*f.once, *f.body))):
        found += [s.function] if isinstance(s, Invoke) and s.support else []
        found += ["WORDS"] if isinstance(s, Make) and s.kind == "word" else []
        nodes = [x for e in expressions(s) for x in walk(e)]
        found += [x.name for x in nodes if isinstance(x, Call) and x.name.startswith("_")]
        found += [x.function for x in nodes if isinstance(x, Apply) and x.function.startswith("_")]
        found += ["_either" for x in nodes if isinstance(x, Select) and x.same]
    own = {f.name for f in functions}
    return tuple(x for x in dict.fromkeys(found) if x not in own)
