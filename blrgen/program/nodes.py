"""Expressions: immutable trees with exact constants.

Every node lists its children in `children` and can be rebuilt from new ones with
`rebuilt`, so that a pass needs to know only the nodes it rewrites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeGuard, TypeVar, overload

Value = TypeVar("Value")

# Functions of one argument, and of two or more, that every target can print.
UNARY = (
    "sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "tanh", "sinh", "cosh",
    "atanh", "abs", "sign", "floor", "softplus", "logistic", "logcosh2",
)  # fmt: skip
NARY = ("max", "min", "pow")
CALLS = UNARY + NARY
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class remembered(Generic[Value]):
    """A property that is computed once and kept; it takes no lock, as Python 3.11's own does."""

    def __init__(self, of: Callable[[Any], Value]) -> None:
        self.of, self.name, self.__doc__ = of, of.__name__, of.__doc__

    @overload
    def __get__(self, node: None, owner: type) -> remembered[Value]: ...
    @overload
    def __get__(self, node: object, owner: type) -> Value: ...
    def __get__(self, node: object | None, owner: type) -> remembered[Value] | Value:
        if node is None:
            return self
        found = node.__dict__[self.name] = self.of(node)
        return found


@dataclass(frozen=True)
class Node:
    """An expression; what is computed from its parts is computed once and kept.

    Nodes are equal when their classes and fields are.  Two that differ are told apart by
    their hashes, which each node remembers, so that comparing and looking up a tree does not
    walk it.
    """

    def __init_subclass__(cls) -> None:
        """Keep a dataclass from writing its own, which would walk the tree every time."""
        super().__init_subclass__()
        cls.__eq__ = Node.__eq__  # type: ignore[method-assign]
        cls.__hash__ = Node.__hash__  # type: ignore[method-assign]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Node) or type(self) is not type(other):
            return NotImplemented
        return self._hash == other._hash and self._fields == other._fields

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Node], tuple[object, ...]]:
        return type(self), self._fields  # what is remembered holds in one process only

    @property
    def _fields(self) -> tuple[object, ...]:
        own: tuple[str, ...] = self.__match_args__
        return tuple(getattr(self, name) for name in own)

    @remembered
    def _hash(self) -> int:
        return hash((type(self).__name__, self._fields))

    @remembered
    def children(self) -> tuple[Node, ...]:
        found: list[Node] = []
        for value in self._fields:
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += [v for v in value if isinstance(v, Node)]
        return tuple(found)

    @remembered
    def weight(self) -> int:
        """How many nodes the tree has."""
        return 1 + sum(c.weight for c in self.children)

    @remembered
    def names(self) -> tuple[str, ...]:
        """The names the tree reads, each once, in order of first use."""
        return tuple(dict.fromkeys(x for c in self.children for x in c.names))

    @remembered
    def refs(self) -> tuple[Ref, ...]:
        """The references in the tree, those inside of indices too, children before parents."""
        own = (self,) if isinstance(self, Ref) else ()
        return (*(x for c in self.children for x in c.refs), *own)

    def rebuilt(self, change: Callable[[Node], Node]) -> Node:
        """The node with `change` applied to each child; itself where no child changes."""
        own = self.children
        made = [change(c) for c in own]
        if all(a is b for a, b in zip(made, own, strict=True)):
            return self
        new = iter(made)
        return type(self)(*(
            next(new) if isinstance(value, Node)
            else tuple(next(new) if isinstance(v, Node) else v for v in value)
            if isinstance(value, tuple) else value
            for value in self._fields
        ))  # fmt: skip


@dataclass(frozen=True)
class Const(Node):
    """An exact rational number."""

    value: Fraction

    @staticmethod
    def of(value: int | Fraction) -> Const:
        return Const(Fraction(value))


@dataclass(frozen=True)
class Named(Node):
    """π or e: a number known by its name."""

    name: str


@dataclass(frozen=True)
class Ref(Node):
    """A quantity or an earlier statement's result; with indices an entry of it."""

    name: str
    index: tuple[Node, ...] = ()

    @remembered
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, *(x for i in self.index for x in i.names))))

    @remembered
    def weight(self) -> int:
        """An entry is read at once."""
        return 1


@dataclass(frozen=True)
class Add(Node):
    """The sum of two or more terms."""

    args: tuple[Node, ...]


@dataclass(frozen=True)
class Sub(Node):
    """left − right."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Mul(Node):
    """The product of two or more factors, entry by entry; a matrix is scaled by numbers only."""

    args: tuple[Node, ...]


@dataclass(frozen=True)
class Div(Node):
    """top / bottom."""

    top: Node
    bottom: Node


@dataclass(frozen=True)
class Neg(Node):
    """−arg."""

    arg: Node


@dataclass(frozen=True)
class Pow(Node):
    """base to a fixed integer power of at least 2."""

    base: Node
    exponent: int


@dataclass(frozen=True)
class Call(Node):
    """One of `CALLS` applied entry by entry."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True)
class Compare(Node):
    """A truth value."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Select(Node):
    """`yes` where the condition holds, `no` elsewhere; `same`: both are one number."""

    condition: Node
    yes: Node
    no: Node
    same: bool = False


ZERO, ONE, TWO, HALF = Const.of(0), Const.of(1), Const.of(2), Const(Fraction(1, 2))
LEAVES = (Const, Named, Ref)


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, children before parents."""
    todo = [(node, False)]
    while todo:
        at, opened = todo.pop()
        if opened or not at.children:
            yield at
            continue
        todo.append((at, True))
        todo += [(c, False) for c in reversed(at.children)]


def names(node: Node) -> tuple[str, ...]:
    """The names the tree reads, each once, in order of first use."""
    return node.names


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """Rewrite from the leaves upwards."""
    return change(node.rebuilt(lambda child: transform(child, change)))


def substituted(node: Node, values: dict[str, Node]) -> Node:
    """The tree with symbols replaced."""
    return transform(node, lambda n: values.get(n.name, n) if isinstance(n, Ref) else n)


def size(node: Node) -> int:
    """How many nodes."""
    return node.weight


def add(*args: Node) -> Node:
    """A sum without zeros, nested sums, or a sum of one."""
    flat: list[Node] = []
    for a in args:
        flat += a.args if isinstance(a, Add) else (() if a == ZERO else (a,))
    return ZERO if not flat else flat[0] if len(flat) == 1 else Add(tuple(flat))


def mul(*args: Node) -> Node:
    """A product without ones, nested products, or a product of one."""
    flat: list[Node] = []
    for a in args:
        flat += a.args if isinstance(a, Mul) else (() if a == ONE else (a,))
    return ONE if not flat else flat[0] if len(flat) == 1 else Mul(tuple(flat))


def div(top: Node, bottom: Node) -> Node:
    """A quotient, or the numerator when divided by one."""
    return top if bottom == ONE else Div(top, bottom)


def neg(arg: Node) -> Node:
    """The negative, without double negation."""
    if isinstance(arg, Neg):
        return arg.arg
    return Const(-arg.value) if isinstance(arg, Const) else Neg(arg)


def sqrt(arg: Node) -> Node:
    """The square root."""
    return Call("sqrt", (arg,))


def is_name(node: Node | None, name: str) -> bool:
    """Whether it is a quantity as it is, whole or at its own letters."""
    return isinstance(node, Ref) and node.name == name


def is_root(node: Node) -> TypeGuard[Call]:
    """Whether it is a square root."""
    return isinstance(node, Call) and node.name == "sqrt"
