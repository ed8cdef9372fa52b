"""Defaults of constants → expressions of a constructor.

    const V0 in SPD(d) = 2*eye(d)     V0 = np.multiply(2.0, np.eye(_extent("d", self.sizes)))
    const nu0 in (d - 1, oo) = d      nu0 = _extent("d", self.sizes)

Sizes are those that arrays have shown by then; other constants are those that are kept already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from blrgen.emit.tree import classes as c
from blrgen.errors import UserError
from blrgen.program.model.values import Argument
from blrgen.read.model.values import (
    Call,
    Expr,
    MatrixProduct,
    Negation,
    Number,
    Power,
    Product,
    Ref,
    Size,
    SizeOf,
    Sum,
)

FUNCTIONS = {"exp": "exp", "log": "log", "sqrt": "sqrt", "inv": "linalg.inv", "diag": "diag",
             "sum": "sum", "transpose": "transpose"}  # fmt: skip


def in_order(arguments: Sequence[Argument]) -> list[Argument]:
    """What must be given first, then each default behind the constants that it reads."""
    ready = [x for x in arguments if x.default is None]
    left = [x for x in arguments if x.default is not None]
    while left:
        waiting = {x.called for x in left}
        free = [x for x in left if not set(_read(x.default)) & (waiting - {x.called})]
        if not free:
            return [*ready, *left]
        ready += free
        left = [x for x in left if x not in free]
    return ready


def _read(e: Expr | float | None) -> Iterator[str]:
    match e:
        case Ref(name=name):
            yield name
        case Negation(arg=arg):
            yield from _read(arg)
        case Sum(terms=parts) | Product(factors=parts) | Call(args=parts):
            for x in parts:
                yield from _read(x)
        case MatrixProduct(left=left, right=right) | Power(base=left, exponent=right):
            yield from _read(left)
            yield from _read(right)


def expression(e: Expr, kept: Mapping[str, c.Expression], sizes: c.Expression) -> c.Expression:
    """The value; `kept` are constants by their names in the model."""

    def of(x: Expr) -> c.Expression:
        match x:
            case Number(value=value):
                return c.Literal(float(value))
            case SizeOf(size=size):
                return extent(size, sizes)
            case Ref(name=name, indices=()) if name in kept:
                return kept[name]
            case Negation(arg=arg):
                return _numpy("negative", of(arg))
            case Sum(terms=terms):
                return _folded("add", [of(t) for t in terms])
            case Product(factors=factors):
                return _folded("multiply", [of(f) for f in factors])
            case MatrixProduct(left=left, right=right):
                return _numpy("matmul", of(left), of(right))
            case Power(base=base, exponent=exponent):
                return _numpy("power", of(base), of(exponent))
            case Call(function="eye", shape=shape):
                return _numpy("eye", extent(shape[0], sizes))
            case Call(function="zeros" | "ones" as name, shape=shape):
                return _numpy(name, c.Row(tuple(extent(s, sizes) for s in shape)))
            case Call(function=name, args=args) if name in FUNCTIONS:
                return _numpy(FUNCTIONS[name], *map(of, args))
        raise UserError("no class yet for a default like this one",
                        why="it is made of more than numbers, sizes and matrices",
                        how="leave the default out: the caller gives it")  # fmt: skip

    return of(e)


def extent(size: Size, sizes: c.Expression) -> c.Expression:
    """How large a size is."""
    if not size.name:
        return c.Literal(size.number)
    known = c.call("_extent", c.Literal(size.name), sizes)
    return _numpy("add", known, c.Literal(size.number)) if size.number else known


def _folded(name: str, values: list[c.Expression]) -> c.Expression:
    total, *rest = values
    for x in rest:
        total = _numpy(name, total, x)
    return total


def _numpy(name: str, *args: c.Expression) -> c.Expression:
    function: c.Expression = c.Use("np")
    for word in name.split("."):
        function = c.Attribute(function, word)
    return c.Invoked(function, args)
