"""Storing in place: into an array or a part of it, and `a op= b`."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.validate.reading.arithmetic import binary, single
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.values import Array, Cond, Index, List, Num, Size, Tensor, Whole


def write(
    mc: Machine,
    target: Array,
    view: np.ndarray,
    value: Any,
    *,
    at_index: frozenset[int] = frozenset(),
) -> None:
    """Store into (a part of) an array, in place."""
    value_kind = kind_of(mc, value)
    if target.kind == "i" and value_kind != "i":
        raise mc.refuse("a number stored into an array of whole numbers")
    if target.kind == "b" and value_kind != "b":
        raise mc.refuse("a number stored into an array of truth values")
    memory = mc.remember(target)
    mc.written.add(memory)
    mc.changes += 1
    for loop in mc.loops:
        row = memory in loop.rows and loop.axis not in (target.axes or ())
        if not (loop.axis in at_index or row):
            raise mc.sizes("an array changed as a whole in a loop")
        loop.stored.add(memory)
    if isinstance(value, Array):
        if not at_index:
            mc.touch(value)
        if value.generic != target.generic and value.rank and target.rank:
            raise mc.sizes("arrays of known and of any length together")
        data = value.data
    else:
        data = single(mc, value)
    if target.kind != "b":
        data = np.frompyfunc(mc.as_number, 1, 1)(data)
    if mc.depth and not mc.generic and target.kind == "i":
        raise mc.refuse("whole numbers kept in an array in a loop")
    try:
        view[...] = data
    except ValueError:
        raise mc.raises("shapes that do not fit") from None


def kind_of(mc: Machine, x: Any) -> str:
    """f, i or b: what storing the value needs."""
    if isinstance(x, Array):
        return x.kind
    if isinstance(x, Whole):
        return "i"
    if isinstance(x, Cond):
        return "b"
    if isinstance(x, Num):
        return "i" if x.integral else "f"
    if isinstance(x, Size | Index):
        raise mc.sizes("a length as a number")
    raise mc.refuse(f"{mc.called(x)} stored into an array")


def augmented(mc: Machine, op: str, a: Any, b: Any) -> Any:
    """a op= b: in place on an array, a new value otherwise."""
    if not isinstance(a, Array):
        if isinstance(a, List):
            raise mc.refuse("a list changed in place by an operator")
        if isinstance(a, Tensor):
            raise mc.sizes("a matrix changed in place")
        return binary(mc, op, a, b)
    out = binary(mc, op, a, b)
    if isinstance(out, Array) and out.data.shape != a.data.shape:
        raise mc.raises("shapes that do not fit")
    write(mc, a, a.data, out)
    return a
