"""Vectors and matrices whole, as a rule is read: what is made of them before their entries are.

The entries of all of these are `blrgen.program.axes.nodes`; no pass sees one.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.program.nodes import Node, Ref


@dataclass(frozen=True)
class MatMul(Node):
    """left · right, of matrices and column vectors."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Solve(Node):
    """arg⁻¹ · right, by factorisation and substitution."""

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

    arg: Ref
    more: int = 0
    label: str = "d"


MATRIX_NODES = (
    MatMul,
    Solve,
    HalfSolve,
    HalfProduct,
    Transpose,
    Outer,
    Trace,
    Symmetrize,
)
OVER_COMPONENTS = (Total, LogTotal, Count)  # numbers made from a whole array


def transposed(arg: Node) -> Node:
    """The transpose, without a double one."""
    return arg.arg if isinstance(arg, Transpose) else Transpose(arg)
