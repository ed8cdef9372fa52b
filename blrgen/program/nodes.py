"""Expressions: immutable trees with exact constants.

Every node lists its children in `children` and can be rebuilt from new ones with
`rebuilt`, so that a pass needs to know only the nodes it rewrites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction

# Functions of one argument, and of two or more, that every target can print.
UNARY = (
    "sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "tanh", "sinh", "cosh",
    "atanh", "abs", "sign", "floor", "softplus", "logistic", "logcosh2",
)  # fmt: skip
NARY = ("max", "min", "pow")
CALLS = UNARY + NARY
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Node:
    """An expression."""

    @property
    def children(self) -> tuple[Node, ...]:
        found: list[Node] = []
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += [v for v in value if isinstance(v, Node)]
        return tuple(found)

    def rebuilt(self, change: Callable[[Node], Node]) -> Node:
        """The same node with `change` applied to each child."""
        new: dict[str, object] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Node):
                new[f.name] = change(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Node):
                new[f.name] = tuple(change(v) for v in value)
        return replace(self, **new) if new else self


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
class Sym(Node):
    """A variable of the program or an earlier statement's result."""

    name: str


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
    """The product of two or more factors; a vector or matrix is scaled by scalars only."""

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


@dataclass(frozen=True)
class MatMul(Node):
    """left · right, of matrices and column vectors."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Factor(Node):
    """The lower triangular L with L Lᵀ = arg, which is symmetric positive definite."""

    arg: Node


@dataclass(frozen=True)
class Solve(Node):
    """arg⁻¹ · right, by factorisation and substitution; `arg` may be a `Factor`."""

    arg: Node
    right: Node


@dataclass(frozen=True)
class HalfSolve(Node):
    """L⁻ᵀ · right with arg = L Lᵀ: a root of arg⁻¹ times `right`."""

    arg: Node
    right: Node


@dataclass(frozen=True)
class HalfProduct(Node):
    """L · right with arg = L Lᵀ: the matching root of arg, arg · L⁻ᵀ = L."""

    arg: Node
    right: Node


@dataclass(frozen=True)
class Transpose(Node):
    """argᵀ."""

    arg: Node


@dataclass(frozen=True)
class Outer(Node):
    """left rightᵀ of two column vectors."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Identity(Node):
    """The identity of a symbolic size."""

    size: str


@dataclass(frozen=True)
class Trace(Node):
    """The sum of the diagonal."""

    arg: Node


@dataclass(frozen=True)
class Dot(Node):
    """leftᵀ right of two column vectors."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Symmetrize(Node):
    """(arg + argᵀ)/2."""

    arg: Node


@dataclass(frozen=True)
class Total(Node):
    """The sum of an array's elements: a number."""

    arg: Node


@dataclass(frozen=True)
class LogTotal(Node):
    """log(Σ exp(arg) + exp(more)), of numbers that may be large; `more` may be absent."""

    arg: Node
    more: Node | None = None


@dataclass(frozen=True)
class Count(Node):
    """How many elements an array has, and `more`; `label` is what the rule calls that."""

    arg: Sym
    more: int = 0
    label: str = "d"


ZERO, ONE, TWO, HALF = Const.of(0), Const.of(1), Const.of(2), Const(Fraction(1, 2))
LEAVES = (Const, Named, Sym, Identity)
MATRIX_NODES = (
    MatMul,
    Factor,
    Solve,
    HalfSolve,
    HalfProduct,
    Transpose,
    Outer,
    Trace,
    Dot,
    Symmetrize,
)
OVER_COMPONENTS = (Total, LogTotal, Count)  # numbers made from a whole array


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, children before parents."""
    for child in node.children:
        yield from walk(child)
    yield node


def names(node: Node) -> tuple[str, ...]:
    """The names the tree reads, each once, in order of first use."""
    return tuple(dict.fromkeys(n.name for n in walk(node) if isinstance(n, Sym)))


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """Rewrite from the leaves upwards."""
    return change(node.rebuilt(lambda child: transform(child, change)))


def substituted(node: Node, values: dict[str, Node]) -> Node:
    """The tree with symbols replaced."""
    return transform(node, lambda n: values.get(n.name, n) if isinstance(n, Sym) else n)


def size(node: Node) -> int:
    """How many nodes."""
    return sum(1 for _ in walk(node))


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


def transposed(arg: Node) -> Node:
    """The transpose, without a double one."""
    return arg.arg if isinstance(arg, Transpose) else Transpose(arg)


def sqrt(arg: Node) -> Node:
    """The square root."""
    return Call("sqrt", (arg,))
