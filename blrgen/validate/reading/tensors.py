"""Vectors and matrices of any size: what the algebra of words can hold; the rest has sizes."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.ranks import T
from blrgen.validate.reading.algebra import expression
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.values import Num, Size, Tensor, Whole

Expr = Any


def unit() -> Tensor:
    """The identity, which a number in a sum of matrices is a multiple of."""
    return Tensor(sp.S.One, 2)


def _scalar(mc: Machine, x: Any) -> Expr:
    if not isinstance(x, Num | Whole):
        raise mc.sizes("a matrix and something else")
    return expression(mc.node(x), mc.symbols, {})


def tensor_binary(mc: Machine, op: str, a: Any, b: Any) -> Any:
    """Sums of the same rank, products with numbers, products of matrices."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if op in ("add", "sub") and a.rank == b.rank:
            return Tensor(a.expr + b.expr if op == "add" else a.expr - b.expr, a.rank)
        if op == "matmul" and a.rank == 2:
            return Tensor(a.expr * b.expr, b.rank)
        raise mc.sizes("a product of entries")
    if op == "mul" or (op == "div" and isinstance(a, Tensor)):
        x, c = (a, b) if isinstance(a, Tensor) else (b, a)
        factor = _scalar(mc, c)
        return Tensor(factor * x.expr if op == "mul" else x.expr / factor, x.rank)
    raise mc.sizes("a number added to every entry")


def tensor_attribute(mc: Machine, x: Tensor, name: str) -> Any:
    """The transpose of a matrix; the length of a vector."""
    if name == "T":
        if x.rank == 1:
            return x
        return x if x.expr.is_commutative else Tensor(T(x.expr), 2)
    if name == "shape" and x.rank == 1:
        return (Size(0),)
    if name == "size" and x.rank == 1:
        return Size(0)
    raise mc.sizes(f"the attribute {name} of a matrix")


def tensor_function(mc: Machine, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
    """len, products, solving."""
    if keywords:
        raise mc.sizes("a matrix of any size")
    if name == "len" and args[0].rank == 1:
        return Size(0)
    if name in ("numpy.dot", "numpy.matmul"):
        return tensor_binary(mc, "matmul", *args)
    if name in ("numpy.linalg.inv", "scipy.linalg.inv") and args[0].rank == 2:
        return Tensor(_inverse(args[0].expr), 2)
    solves = name in ("numpy.linalg.solve", "scipy.linalg.solve")
    if solves and all(isinstance(a, Tensor) for a in args) and args[0].rank == 2 and True:
        return Tensor(_inverse(args[0].expr) * args[1].expr, args[1].rank)
    if name in ("numpy.array", "numpy.asarray", "numpy.copy", "array.copy"):
        return args[0]
    raise mc.sizes(f"{name} of a matrix of any size")


def _inverse(e: Expr) -> Expr:
    return e**-1
