"""Arithmetic on values: whole numbers with their marks, numbers, arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from blrgen.limits import LENGTH as LARGEST
from blrgen.limits import WHOLE as MAX_WHOLE
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.values import (
    CARRIED,
    Array,
    Cond,
    Lengths,
    List,
    Mark,
    Num,
    Picked,
    Several,
    Size,
    Tensor,
    Text,
    Whole,
)
from blrgen.validate.reading.whole import fits

NAMES = {"Add": "add", "Sub": "sub", "Mult": "mul", "Div": "div", "Pow": "pow",
         "FloorDiv": "floordiv", "Mod": "mod", "MatMult": "matmul"}  # fmt: skip


def binary(mc: Machine, op: str, a: Any, b: Any) -> Any:
    """a op b."""
    if isinstance(a, Picked) or isinstance(b, Picked):
        return _of_picked(mc, op, a, b)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        from blrgen.validate.reading.tensors import tensor_binary

        return tensor_binary(mc, op, a, b)
    if op == "matmul":
        from blrgen.validate.reading.linear import matmul

        return matmul(mc, a, b)
    if isinstance(a, Whole) and isinstance(b, Whole):
        return whole(mc, op, a, b)
    if op in ("floordiv", "mod"):
        if isinstance(a, Size) or isinstance(b, Size):
            raise mc.sizes("a part of a length")
        raise mc.refuse("// and % of what is no known whole number")
    if op in ("add", "mul") and (
        isinstance(a, tuple | List | Text) or isinstance(b, tuple | List | Text)
    ):
        return _sequences(mc, op, a, b)
    check_kinds(mc, op, a, b)
    _count_meets(mc, a, b)
    return apply(mc, lambda x, y: number_op(mc, op, x, y, a, b), a, b,
                 effect=op in ("div", "pow"), whole=_stays_whole(op, b))  # fmt: skip


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the very same entries."""
    return a.shape == b.shape and all(x is y for x, y in zip(a.flat, b.flat, strict=True))


def _of_picked(mc: Machine, op: str, a: Any, b: Any) -> Picked:
    """x[mask] op y[mask], or a number: at every entry, the condition staying beside it."""
    masks = [x.mask for x in (a, b) if isinstance(x, Picked)]
    if not same(masks[0], masks[-1]):
        raise mc.refuse("what two conditions select, in one operation")
    plain = [x.array if isinstance(x, Picked) else x for x in (a, b)]
    if op == "matmul" or not all(isinstance(x, Picked | Num | Whole) for x in (a, b)):
        raise mc.refuse("what a condition selects beside an array")
    return Picked(binary(mc, op, *plain), masks[0])


def _stays_whole(op: str, b: Any) -> bool:
    """Whether Python makes a whole number of two: not by /, nor by a power below zero."""
    if op == "pow":
        return (isinstance(b, Whole) and b.value >= 0) or (
            isinstance(b, Num) and b.node.op == "symbol"
        )
    return op != "div"


def _count_meets(mc: Machine, a: Any, b: Any) -> None:
    """A number that may be a length in disguise meets a constant."""
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Num) and x.counted and isinstance(y, Num | Whole):
            constant = mc.node(y).number
            if constant is not None:
                if abs(constant) > 10**6:
                    raise mc.refuse("a length that meets a large number")
                mc.bounds.meets(Mark(), int(abs(constant)) + 1)


def check_kinds(mc: Machine, op: str, a: Any, b: Any) -> None:
    """Arithmetic between truth values means something else in NumPy than in algebra."""
    truths = [isinstance(x, Cond) or (isinstance(x, Array) and x.kind == "b") for x in (a, b)]
    if all(truths) or (any(truths) and op not in ("add", "sub", "mul")):
        raise mc.refuse("arithmetic with truth values")
    if op == "pow" and mc.compiled and isinstance(a, Whole):
        raise mc.refuse("a power of a whole number in compiled code")
    whole_arrays = [isinstance(x, Array) and x.kind == "i" for x in (a, b)]
    if op == "pow" and any(whole_arrays):
        raise mc.refuse("a power of whole numbers in an array")


