"""Functions in a model's expressions: what their arguments must be, what they make.

Functions of numbers are taken component by component of a vector.  zeros, ones and eye take
sizes; diag(v) is the matrix with v on its diagonal; last(p) the last component.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.read.functions import FUNCTIONS
from blrgen.read.model import raw
from blrgen.read.model.mistakes import every
from blrgen.read.model.unify import shape_words
from blrgen.read.model.values import Call, Expr, Place, Shape, Size, SizeOf

if TYPE_CHECKING:
    from blrgen.read.model.expressions import Resolver

MODEL_FUNCTIONS = ("zeros", "ones", "eye", "diag", "sum", "last")
_FILLED = {"zeros": (1, 2), "ones": (1, 2), "eye": (1, 1)}


def call(reader: Resolver, e: raw.RawCall) -> Expr:
    """A call with its arguments resolved and its shape."""
    if e.function in _FILLED:
        return _filled(reader, e)
    args = _arguments(reader, e)
    ranks, name = [len(a.shape) for a in args], e.function
    match name:
        case "diag":
            _need(reader, e, args, (1,))
            return Call(name, tuple(args), (args[0].shape[0],) * 2, e.place)
        case "sum" | "prod" | "last":
            _need(reader, e, args, (1,))
            return Call(name, tuple(args), (), e.place)
        case "head":
            _need(reader, e, args, (1,))
            size = args[0].shape[0]
            return Call(name, tuple(args), (Size(size.name, size.number - 1),), e.place)
        case "dot":
            _need(reader, e, args, (1, 1))
            _same(reader, args[1].place, args[0].shape[0], args[1].shape[0], args)
            return Call(name, tuple(args), (), e.place)
        case "outer":
            _need(reader, e, args, (1, 1))
            return Call(name, tuple(args), (args[0].shape[0], args[1].shape[0]), e.place)
        case "transpose":
            _need(reader, e, args, (2,))
            return Call(name, tuple(args), args[0].shape[::-1], e.place)
        case "inv" | "trace" | "logdet":
            _need(reader, e, args, (2,))
            _same(reader, args[0].place, args[0].shape[0], args[0].shape[1], args)
            return Call(name, tuple(args), args[0].shape if name == "inv" else (), e.place)
    if max(ranks) > 1:
        at = ranks.index(max(ranks))
        reader.wrong("size", args[at].place, f"{name} takes numbers, component by component, "
                     f"not {reader.words(args[at].shape)}")  # fmt: skip
    shape: Shape = ()
    for a in args:
        shape = reader.met(shape, a, [], "arguments of one function")
    return Call(name, tuple(args), shape, e.place)


def _arguments(reader: Resolver, e: raw.RawCall) -> list[Expr]:
    args = every(reader.read, e.args)
    known = FUNCTIONS.get(e.function)
    most = len(known.arguments) if known else 1
    least = most - (known.optional if known else 0)
    if not least <= len(args) <= most:
        wants = f"{least} or {most}" if least < most else f"{most}"
        reader.wrong("arguments", e.place, f"{e.function} takes {wants} "
                     f"argument{'s' if most > 1 else ''}, not {len(args)}")  # fmt: skip
    return args


def _filled(reader: Resolver, e: raw.RawCall) -> Expr:
    """zeros(p), ones(p, q), eye(p)."""
    least, most = _FILLED[e.function]
    if not least <= len(e.args) <= most:
        wants = "a size" if most == 1 else "a size or two"
        reader.wrong("arguments", e.place, f"{e.function} takes {wants}, not {len(e.args)}")
    sizes = [_size(reader, e.function, a) for a in e.args]
    shape = tuple(sizes) if e.function != "eye" else (sizes[0],) * 2
    args = tuple(SizeOf(s, (), a.place) for s, a in zip(sizes, e.args, strict=True))
    return Call(e.function, args, shape, e.place)


def _size(reader: Resolver, function: str, e: raw.RawExpr) -> Size:
    """A size as an argument: p, p + 1 or 3."""
    change, at = 0, e
    if isinstance(e, raw.RawOps) and e.additive and len(e.parts) == 2:
        (_, first), (sign, second) = e.parts
        if isinstance(second, raw.RawNumber) and second.value.denominator == 1:
            change, at = int(second.value) * (1 if sign == "+" else -1), first
    if isinstance(at, raw.RawRef) and not at.indices:
        if at.name in reader.scope.entries or at.name in reader.scope.axes:
            what = "an index" if at.name in reader.scope.axes else "a value"
            reader.wrong("size", at.place, f"{at.name} is {what}, not a size",
                         how=f"write {function}(p) with the p of R^p")  # fmt: skip
        return reader.scope.size(raw.RawSize(at.name, change, at.place))
    if isinstance(at, raw.RawNumber) and at.value.denominator == 1 and at is e:
        return reader.scope.size(raw.RawSize("", int(at.value), at.place))
    reader.wrong("size", e.place, f"{function} takes a size",
                 how=f"write {function}(p) or {function}(3)")  # fmt: skip


_RANK = {1: "a vector", 2: "a matrix"}


def _need(reader: Resolver, e: raw.RawCall, args: list[Expr], ranks: tuple[int, ...]) -> None:
    for a, rank in zip(args, ranks, strict=True):
        if len(a.shape) != rank:
            how = ""
            if e.function == "dot" and not a.shape:
                how = "write * for a product of numbers"
            elif e.function == "transpose":
                how = "a vector has no transpose: write dot(x, y) or outer(x, y)"
            reader.wrong("size", a.place, f"{e.function} takes {_RANK[rank]}, not "
                         f"{reader.words(a.shape)}", how=how)  # fmt: skip


def _same(reader: Resolver, place: Place, a: Size, b: Size, args: list[Expr]) -> None:
    if not reader.scope.sizes.same(a, b):
        both = " and ".join(shape_words(reader.scope.sizes.shape(x.shape)) for x in args)
        reader.wrong("size", place, f"the sizes {reader.scope.sizes.find(a)} and "
                     f"{reader.scope.sizes.find(b)} must be one", why=f"given: {both}")  # fmt: skip
