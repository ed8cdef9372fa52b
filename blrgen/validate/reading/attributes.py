"""Attributes: of modules, of arrays, of lists, dictionaries and records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.python import size_of
from blrgen.validate.reading.table import ATTRIBUTES, ENTRIES, Entry, has, leads
from blrgen.validate.reading.values import (
    Array,
    Dict,
    Known,
    Lengths,
    List,
    Mark,
    Method,
    Num,
    Rank,
    Record,
    Size,
    Tensor,
    Whole,
)

OF_FLOAT = ("real", "imag", "conjugate", "is_integer", "hex", "as_integer_ratio", "fromhex",
            "numerator", "denominator", "bit_length", "bit_count", "to_bytes",
            "from_bytes")  # fmt: skip
Reader = Callable[[Machine, Array], Any]
CONSTANTS = {"numpy.pi": "pi", "math.pi": "pi", "numpy.e": "e", "math.e": "e"}
DTYPES = {
    "numpy.float64": "f",
    "numpy.float32": "f",
    "numpy.double": "f",
    "numpy.floating": "f",
    "dtype": "f",
}


def attribute(mc: Machine, x: Any, name: str) -> Any:
    """x.name."""
    if name.startswith("_"):
        raise mc.refuse(f"the attribute {name}")
    if isinstance(x, Known):
        return _of_module(mc, f"{x.name}.{name}")
    if isinstance(x, Array):
        return _of_array(mc, x, name)
    if isinstance(x, Tensor):
        from blrgen.validate.reading.tensors import tensor_attribute

        return tensor_attribute(mc, x, name)
    if isinstance(x, Record) and name in x.names:
        return x.values[x.names.index(name)]
    if isinstance(x, List | Dict):
        full = f"{type(x).__name__.lower()}.{name}"
        if has(full):
            return Method(full, x)
    plain = isinstance(x, Whole) or (isinstance(x, Num) and not x.numpy)
    if plain and not (mc.depth or mc.loops) and name not in OF_FLOAT:
        raise mc.raises(f"the attribute {name} of a number")
    raise mc.refuse(f"the attribute {name} of {mc.called(x)}")


def _of_module(mc: Machine, name: str) -> Any:
    if name in CONSTANTS:
        return Num(mc.graph.make("constant", data=CONSTANTS[name]))
    if name == "numpy.newaxis":
        return None
    if has(name) or leads(name) or name in DTYPES or name in ("numpy.ndarray", "numpy.errstate"):
        return Known(name)
    from blrgen.validate.reading.table import spoken

    raise mc.refuse(spoken(name))


def _of_array(mc: Machine, x: Array, name: str) -> Any:
    if name in ATTRIBUTES:
        return ATTRIBUTES[name].function(mc, x)
    if f"array.{name}" in ENTRIES:
        return Method(f"array.{name}", x)
    raise mc.refuse(f"the attribute {name} of an array")


def _attribute(name: str, text: str) -> Callable[[Reader], Reader]:
    def register(f: Reader) -> Reader:
        ATTRIBUTES[name] = Entry(f"array.{name}", text, f"x.{name}", f)
        return f

    return register


@_attribute("shape", "the lengths of the axes")
def _shape(mc: Machine, x: Array) -> Any:
    return Lengths(size_of(mc, x, k) for k in range(x.rank))


@_attribute("ndim", "the number of axes, to be compared: more of them are read than it meets")
def _ndim(mc: Machine, x: Array) -> Any:
    return Rank(x.rank)


@_attribute("dtype", "the type of real numbers, for dtype= and astype")
def _dtype(mc: Machine, x: Array) -> Any:
    if x.kind != "f":
        raise mc.refuse("the type of whole numbers or truth values")
    return Known("dtype")


@_attribute("size", "the number of elements")
def _size(mc: Machine, x: Array) -> Any:
    if x.generic:
        if x.rank == 1:
            return Size(x.axes[0])  # type: ignore[index]
        if x.rank > 1 and x.axes == tuple(range(x.rank)):
            return Size(-1)
        raise mc.sizes("the number of elements")
    return Whole(int(x.data.size), Mark())


@_attribute("T", "the transpose")
def _transpose(mc: Machine, x: Array) -> Any:
    if x.generic and x.rank > 1:
        raise mc.sizes("a transpose")
    return Array(x.data.T, x.kind, x.axes)


@_attribute("flat", "the elements in a row, to read and to store")
def _flat(mc: Machine, x: Array) -> Any:
    if not x.generic:
        flat = x.data.reshape(-1)
        if flat.base is None or not np.shares_memory(flat, x.data):
            raise mc.refuse("flat of an array that is not contiguous")
        return Array(flat, x.kind)
    axes = x.axes if x.rank == 1 else (-1,)
    return Array(x.data.reshape(-1), x.kind, axes)