def number_op(mc: Machine, op: str, x: Node, y: Node, a: Any = None, b: Any = None) -> Node:
    """One entry of a op b."""
    g = mc.graph
    x, y = mc.as_number(x), mc.as_number(y)
    if op == "pow" and y.number is not None and abs(y.number) > 100:
        raise mc.refuse("a power beyond 100")
    if op == "pow" and mc.compiled and mc.integral(*[v for v in (a, b) if v is not None]):
        raise mc.refuse("a power of whole numbers in compiled code")
    root = y.number is not None and y.number.denominator != 1
    if op == "pow" and root and x.number is not None and x.number < 0:
        raise mc.refuse("a root of a negative number")
    if op == "div" and y.number == 0:
        raise mc.refuse("division by zero")
    return g.arithmetic(op, x, y)


def whole(mc: Machine, op: str, a: Whole, b: Whole) -> Any:
    """Whole numbers: marks say what the result has to do with a length."""
    x, y = a.value, b.value
    if op == "div":
        if y == 0:
            raise mc.raises("division by zero")
        return Num(mc.graph.arithmetic("div", mc.node(a), mc.node(b)),
                   bool(a.mark or b.mark))  # fmt: skip
    if op in ("floordiv", "mod"):
        if y == 0:
            raise mc.raises("division by zero")
        return Whole(x // y if op == "floordiv" else x % y, _divided(mc, op, a, b))
    if op == "pow":
        if y < 0:
            return Num(mc.graph.arithmetic("pow", mc.node(a), mc.node(b)),
                       bool(a.mark or b.mark))  # fmt: skip
        if abs(x) > 1 and y * x.bit_length() > 110:
            raise mc.refuse("a whole number beyond 10^30")
        _fits(mc, x**y, a, b)
        return Whole(x**y, CARRIED if a.mark or b.mark or mc.depth else None)
    value = {"add": x + y, "sub": x - y, "mul": x * y}[op]
    _fits(mc, value, a, b)
    return Whole(value, _combined(mc, op, a, b))


def _fits(mc: Machine, value: int, a: Whole, b: Whole) -> None:
    """Whole numbers of arrays and of compiled code, which carry a mark, have 64 bits."""
    if abs(value) > (2**62 if mc.compiled or a.mark or b.mark else MAX_WHOLE):
        raise mc.refuse("a whole number that is too large")


def _combined(mc: Machine, op: str, a: Whole, b: Whole) -> Mark | None:
    """The mark of a sum, a difference or a product."""
    if a.mark is None and b.mark is None:
        return CARRIED if mc.depth else None
    if CARRIED in (a.mark, b.mark):
        return CARRIED
    if a.mark is not None and b.mark is not None:
        if op == "mul":
            return CARRIED
        scale = a.mark.scale * b.mark.scale
        return Mark("length", scale, a.mark.offset * b.mark.scale + b.mark.offset * a.mark.scale)
    marked, constant = (a, b.value) if a.mark is not None else (b, a.value)
    assert marked.mark is not None
    m = marked.mark
    mc.bounds.meets(m, constant)
    return Mark("length", m.scale, m.offset + m.scale * abs(constant))


def _divided(mc: Machine, op: str, a: Whole, b: Whole) -> Mark | None:
    """The mark of a quotient or a remainder by a constant."""
    if a.mark is None and b.mark is None:
        return CARRIED if mc.depth else None
    if b.mark is not None or a.mark is None or a.mark.kind == "carried":
        return CARRIED
    mc.bounds.repeats(b.value)
    if op == "mod":
        return Mark("length", a.mark.scale, a.mark.offset + abs(b.value))
    k = abs(b.value)
    if a.mark.scale * k > LARGEST:
        raise mc.refuse("a length divided by a large number")
    return Mark("length", a.mark.scale * k, a.mark.offset + a.mark.scale * k)


def _sequences(mc: Machine, op: str, a: Any, b: Any) -> Any:
    """(a, b) + (c,) and [x] * 3."""
    if isinstance(a, Lengths) or isinstance(b, Lengths):
        raise mc.refuse("arithmetic with the lengths")
    if op == "add" and isinstance(a, tuple) and isinstance(b, tuple):
        hidden = isinstance(a, Several) or isinstance(b, Several)
        return mc.weighed(Several(a + b) if hidden else a + b)
    if op == "add" and isinstance(a, List) and isinstance(b, List):
        return List(mc.weighed(a.items + b.items), mc.depth, a.plain and b.plain)
    if op == "mul":
        many, n = (a, b) if isinstance(a, tuple | List) else (b, a)
        if isinstance(n, Size):
            raise mc.sizes("a list as long as an array")
        if isinstance(n, Whole) and isinstance(many, tuple | List):
            items = list(many.items if isinstance(many, List) else many)
            if len(items) * max(0, mc.position(n)) > 5000:
                raise mc.refuse("a list of more than 5000 items")
            items = mc.weighed(items * n.value)
            if isinstance(many, List):
                return List(items, mc.depth, many.plain and n.mark is None)
            return Several(items) if n.mark or isinstance(many, Several) else tuple(items)
    raise mc.refuse(f"{op} of {mc.called(a)} and {mc.called(b)}")


# entries ------------------------------------------------------------------------------------
def apply(
    mc: Machine, f: Callable[..., Node], *values: Any, kind: str = "f", effect: bool = False,
    whole: bool = True,
) -> Any:  # fmt: skip
    """f at every element, with NumPy's broadcasting; of numbers, a number.

    `whole` says that f makes whole numbers of whole numbers.
    """
    arrays = [x for x in values if isinstance(x, Array)]
    whole_kind = kind == "f" and whole and not effect and all(
        mc.integral(x) or (isinstance(x, Array) and x.kind in "ib")
        for x in values
    )  # fmt: skip
    if not arrays:
        out = f(*[x.node if isinstance(x, Cond) else mc.node(x) for x in values])
        if effect:
            mc.effects.append(out)
        counted = mc.counted(*values) or bool(mc.depth and out.number is not None)
        if mc.depth and out.number is not None and not any(
            n.number == out.number for n in map(mc.node, values)
        ):  # fmt: skip
            out = mc.graph.counted(out.number)
        made = mc.scalar(out, kind, counted)
        if not isinstance(made, Num):
            return made
        numpy = any(isinstance(x, Num) and x.numpy for x in values)
        made = replace(made, numpy=numpy, integral=whole and mc.integral(*values))
        if numpy and made.integral:
            fits(mc, *values, made)
        return made
    axes = common_axes(mc, arrays)
    for x in arrays:
        mc.touch(x)
    data = [x.data if isinstance(x, Array) else single(mc, x) for x in values]
    try:
        shape = np.broadcast_shapes(*[np.shape(d) for d in data])
    except ValueError:
        raise mc.raises("shapes that do not fit") from None
    mc.spend(int(np.prod(shape)) // 8)
    made = np.empty(shape, dtype=object)
    if made.size:
        made[...] = np.frompyfunc(f, len(data), 1)(*data)
    result = Array(made, "i" if whole_kind else kind, axes)
    if whole_kind:
        fits(mc, *values, result)
    return result


def single(mc: Machine, x: Any) -> np.ndarray:
    """A number or truth value as an array without axes."""
    box = np.empty((), dtype=object)
    box[()] = x.node if isinstance(x, Cond) else mc.node(x)
    return box


def common_axes(mc: Machine, arrays: Sequence[Array]) -> tuple[int, ...] | None:
    """The axes of what arrays of any size are broadcast to."""
    if not any(x.generic for x in arrays):
        return None
    known = [x for x in arrays if x.rank]
    if not all(x.generic for x in known):
        raise mc.sizes("arrays of known and of any length together")
    longest = max((x.axes or () for x in known), key=len, default=())
    for x in known:
        axes = x.axes or ()
        if axes != longest[len(longest) - len(axes) :]:
            raise mc.sizes("arrays over other axes together")
    return longest


def negate(mc: Machine, x: Any) -> Any:
    """−x."""
    if isinstance(x, Whole):
        return Whole(-x.value, x.mark)
    if isinstance(x, Picked):
        return Picked(negate(mc, x.array), x.mask)
    if isinstance(x, Tensor):
        return Tensor(-x.expr, x.rank)
    if isinstance(x, Cond) or (isinstance(x, Array) and x.kind == "b"):
        raise mc.refuse("arithmetic with truth values")
    return apply(mc, lambda n: mc.graph.negative(mc.as_number(n)), x)
