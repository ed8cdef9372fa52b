"""Making arrays and giving them another shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.limits import ENTRIES as MANY
from blrgen.validate.reading import loops
from blrgen.validate.reading.attributes import DTYPES
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.storing import kind_of, write
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import (
    Array,
    Cond,
    Known,
    List,
    Listed,
    Num,
    Size,
    Text,
    Whole,
)
from blrgen.validate.reading.whole import fits

FLOATS = ("float", "float64", "double", "d", "f8")
NARROW = "it computes in float32, whose rounding is not compared"


def floating(mc: Machine, dtype: Any) -> bool:
    """dtype= names a type of real numbers; whether it is a narrower one, which is remarked."""
    if dtype is None:
        return False
    name = dtype.name if isinstance(dtype, Known) else dtype.text if isinstance(dtype, Text) else ""
    if name in ("numpy.float32", "float32", "f4", "f"):
        mc.notes.add(NARROW)
        return True
    if not (name in DTYPES or name in FLOATS or dtype == Known("float")):
        raise mc.refuse("keyword dtype= that is no type of real numbers")
    return False


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
    mc.spend(flat.size)
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
    mc.spend(flat.size)
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


@meaning(
    "numpy.empty",
    text="memory with nothing in it: a result that shows it is refuted",
    example="np.add(x, y, out=np.empty(x.shape))",
)
def _empty(mc: Machine, shape: Any, dtype: Any = None) -> Any:
    floating(mc, dtype)
    return filled(mc, shape, mc.graph.unknown)


@meaning(
    "numpy.full",
    text="one number everywhere; a whole one makes an array of whole numbers",
    example="x + np.full(x.shape, 0.5) - 0.5",
)
def _full(mc: Machine, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    floating(mc, dtype)
    kind = kind_of(mc, fill_value)
    n = mc.node(fill_value)
    if kind == "i":
        fits(mc, fill_value)
    return filled(mc, shape, lambda: n, "f" if dtype is not None else kind)


@meaning(
    "numpy.zeros_like", text="zeros of the same shape and kind", example="x + np.zeros_like(x)"
)
def _zeros_like(mc: Machine, a: Any, dtype: Any = None) -> Any:
    return like(mc, a, lambda: mc.graph.number(0), dtype)


@meaning("numpy.ones_like", text="ones of the same shape and kind", example="x * np.ones_like(x)")
def _ones_like(mc: Machine, a: Any, dtype: Any = None) -> Any:
    return like(mc, a, lambda: mc.graph.number(1), dtype)


@meaning(
    "numpy.empty_like",
    text="memory with nothing in it",
    example="np.add(x, y, out=np.empty_like(x))",
)
def _empty_like(mc: Machine, prototype: Any, dtype: Any = None) -> Any:
    return like(mc, prototype, mc.graph.unknown, dtype)


@meaning(
    "numpy.full_like",
    text="one number everywhere, of the same kind",
    example="x * np.full_like(x, 2.0) / 2",
)
def _full_like(mc: Machine, a: Any, fill_value: Any, dtype: Any = None) -> Any:
    n = mc.node(fill_value)
    if isinstance(a, Array) and a.kind != "f" and dtype is None:
        raise mc.refuse("np.full_like of whole numbers")
    return like(mc, a, lambda: n, dtype)


@meaning(
    "numpy.eye",
    "numpy.identity",
    text="the identity matrix of one size",
    example="X @ {name}(len(x))",
)
def _eye(mc: Machine, n: Any, dtype: Any = None) -> Any:
    floating(mc, dtype)
    if isinstance(n, Size):
        if mc.matrix and n.axis == 0:
            from blrgen.validate.reading.tensors import unit

            return unit()
        raise mc.sizes("an identity matrix")
    data, _ = shape_of(mc, (n, n))
    made = np.empty(data, dtype=object)
    mc.spend(made.size)
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
        data[k] = mc.graph.counted(k) if k else mc.graph.number(0)
    return Array(data, "i")


def arrayed(mc: Machine, x: Any) -> Array:
    """An array, a list of numbers or of arrays as one array."""
    if isinstance(x, Array):
        return x
    if isinstance(x, Listed):
        return x.array
    if isinstance(x, Num | Whole):
        if kind_of(mc, x) == "i":
            fits(mc, x)
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


@meaning("numpy.array", text="a copy, also with copy=True", example="np.array(x)")
def _array(mc: Machine, object: Any, dtype: Any = None, *, copy: Any = None) -> Any:
    if not (
        copy is None or (isinstance(copy, Cond) and copy.node.op == "truth" and copy.node.data)
    ):
        raise mc.refuse("keyword copy= that is not True")
    return converted(mc, arrayed(mc, object), dtype, new=True)


@meaning("numpy.asarray", text="the same array; of a list, a new one", example="np.asarray(x)")
def _asarray(mc: Machine, a: Any, dtype: Any = None) -> Any:
    return converted(mc, arrayed(mc, a), dtype, new=False)


@meaning(
    "numpy.ascontiguousarray",
    text="the same array; of a list or another layout, a new one",
    example="np.ascontiguousarray(x)",
)
def _contiguous(mc: Machine, a: Any, dtype: Any = None) -> Any:
    x = arrayed(mc, a)
    return converted(mc, x, dtype, new=not x.data.flags.c_contiguous)


def converted(mc: Machine, x: Array, dtype: Any, *, new: bool) -> Array:
    """An array of numbers: a copy, or itself where nothing changes."""
    new |= floating(mc, dtype)
    if dtype is not None and x.kind != "f":
        if x.kind == "b":
            data = np.frompyfunc(mc.as_number, 1, 1)(x.data)
            return Array(np.asarray(data, dtype=object), "f", x.axes)
        return Array(x.data.copy(), "f", x.axes)
    mc.touch(x)
    mc.spend(x.data.size // 8)
    return Array(x.data.copy(), x.kind, x.axes) if new else x


@meaning("numpy.copy", "array.copy", text="a copy", example=("np.copy(x)", "x.copy()"))
def _copy(mc: Machine, x: Any, /) -> Any:
    return converted(mc, arrayed(mc, x), None, new=True)


@meaning(
    "array.astype",
    text="a copy, as real numbers; the same array with copy=False",
    example="x.astype(float)",
)
def _astype(mc: Machine, x: Any, dtype: Any, /, *, copy: Any = None) -> Any:
    known = copy is None or (isinstance(copy, Cond) and copy.node.op == "truth")
    if not known:
        raise mc.refuse("keyword copy= that is no truth value")
    return converted(mc, x, dtype, new=copy is None or bool(copy.node.data))


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


@meaning(
    "numpy.float32",
    text="a number as it is; that it rounds is remarked",
    example="x * np.float32(0.5) * 2",
)
def _float(mc: Machine, x: Any, /) -> Any:
    mc.notes.add(NARROW)
    if isinstance(x, Whole | Num):
        return Num(mc.node(x), mc.counted(x))
    raise mc.refuse("a type called on what is no number")
