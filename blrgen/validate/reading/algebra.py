"""Nodes as SymPy expressions, for `decide`: SymPy may rewrite them, the graph does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sympy as sp

from blrgen.decide.functions import Larger, Smaller
from blrgen.validate.reading.graph import Node, reachable
from blrgen.validate.reading.signals import Refused

Expr = Any
LARGEST_TREE = 6_000  # of an expression whose shared parts are written out


def tree_size(n: Node) -> int:
    """How large the expression is with its shared parts written out."""
    sizes: dict[int, int] = {}
    for x in reachable([n]):
        sizes[x.index] = 1 + sum(sizes[a.index] for a in x.args)
    return sizes[n.index]


def expression(n: Node, symbols: dict[str, Expr], memo: dict[int, Expr]) -> Expr:
    """The expression of a node in the given symbols."""
    if n.index not in memo:
        if tree_size(n) > LARGEST_TREE:
            raise Refused("an expression too large for a normal form", n.line)
        for x in reachable([n]):
            if x.index not in memo:
                memo[x.index] = _made(x, [memo[a.index] for a in x.args], symbols)
    return memo[n.index]


def _made(n: Node, args: list[Expr], symbols: dict[str, Expr]) -> Expr:
    if n.op == "number":
        return sp.Rational(n.data.numerator, n.data.denominator)
    if n.op == "symbol":
        return symbols[n.data]
    if n.op == "constant":
        return sp.pi if n.data == "pi" else sp.E
    if n.op == "truth":
        return sp.true if n.data else sp.false
    if n.op == "empty":
        return sp.Symbol(f"unwritten_{n.index}", real=True)
    if n.op == "entry":
        raise Refused("linear algebra in an elementwise rule", n.line)
    return MADE[n.op](*args)


def _case(c: Expr, a: Expr, b: Expr) -> Expr:
    return sp.Piecewise((a, c), (b, True))


def _eq(a: Expr, b: Expr) -> Expr:
    return sp.Eq(a, b)


def _cbrt(x: Expr) -> Expr:
    return sp.sign(x) * sp.Abs(x) ** sp.Rational(1, 3)


MADE: dict[str, Callable[..., Expr]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "neg": lambda a: -a, "pow": lambda a, b: a**b,
    "sqrt": sp.sqrt, "cbrt": _cbrt, "exp": sp.exp, "log": sp.log, "abs": sp.Abs, "sign": sp.sign,
    "tanh": sp.tanh, "sinh": sp.sinh, "cosh": sp.cosh, "atanh": sp.atanh, "sin": sp.sin,
    "cos": sp.cos, "max": Larger, "min": Smaller, "case": _case,
    "dot": lambda *v: sp.Add(*[a * b for a, b in zip(v[::2], v[1::2], strict=True)]),
    "lt": lambda a, b: sp.Lt(a, b), "le": lambda a, b: sp.Le(a, b), "eq": _eq,
    "ne": lambda a, b: sp.Ne(a, b), "not": sp.Not, "and": sp.And,
}  # fmt: skip


def names_in(roots: Iterable[Node]) -> set[str]:
    """The symbols that values are made of."""
    return {x.data for x in reachable(roots) if x.op == "symbol"}
