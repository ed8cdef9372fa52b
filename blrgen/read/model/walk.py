"""Walking through expressions and distributions."""

from __future__ import annotations

from collections.abc import Iterator

from blrgen.read.model.values import (
    Call,
    Choose,
    Distribution,
    Draw,
    Expr,
    Label,
    MatrixProduct,
    Negation,
    Point,
    Power,
    Product,
    Ref,
    Sum,
)


def children(e: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside; those in indices are not among them."""
    match e:
        case Sum(terms=inside) | Product(factors=inside) | Call(args=inside):
            return inside
        case MatrixProduct(left=left, right=right):
            return (left, right)
        case Power(base=base, exponent=exponent):
            return (base, exponent)
        case Negation(arg=arg):
            return (arg,)
        case _:
            return ()


def refs(made: Distribution | Expr | Point) -> Iterator[Ref]:
    """Every reference in an expression or distribution, outer before inner, labels included."""
    match made:
        case Draw(arguments=arguments):
            for argument in arguments:
                yield from refs(argument.value)
        case Choose(label=label, branches=branches):
            yield from refs(label.ref)
            for branch in branches:
                yield from refs(branch)
        case Point(value=value):
            yield from refs(value)
        case Ref(indices=indices):
            yield made
            for index in indices:
                if isinstance(index, Label):
                    yield from refs(index.ref)
        case _:
            for child in children(made):
                yield from refs(child)
