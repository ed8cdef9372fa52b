"""Values as nodes of a shared graph: what is written is kept, nothing is cancelled.

A node is an operation on earlier nodes, made once for equal operations, so that sixty times
`x = x*(x + i)` is 120 nodes and every walk visits each of them once.  Numbers are exact, in the
decimal they are written in; only numbers are folded.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from blrgen.limits import OPERATIONS as MAX_NODES
from blrgen.validate.reading.signals import Refused

MAX_DIGITS = 400  # bits of a number that is folded
PLAIN = frozenset(
    {"number", "add", "sub", "mul", "div", "neg", "dot", "and", "or", "not", "case", "entry"}
)
ORDER = frozenset({"lt", "le", "eq", "ne"})
TRUTH = frozenset({"lt", "le", "eq", "ne", "and", "or", "not", "truth"})


class Node:
    """One operation; `index` is later than that of every argument, `line` where it was read.

    `count` says that a length, or a count of turns or of elements, may hide in its numbers.
    """

    __slots__ = ("args", "count", "data", "index", "line", "op")

    def __init__(
        self, op: str, args: tuple[Node, ...], data: Any, index: int, line: int,
        count: bool = False,
    ) -> None:  # fmt: skip
        self.op, self.args, self.data, self.index, self.line = op, args, data, index, line
        self.count = count

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.args))
        shown = "" if self.data is None else str(self.data)
        return f"{self.op}({shown}{inner})" if inner else shown or self.op

    @property
    def number(self) -> Fraction | None:
        """The number it is, if it is one."""
        return self.data if self.op == "number" else None

    @property
    def is_truth(self) -> bool:
        return self.op in TRUTH


class Block:
    """A matrix operation as a whole: its entries are nodes `entry` of it."""

    __slots__ = ("entries", "index", "line", "op", "order", "shape")

    def __init__(
        self, op: str, entries: tuple[Node, ...], order: int, shape: tuple[int, ...], line: int
    ) -> None:
        self.op, self.entries, self.order, self.shape = op, entries, order, shape
        self.line, self.index = line, -1


class Graph:
    """Where nodes are made; equal operations on equal nodes are one node."""

    def __init__(self) -> None:
        self.known: dict[Any, Node] = {}
        self.nodes: list[Node] = []
        self.blocks: dict[Any, Block] = {}
        self.line = 0
        self.elementwise = False  # what is read has nothing to do with other elements

    def make(
        self, op: str, args: Iterable[Node] = (), data: Any = None, *, count: bool = False
    ) -> Node:
        """The node of an operation; what is not a number stays as it is written."""
        args = tuple(args)
        key = (op, data, count, tuple(a.index for a in args))
        found = self.known.get(key)
        if found is None:
            if len(self.nodes) >= MAX_NODES:
                raise Refused(f"more than {MAX_NODES:,} operations", self.line)
            hidden = count or any(a.count for a in args)
            if hidden and _hides(op, args):
                raise Refused("a function of what may be a length", self.line)
            found = Node(op, args, data, len(self.nodes), self.line, hidden)
            self.known[key] = found
            self.nodes.append(found)
        return found

    def number(self, x: Fraction | int) -> Node:
        x = Fraction(x)
        if x.numerator.bit_length() + x.denominator.bit_length() > MAX_DIGITS:
            raise Refused("a number of more than a hundred digits", self.line)
        return self.make("number", data=x)

    def counted(self, x: Fraction | int) -> Node:
        """A number that may be a length, or a count of turns or of elements."""
        return self.make("number", data=self.number(x).data, count=True)

    def tallied(self, n: Node, parts: Iterable[Node], idle: int) -> Node:
        """A sum or a product of several numbers, other than `idle`, may count them.

        Elementwise rules have no sum over elements: there any of them may, as Σ (0·g + 1) does.
        """
        several = sum(1 for p in parts if p.number != idle) > 1
        if n.count or not several or not (self.elementwise or n.number is not None):
            return n
        return self.make(n.op, n.args, n.data, count=True)

    def symbol(self, name: str) -> Node:
        return self.make("symbol", data=name)

    def truth(self, x: bool) -> Node:
        return self.make("truth", data=x)

    def unknown(self) -> Node:
        """What stands in memory that nobody has written to; no two are the same."""
        return self.make("empty", data=len(self.nodes))

    # arithmetic -----------------------------------------------------------------------
    def arithmetic(self, op: str, a: Node, b: Node) -> Node:
        """add, sub, mul, div, pow of two nodes; of two numbers the number, where it is exact."""
        x, y = a.number, b.number
        if x is not None and y is not None:
            folded = _folded(op, x, y)
            if folded is not None:
                return self.counted(folded) if a.count or b.count else self.number(folded)
        return self.make(op, (a, b))

    def negative(self, a: Node) -> Node:
        if a.number is None:
            return self.make("neg", (a,))
        return self.counted(-a.number) if a.count else self.number(-a.number)

    def compare(self, op: str, a: Node, b: Node) -> Node:
        """lt, le, eq, ne; not decided here, even of numbers: a count may hide in them."""
        return self.make(op, (a, b))

    def negated(self, c: Node) -> Node:
        if c.op == "truth":
            return self.truth(not c.data)
        return c.args[0] if c.op == "not" else self.make("not", (c,))

    def both(self, a: Node, b: Node) -> Node:
        if a.op == "truth":
            return b if a.data else a
        if b.op == "truth":
            return a if b.data else b
        return self.make("and", (a, b))

    def either(self, a: Node, b: Node) -> Node:
        return self.negated(self.both(self.negated(a), self.negated(b)))

    def case(self, c: Node, a: Node, b: Node) -> Node:
        if c.op == "truth":
            return a if c.data else b
        return self.make("case", (c, a, b))

    # matrices ---------------------------------------------------------------------------
    def block(self, op: str, entries: Iterable[Node], order: int, shape: tuple[int, ...]) -> Block:
        """A matrix operation (inverse, solve, cholesky, determinant) on entries, row by row."""
        entries = tuple(entries)
        key = (op, tuple(e.index for e in entries), shape)
        if key not in self.blocks:
            self.blocks[key] = Block(op, entries, order, shape, self.line)
            self.blocks[key].index = len(self.blocks)
        return self.blocks[key]

    def entry(self, block: Block, k: int) -> Node:
        """Entry k of what a matrix operation gives."""
        key = ("entry", block.index, k)
        if key not in self.known:
            hidden = any(e.count for e in block.entries)
            node = Node("entry", block.entries, (block, k), len(self.nodes), self.line, hidden)
            self.known[key] = node
            self.nodes.append(node)
        return self.known[key]


def _hides(op: str, args: tuple[Node, ...]) -> bool:
    """Whether an operation can hide how it depends on a length from the lengths that are read.

    Sums, products and whole powers are polynomials in it, whose degree shows; a root, a
    logarithm, an order or a length in an exponent can be anything beyond those lengths.
    """
    if op in (
        "number",
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "dot",
        "and",
        "or",
        "not",
        "case",
        "entry",
    ):
        return False
    if op in ORDER and all(a.number is not None for a in args):
        return False  # a condition on numbers, which is looked at where it decides
    return not (op == "pow" and not args[1].count and args[1].number is not None
                and args[1].number.denominator == 1)  # fmt: skip


def _folded(op: str, x: Fraction, y: Fraction) -> Fraction | None:
    """x op y where that is an exact number."""
    if op == "add":
        return x + y
    if op == "sub":
        return x - y
    if op == "mul":
        return x * y
    if op == "div" and y:
        return x / y
    if op == "pow" and y.denominator == 1 and (x or y >= 0):
        size = max(x.numerator.bit_length(), x.denominator.bit_length())
        if size * abs(y.numerator) > 4 * MAX_DIGITS:
            raise Refused("a number of more than a hundred digits")
        return x**y.numerator
    return None


def reachable(roots: Iterable[Node]) -> list[Node]:
    """All nodes that the roots are made of, arguments first."""
    found: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        n = stack.pop()
        if n.index not in found:
            found[n.index] = n
            stack.extend(n.args)
    return [found[k] for k in sorted(found)]
