"""Giving arrays another shape, joining them, triangles and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.validate.reading import loops
from blrgen.validate.reading.arithmetic import common_axes
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.making import arrayed, converted, shape_of
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import Array, Iter, Whole


@meaning(
    "numpy.ravel",
    "array.ravel",
    text="the elements in a row; the same memory",
    example=("np.ravel(X)", "X.ravel()"),
)
def _ravel(mc: Machine, a: Any, /) -> Any:
    x = arrayed(mc, a)
    mc.touch(x)
    axes = x.axes
    if axes is not None and x.rank > 1:
        if axes != tuple(range(x.rank)):
            raise mc.sizes("the elements of a part in a row")
        axes = (-1,)
    return Array(x.data.reshape(-1), x.kind, axes)


@meaning("array.flatten", text="a copy of the elements in a row", example="x.flatten()")
def _flatten(mc: Machine, x: Any, /) -> Any:
    return converted(mc, _ravel(mc, x), None, new=True)


@meaning("numpy.reshape", text="the elements in another shape", example="np.reshape(x, x.shape)")
def _reshape(mc: Machine, a: Any, shape: Any, /) -> Any:
    return reshaped(mc, arrayed(mc, a), shape)


@meaning("array.reshape", text="the elements in another shape", example="x.reshape(x.shape)")
def _reshape_method(mc: Machine, x: Any, /, *shape: Any) -> Any:
    return reshaped(mc, x, shape[0] if len(shape) == 1 else tuple(shape))


def reshaped(mc: Machine, x: Array, shape: Any) -> Array:
    """In the order of the rows; a view where NumPy makes one."""
    sizes = list(shape) if isinstance(shape, tuple) else [shape]
    mc.touch(x)
    if x.generic:
        if sizes == [Whole(-1)]:
            return _ravel(mc, x)  # type: ignore[no-any-return]
        known, axes = shape_of(mc, tuple(sizes))
        if axes == x.axes or (x.axes == (-1,) and axes is not None and len(axes) > 1):
            return Array(x.data.reshape(known), x.kind, axes)
        raise mc.sizes("another shape")
    numbers = []
    for s in sizes:
        if not isinstance(s, Whole):
            raise mc.refuse(f"a shape of {mc.called(s)}")
        if s.mark is None and s.value > 1:
            mc.bounds.repeats(s.value)
        numbers.append(s.value)
    try:
        return Array(x.data.reshape(numbers), x.kind)
    except ValueError:
        raise mc.raises("a shape that does not fit") from None


def concrete(mc: Machine, x: Any) -> Array:
    """An array of known lengths."""
    a = arrayed(mc, x)
    if a.generic and a.rank:
        raise mc.sizes("another shape")
    return a


@meaning(
    "numpy.transpose",
    "array.transpose",
    text="the transpose",
    example=("np.transpose(X)", "X.transpose()"),
)
def _transpose(mc: Machine, a: Any, /) -> Any:
    x = arrayed(mc, a)
    if x.generic and x.rank > 1:
        raise mc.sizes("a transpose")
    return Array(x.data.T, x.kind, x.axes)


@meaning("numpy.flip", text="backwards over every axis", example="np.flip(X)")
def _flip(mc: Machine, m: Any, /) -> Any:
    x = concrete(mc, m)
    return Array(np.asarray(np.flip(x.data), dtype=object), x.kind)


@meaning(
    "numpy.diag",
    text="a vector on the diagonal, or the diagonal of a matrix",
    example="np.diag(np.diag(X)) + np.diag(x)",
)
def _diag(mc: Machine, v: Any, /) -> Any:
    x = concrete(mc, v)
    if x.rank == 2:
        return Array(np.diag(x.data), x.kind)  # the same memory, to read only
    if x.rank != 1:
        raise mc.refuse("np.diag of this rank")
    n = len(x.data)
    data = np.empty((n, n), dtype=object)
    zero = mc.graph.number(0)
    for i in range(n):
        for j in range(n):
            data[i, j] = x.data[i] if i == j else zero
    return Array(data, x.kind)


def _parts(mc: Machine, arrays: Any) -> list[Array]:
    if isinstance(arrays, Iter):
        raise mc.refuse("parts from an iterator")
    parts = [concrete(mc, x) for x in loops.finite(mc, arrays)]
    common_axes(mc, parts)
    return parts


def joined(mc: Machine, f: Any, arrays: Any) -> Array:
    """Arrays of known lengths and of one kind, joined by a function of NumPy."""
    parts = _parts(mc, arrays)
    try:
        data = f([p.data for p in parts])
    except ValueError:
        raise mc.raises("shapes that do not fit") from None
    kinds = {p.kind for p in parts}
    if len(kinds) > 1:
        raise mc.refuse("arrays of several kinds joined")
    return Array(data, kinds.pop())


@meaning(
    "numpy.stack", text="arrays side by side on a new first axis", example="np.stack([x, y])[0]"
)
def _stack(mc: Machine, arrays: Any) -> Any:
    return joined(mc, np.stack, arrays)


@meaning(
    "numpy.concatenate",
    text="arrays one after the other, over the first axis",
    example="{name}([x, y])[: len(x)]",
)
def _concatenate(mc: Machine, arrays: Any, /) -> Any:
    return joined(mc, np.concatenate, arrays)


@meaning(
    "numpy.broadcast_to",
    text="repeated to a shape, to read only",
    example="x * np.broadcast_to(0.5, x.shape)",
)
def _broadcast_to(mc: Machine, array: Any, shape: Any) -> Any:
    x = arrayed(mc, array)
    known, axes = shape_of(mc, shape)
    if x.generic and x.rank and x.axes != axes:
        raise mc.sizes("another shape")
    try:
        return Array(np.broadcast_to(x.data, known), x.kind, axes)
    except ValueError:
        raise mc.raises("shapes that do not fit") from None


@meaning("numpy.atleast_1d", text="a number as an array of one", example="np.atleast_1d(x)")
def _atleast(mc: Machine, x: Any, /) -> Any:
    if isinstance(x, Array) and x.rank:
        return x
    raise mc.sizes("a number as an array")


def _triangle(mc: Machine, x: Array, keep: Any) -> Array:
    x = concrete(mc, x)
    if x.rank != 2:
        raise mc.refuse("a triangle of what is no matrix")
    zero = mc.graph.number(0)
    data = x.data.copy()
    for i in range(data.shape[0]):
        for j in range(data.shape[1]):
            if not keep(i, j):
                data[i, j] = zero
    return Array(data, x.kind)


@meaning("numpy.tril", text="the lower triangle, zeros above", example="np.tril(X)")
def _tril(mc: Machine, m: Any, /) -> Any:
    return _triangle(mc, m, lambda i, j: i >= j)


@meaning("numpy.triu", text="the upper triangle, zeros below", example="np.triu(X)")
def _triu(mc: Machine, m: Any, /) -> Any:
    return _triangle(mc, m, lambda i, j: i <= j)
