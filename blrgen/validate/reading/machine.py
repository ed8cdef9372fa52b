"""What a reading keeps while it goes: the graph, decisions, sizes that constants met, effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from blrgen.limits import CODE_STATEMENTS as MAX_STATEMENTS
from blrgen.limits import DECISIONS as MAX_DECISIONS
from blrgen.limits import VALUES as HEAVIEST
from blrgen.validate.reading.graph import Graph, Node
from blrgen.validate.reading.signals import NeedsSizes, PythonRaises, Refused, Unchecked
from blrgen.validate.reading.values import (
    CARRIED,
    Array,
    Cond,
    Index,
    List,
    Mark,
    Num,
    Rank,
    Several,
    Size,
    Text,
    Whole,
    root,
)

MOST_SHOWN = 200_000  # entries of arrays that are kept to find the line that is wrong


@dataclass
class Bounds:
    """What constants say of the lengths at which the code can change its behaviour."""

    threshold: int = 0
    period: int = 1
    axes: int = 0  # the largest number that a number of axes was compared with

    def meets(self, mark: Mark, constant: int) -> None:
        """A length, or what was made of it, is held against a constant."""
        self.threshold = max(self.threshold, mark.scale * (abs(constant) + 1) + mark.offset)

    def repeats(self, stride: int) -> None:
        """A stride, a block or a divisor."""
        self.period = min(lcm(self.period, max(1, abs(stride))), 10**6)

    def largest(self, least: int) -> int:
        """The length up to which every behaviour shows."""
        if self.period == 1:
            return max(least, self.threshold + 2)
        return max(least, self.threshold + 3 * self.period + 2)


@dataclass
class Loop:
    """A loop over an axis of any size, whose body is read once."""

    axis: int
    inside: bool = True
    stored: set[int] = field(default_factory=set)  # memory stored to at [i]
    whole: set[int] = field(default_factory=set)  # memory read as a whole
    rows: set[int] = field(default_factory=set)  # memory of which a row [i] was taken


@dataclass
class Machine:
    """One reading: of one path, at one rank or size."""

    graph: Graph
    generic: bool
    decide: Callable[[Node], bool | None]  # by the domains
    matrix: bool = False
    oracle: Callable[[Node], bool] | None = None  # at numbers: what a condition is there
    given: list[bool] = field(default_factory=list)  # decisions to take
    taken: list[bool] = field(default_factory=list)
    path: list[tuple[Node, bool]] = field(default_factory=list)
    bounds: Bounds = field(default_factory=Bounds)
    effects: list[Node] = field(default_factory=list)  # what must be defined though unused
    written: set[int] = field(default_factory=set)  # memory written to
    loops: list[Loop] = field(default_factory=list)
    depth: int = 0  # of loops whose turns are as many as a length says
    notes: set[str] = field(default_factory=set)
    records: list[tuple[int, str, Any]] = field(default_factory=list)
    line: int = 0
    statements: int = 0
    ambiguous: bool = False  # the truth value of an array was asked for
    kept: list[np.ndarray] = field(default_factory=list)
    compiled: int = 0  # calls of compiled functions that are being read
    calls: int = 0  # calls inside calls
    used: set[str] = field(default_factory=set)  # names of the table
    active: list[Any] = field(default_factory=list)  # the functions that are being read
    symbols: dict[str, Any] = field(default_factory=dict)  # of scalars, for words
    racing: bool = False  # parallel loops are read turn by turn, for what they would raise
    shown: int = 0  # entries of arrays that are kept in `records`
    changes: int = 0  # of arrays, lists and dictionaries
    since: int = -1  # iterators made before this one are from outside a loop that is read once
    growing: list[Any] = field(default_factory=list)  # lists that a loop has made longer

    # ends --------------------------------------------------------------------------------
    def refuse(self, what: str) -> Refused:
        return Refused(what, self.line)

    def sizes(self, what: str) -> NeedsSizes:
        return NeedsSizes(what, self.line)

    def raises(self, what: str, *, unchecked: bool = False) -> Exception:
        """Python raises here; compiled code does not where it is `unchecked`, so it is refused."""
        if self.compiled and unchecked:
            return Unchecked(f"{what} in compiled code", self.line)
        return PythonRaises(what, self.line)

    def spend(self, n: int = 1) -> None:
        """Count statements and turns."""
        self.statements += n
        if self.statements > MAX_STATEMENTS:
            raise self.refuse(f"more than {MAX_STATEMENTS:,} statements")

    def weighed(self, items: Any) -> Any:
        """A tuple or a list of few values, those of tuples inside it among them."""
        stack, count = [items], 0
        while stack:
            x = stack.pop()
            count += 1
            if count > HEAVIEST:
                raise self.refuse(f"a tuple or a list of more than {HEAVIEST:,} values")
            if isinstance(x, tuple | list):
                stack.extend(x[: HEAVIEST + 1])
            elif isinstance(x, List):
                stack.extend(x.items[: HEAVIEST + 1])
        self.spend(count // 8)
        return items

    # numbers ---------------------------------------------------------------------------
    def number(self, x: Fraction | int) -> Num:
        return Num(self.graph.number(Fraction(x)))

    def node(self, x: Any) -> Node:
        """A value as a node: a truth value is 0 or 1."""
        if isinstance(x, Num):
            return x.node
        if isinstance(x, Whole):
            return self.graph.counted(x.value) if x.mark else self.graph.number(x.value)
        if isinstance(x, Cond):
            return self.as_number(x.node)
        if isinstance(x, Array) and x.rank == 0:
            return self.as_number(x.data.item())
        if isinstance(x, Size | Index):
            raise self.sizes("a length as a number")
        raise self.refuse(f"{self.called(x)} as a number")

    def as_number(self, n: Node) -> Node:
        if not n.is_truth:
            return n
        return self.graph.case(n, self.graph.number(1), self.graph.number(0))

    def counted(self, *values: Any) -> bool:
        """Whether a number may be a length in disguise."""
        return any(
            (isinstance(x, Num | Cond) and x.counted) or (isinstance(x, Whole) and bool(x.mark))
            for x in values
        )

    def called(self, x: Any) -> str:
        """What a value is, in words."""
        known = {"Array": "an array", "Text": "a word", "tuple": "a tuple", "List": "a list",
                 "Dict": "a dictionary", "NoneType": "None", "Cond": "a truth value",
                 "Function": "a function", "Num": "a number", "Whole": "a whole number",
                 "Known": "a name of a module", "Unusable": "a value of the module that can change",
                 "Slice": "a slice", "Size": "a length",
                 "Rank": "a number of axes"}  # fmt: skip
        return known.get(type(x).__name__, type(x).__name__.lower())

    def carried(self, x: Any) -> Any:
        """What a loop has made: a known number may be a count of its turns."""
        if not self.depth:
            return x
        if isinstance(x, Whole) and x.mark is None:
            return Whole(x.value, CARRIED)
        if isinstance(x, Num) and x.node.number is not None:
            return Num(x.node, True)
        if type(x) is tuple:
            return tuple(self.carried(v) for v in x)
        return x

    def integral(self, *values: Any) -> bool:
        """Whether all are whole numbers by their type."""
        return all(
            isinstance(x, Whole | Cond) or (isinstance(x, Num) and x.integral) for x in values
        )

    def grown(self, x: Any) -> bool:
        """Whether a loop has made a list longer."""
        return any(x is y for y in self.growing)

    # conditions ------------------------------------------------------------------------
    def truth(self, x: Any) -> bool:
        """The truth value of a value in `if`, `while`, `assert`: decided, or both ways."""
        if isinstance(x, Cond):
            return self.branch(x.node, x.counted)
        if x is None:
            return False
        if isinstance(x, Whole):
            if x.mark:
                self.compared(x, Whole(0))
            return x.value != 0
        if isinstance(x, Num):
            zero = self.graph.number(0)
            return self.branch(self.graph.compare("ne", x.node, zero), x.counted)
        if isinstance(x, Array):
            if x.generic or x.data.size > 1:
                self.ambiguous = True
                raise self.raises("the truth value of an array")
            n = x.data.reshape(-1)[0]
            if not n.is_truth:
                n = self.graph.compare("ne", n, self.graph.number(0))
            return self.branch(n, True)
        if isinstance(x, Text):
            return bool(x.text)
        if isinstance(x, Rank):
            self.bounds.axes = max(self.bounds.axes, 1)
            return x.value != 0
        if isinstance(x, tuple) and (self.generic or not isinstance(x, Several)):
            return bool(x)
        if isinstance(x, List) and not self.depth and (self.generic or x.plain):
            return bool(x.items)
        raise self.refuse(f"{self.called(x)} as a truth value")

    def branch(self, c: Node, counted: bool) -> bool:
        """A condition decided: by numbers, by the domains, as before on this path, or both ways."""
        if c.op == "not":
            return not self.branch(c.args[0], counted)
        if c.op == "and":
            return self.branch(c.args[0], counted) and self.branch(c.args[1], counted)
        if c.op == "truth":
            return bool(c.data)
        known = plain_truth(c)
        if known is not None:
            if counted:
                raise self.refuse("a condition on what a loop or a sum has counted")
            self.decide(c)  # which refuses what rounding decides
            return known
        if self.oracle is not None:
            return self.oracle(c)
        self.needs(c)
        for seen, value in self.path:
            if seen is c:
                return value
        known = self.decide(c)
        if known is not None:
            return known
        if len(self.taken) >= MAX_DECISIONS:
            raise self.refuse(f"more than {MAX_DECISIONS} conditions in a row")
        k = len(self.taken)
        value = self.given[k] if k < len(self.given) else True
        self.taken.append(value)
        self.path.append((c, value))
        return value

    def needs(self, c: Node) -> None:
        """What is compared must have a value: with none, every comparison fails."""
        if c.op in ("not", "and"):
            for a in c.args:
                self.needs(a)
        else:
            self.effects += [a for a in c.args if a.number is None]

    # lengths ---------------------------------------------------------------------------
    def compared(self, a: Whole, b: Whole) -> None:
        """Two whole numbers meet: what that says of the lengths to be read."""
        for x, y in ((a, b), (b, a)):
            if x.mark is None:
                continue
            if x.mark.kind == "carried":
                raise self.refuse("a condition on what a loop has counted")
            if y.mark is None:
                self.bounds.meets(x.mark, y.value)
            else:
                self.bounds.meets(
                    Mark("length", x.mark.scale * y.mark.scale, 0), x.mark.offset + y.mark.offset
                )

    def position(self, x: Whole) -> int:
        """An index, a slice's end or a size, on an axis that may be of any length."""
        if x.mark is None:
            self.bounds.meets(Mark(), x.value)
        elif x.mark.kind == "carried":
            raise self.refuse("an index that a loop has counted")
        else:
            self.bounds.meets(x.mark, 0)
        return x.value

    # arrays ------------------------------------------------------------------------------
    def array(self, data: Any, kind: str = "f", axes: tuple[int, ...] | None = None) -> Array:
        return Array(np.asarray(data, dtype=object), kind, axes)

    def touch(self, x: Array) -> None:
        """An array is read or changed as a whole: not in a loop that stores to it."""
        for loop in self.loops:
            if loop.axis in (x.axes or ()):
                loop.whole.add(self.remember(x))

    def remember(self, x: Array) -> int:
        """The memory of an array, kept so that no other takes its place."""
        self.kept.append(x.data)
        return root(x.data)

    def scalar(self, n: Node, kind: str = "f", counted: bool = False) -> Any:
        """An entry by itself."""
        return Cond(n, counted) if n.is_truth or kind == "b" else Num(n, counted, numpy=True)

    def entry(self, x: Array, n: Node) -> Any:
        """An entry that is read from an array: a number there may have been counted."""
        if x.kind == "i":
            known = n.number is not None and n.number.denominator == 1
            return Whole(int(n.number), CARRIED) if known else Num(n, True, True, True)  # type: ignore[arg-type]
        return self.scalar(n, x.kind, counted=n.number is not None or n.is_truth)


def plain_truth(c: Node) -> bool | None:
    """The truth value of a comparison of two numbers."""
    if c.op in ("lt", "le", "eq", "ne"):
        x, y = c.args[0].number, c.args[1].number
        if x is not None and y is not None:
            return {"lt": x < y, "le": x <= y, "eq": x == y, "ne": x != y}[c.op]
    return None
