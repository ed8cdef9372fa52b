"""Making arrays and giving them another shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.validate.reading import loops
from blrgen.validate.reading.arithmetic import common_axes, kind_of, write
from blrgen.validate.reading.attributes import DTYPES
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import (
    Array,
    Cond,
    Iter,
    Known,
    List,
    Listed,
    Num,
    Size,
    Text,
    Whole,
)

FLOATS = ("float", "float64", "double", "d", "f8")
NARROW = "it computes in float32, whose rounding is not compared"
MANY = 20_000  # entries of one array


def floating(mc: Machine, dtype: Any) -> None:
    """dtype= names a type of real numbers; a narrower one rounds, which is remarked."""
    if dtype is None:
        return
    name = dtype.name if isinstance(dtype, Known) else dtype.text if isinstance(dtype, Text) else ""
    if name in ("numpy.float32", "float32", "f4", "f"):
        mc.notes.add(NARROW)
        return
    if not (name in DTYPES or name in FLOATS or dtype == Known("float")):
        raise mc.refuse("keyword dtype= that is no type of real numbers")


def shape_of(mc: Machine, shape: Any) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """A shape as numbers, and its axes where they are of any length."""
    sizes = list(shape) if isinstance(shape, tuple) else (
        loops.finite(mc, shape) if isinstance(shape, List) else [shape]
    )  # fmt: skip
    if any(isinstance(s, Size) for s in sizes):
        if not all(isinstance(s, Size) for s in sizes):
            raise mc.sizes("known and any lengths in one shape")
        axes = tuple(s.axis for s in sizes)
        if len(set(axes)) < len(axes) or list(axes) != sorted(axes):
            raise mc.sizes("a square array")
        return (1,) * len(axes), axes
    for s in sizes:
        if not isinstance(s, Whole):
            raise mc.refuse(f"a shape of {mc.called(s)}")
        mc.position(s)
        if s.value < 0:
            raise mc.raises("a negative length")
    known = tuple(s.value for s in sizes)
    if np.prod(known, dtype=float) > MANY:
        raise mc.refuse(f"an array of more than {MANY:,} entries")
    if mc.generic and known:
        raise mc.sizes("an array of known length")
    return known, None


def filled(mc: Machine, shape: Any, make: Any, kind: str = "f") -> Array:
    """An array with a value at every entry."""
    known, axes = shape_of(mc, shape)
    data = np.empty(known, dtype=object)
    flat = data.reshape(-1)
    for k in range(flat.size):
        flat[k] = make()
    return Array(data, kind, axes)


def like(mc: Machine, x: Any, make: Any, dtype: Any, kind: str | None = None) -> Array:
    """As filled, with the shape and the kind of another array."""
    floating(mc, dtype)
    if not isinstance(x, Array):
        if isinstance(x, Num) and not x.integral:
            return Array(_boxed(make()), "f", () if mc.generic else None)
        raise mc.refuse(f"an array like {mc.called(x)}")
    data = np.empty(x.data.shape, dtype=object)
    flat = data.reshape(-1)
    for k in range(flat.size):
        flat[k] = make()
    return Array(data, kind or ("f" if dtype is not None else x.kind), x.axes)


def _boxed(n: Node) -> np.ndarray:
    box = np.empty((), dtype=object)
    box[()] = n
    return box


@meaning("numpy.zeros", text="zeros", example="x + np.zeros(x.shape)")
def _zeros(mc: Machine, shape: Any, dtype: Any = None) -> Any:
    floating(mc, dtype)
    return filled(mc, shape, lambda: mc.graph.number(0))


@meaning("numpy.ones", text="ones", example="x * np.ones(x.shape)")
def _ones(mc: Machine, shape: Any, dtype: Any = None) -> Any:
    floating(mc, dtype)
    return filled(mc, shape, lambda: mc.graph.number(1))


@meaning("numpy.empty", text="memory with nothing in it: a result that shows it is refuted", example="np.add(x, y, out=np.empty(x.shape))")
def _empty(mc: Machine, shape: Any, dtype: Any = None) -> Any:
    floating(mc, dtype)
    return filled(mc, shape, mc.graph.unknown)


@meaning("numpy.full", text="one number everywhere; a whole one makes an array of whole numbers", example="x + np.full(x.shape, 0.5) - 0.5")
def _full(mc: Machine, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    floating(mc, dtype)
    kind = kind_of(mc, fill_value)
    n = mc.node(fill_value)
    return filled(mc, shape, lambda: n, "f" if dtype is not None else kind)


@meaning("numpy.zeros_like", text="zeros of the same shape and kind", example="x + np.zeros_like(x)")
def _zeros_like(mc: Machine, a: Any, dtype: Any = None) -> Any:
    return like(mc, a, lambda: mc.graph.number(0), dtype)


@meaning("numpy.ones_like", text="ones of the same shape and kind", example="x * np.ones_like(x)")
def _ones_like(mc: Machine, a: Any, dtype: Any = None) -> Any:
    return like(mc, a, lambda: mc.graph.number(1), dtype)


@meaning("numpy.empty_like", text="memory with nothing in it", example="np.add(x, y, out=np.empty_like(x))")
def _empty_like(mc: Machine, prototype: Any, dtype: Any = None) -> Any:
    return like(mc, prototype, mc.graph.unknown, dtype)


@meaning("numpy.full_like", text="one number everywhere, of the same kind", example="x * np.full_like(x, 2.0) / 2")
def _full_like(mc: Machine, a: Any, fill_value: Any, dtype: Any = None) -> Any:
    n = mc.node(fill_value)
    if isinstance(a, Array) and a.kind != "f" and dtype is None:
        raise mc.refuse("np.full_like of whole numbers")
    return like(mc, a, lambda: n, dtype)


@meaning("numpy.eye", "numpy.identity", text="the identity matrix of one size", example="X @ {name}(len(x))")
def _eye(mc: Machine, n: Any, dtype: Any = None) -> Any:
    floating(mc, dtype)
    if isinstance(n, Size):
        if mc.matrix and n.axis == 0:
            from blrgen.validate.reading.tensors import unit

            return unit()
        raise mc.sizes("an identity matrix")
    data, _ = shape_of(mc, (n, n))
    made = np.empty(data, dtype=object)
    for i in range(data[0]):
        for j in range(data[0]):
            made[i, j] = mc.graph.number(int(i == j))
    return Array(made)


@meaning("numpy.arange", text="whole numbers from 0", example="x + 0 * np.arange(len(x))")
def _arange(mc: Machine, stop: Any, /) -> Any:
    if isinstance(stop, Size):
        raise mc.sizes("the numbers of the elements")
    if not isinstance(stop, Whole):
        raise mc.refuse("np.arange of what is no whole number")
    known, _ = shape_of(mc, stop)
    data = np.empty(known, dtype=object)
    for k in range(known[0]):
        data[k] = mc.graph.number(k)
    return Array(data, "i")


def arrayed(mc: Machine, x: Any) -> Array:
    """An array, a list of numbers or of arrays as one array."""
    if isinstance(x, Array):
        return x
    if isinstance(x, Listed):
        return x.array
    if isinstance(x, Num | Whole):
        return Array(_boxed(mc.node(x)), kind_of(mc, x), () if mc.generic else None)
    if isinstance(x, List | tuple):
        items = x.items if isinstance(x, List) else list(x)
        if not items:
            raise mc.refuse("an empty array")
        parts = [arrayed(mc, v) for v in items]
        if mc.generic:
            raise mc.sizes("an array of known length")
        shapes = {p.data.shape for p in parts}
        if len(shapes) > 1:
            raise mc.raises("an array of parts of several shapes")
        kinds = {p.kind for p in parts}
        if kinds == {"b"} or "b" in kinds:
            raise mc.refuse("an array of truth values")
        data = np.empty((len(parts), *parts[0].data.shape), dtype=object)
        for k, p in enumerate(parts):
            data[k] = p.data if p.rank else p.data[()]
        return Array(data, "f" if "f" in kinds else "i")
    raise mc.refuse(f"an array of {mc.called(x)}")


@meaning("numpy.array", text="a copy", example="np.array(x)")
def _array(mc: Machine, object: Any, dtype: Any = None) -> Any:
    return _converted(mc, arrayed(mc, object), dtype, new=True)


@meaning("numpy.asarray", "numpy.ascontiguousarray", text="the same array; of a list, a new one", example="{name}(x)")
def _asarray(mc: Machine, a: Any, dtype: Any = None) -> Any:
    return _converted(mc, arrayed(mc, a), dtype, new=False)


def _converted(mc: Machine, x: Array, dtype: Any, *, new: bool) -> Array:
    floating(mc, dtype)
    if dtype is not None and x.kind != "f":
        if x.kind == "b":
            data = np.frompyfunc(mc.as_number, 1, 1)(x.data)
            return Array(np.asarray(data, dtype=object), "f", x.axes)
        return Array(x.data.copy(), "f", x.axes)
    mc.touch(x)
    return Array(x.data.copy(), x.kind, x.axes) if new or not x.data.flags.c_contiguous else x


@meaning("numpy.copy", "array.copy", text="a copy", example=("np.copy(x)", "x.copy()"))
def _copy(mc: Machine, x: Any, /) -> Any:
    return _converted(mc, arrayed(mc, x), None, new=True)


@meaning("array.astype", text="a copy, as real numbers", example="x.astype(float)")
def _astype(mc: Machine, x: Any, dtype: Any, /) -> Any:
    return _converted(mc, x, dtype, new=True)


@meaning("numpy.copyto", text="store into an array", example="[a := x.copy(), np.copyto(a, y)][0]")
def _copyto(mc: Machine, dst: Any, src: Any) -> Any:
    if not isinstance(dst, Array):
        raise mc.raises("np.copyto into what is no array")
    if not isinstance(src, Array | Num | Whole):
        raise mc.refuse(f"np.copyto of {mc.called(src)}")
    write(mc, dst, dst.data, src)
    return None


@meaning("array.fill", text="store a number everywhere", example="[a := x.copy(), a.fill(0.5)][0]")
def _fill(mc: Machine, x: Any, value: Any, /) -> Any:
    write(mc, x, x.data, value)
    return None


@meaning("numpy.float64", text="a number as it is", example="x * np.float64(0.5) * 2")
def _double(mc: Machine, x: Any, /) -> Any:
    if isinstance(x, Whole | Num):
        return Num(mc.node(x), mc.counted(x))
    raise mc.refuse("a type called on what is no number")


@meaning("numpy.float32", text="a number as it is; that it rounds is remarked", example="x * np.float32(0.5) * 2")
def _float(mc: Machine, x: Any, /) -> Any:
    mc.notes.add(NARROW)
    if isinstance(x, Whole | Num):
        return Num(mc.node(x), mc.counted(x))
    raise mc.refuse("a type called on what is no number")


# shapes -----------------------------------------------------------------------------------------
@meaning("numpy.ravel", "array.ravel", text="the elements in a row; the same memory", example=("np.ravel(X)", "X.ravel()"))
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
    return _converted(mc, _ravel(mc, x), None, new=True)


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


def _concrete(mc: Machine, x: Any) -> Array:
    x = arrayed(mc, x)
    if x.generic and x.rank:
        raise mc.sizes("another shape")
    return x


@meaning("numpy.transpose", "array.transpose", text="the transpose", example=("np.transpose(X)", "X.transpose()"))
def _transpose(mc: Machine, a: Any, /) -> Any:
    x = arrayed(mc, a)
    if x.generic and x.rank > 1:
        raise mc.sizes("a transpose")
    return Array(x.data.T, x.kind, x.axes)


@meaning("numpy.flip", text="backwards over every axis", example="np.flip(X)")
def _flip(mc: Machine, m: Any, /) -> Any:
    x = _concrete(mc, m)
    return Array(np.flip(x.data), x.kind)


@meaning("numpy.diag", text="a vector on the diagonal, or the diagonal of a matrix", example="np.diag(np.diag(X)) + np.diag(x)")
def _diag(mc: Machine, v: Any, /) -> Any:
    x = _concrete(mc, v)
    if x.rank == 2:
        return Array(np.array(np.diag(x.data), dtype=object), x.kind)
    if x.rank != 1:
        raise mc.raises("np.diag of this rank")
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
    parts = [_concrete(mc, x) for x in loops.finite(mc, arrays)]
    common_axes(mc, parts)
    return parts


def _joined(mc: Machine, f: Any, arrays: Any) -> Array:
    parts = _parts(mc, arrays)
    try:
        data = f([p.data for p in parts])
    except ValueError:
        raise mc.raises("shapes that do not fit") from None
    kinds = {p.kind for p in parts}
    if len(kinds) > 1:
        raise mc.refuse("arrays of several kinds joined")
    return Array(data, kinds.pop())


@meaning("numpy.stack", text="arrays side by side on a new first axis", example="np.stack([x, y])[0]")
def _stack(mc: Machine, arrays: Any) -> Any:
    return _joined(mc, np.stack, arrays)


@meaning("numpy.concatenate", text="arrays one after the other, over the first axis", example="{name}([x, y])[: len(x)]")
def _concatenate(mc: Machine, arrays: Any, /) -> Any:
    return _joined(mc, np.concatenate, arrays)


@meaning("numpy.broadcast_to", text="repeated to a shape, to read only", example="x * np.broadcast_to(0.5, x.shape)")
def _broadcast_to(mc: Machine, array: Any, shape: Any) -> Any:
    x = arrayed(mc, array)
    known, axes = shape_of(mc, shape)
    if x.generic and x.rank and x.axes != axes:
        raise mc.sizes("another shape")
    try:
        return Array(np.broadcast_to(x.data, known).copy(), x.kind, axes)
    except ValueError:
        raise mc.raises("shapes that do not fit") from None


@meaning("numpy.atleast_1d", text="a number as an array of one", example="np.atleast_1d(x)")
def _atleast(mc: Machine, x: Any, /) -> Any:
    if isinstance(x, Array) and x.rank:
        return x
    raise mc.sizes("a number as an array")


def _triangle(mc: Machine, x: Array, keep: Any) -> Array:
    x = _concrete(mc, x)
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


__all__ = ["Cond", "filled", "floating", "reshaped"]
