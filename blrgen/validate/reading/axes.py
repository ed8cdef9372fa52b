"""Axes of arrays: how many there are, their order, and arrays joined along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blrgen.validate.reading.attributes import attribute
from blrgen.validate.reading.indexing import diagonal
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.making import arrayed
from blrgen.validate.reading.shaping import concrete, joined
from blrgen.validate.reading.storing import write
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import Array, Diagonal, Mark, Num, Rank, Whole


@meaning("numpy.ndim", text="the number of axes, to be compared", example="x if np.ndim(x) else y")
def _ndim(mc: Machine, a: Any, /) -> Any:
    return Rank(0) if isinstance(a, Num | Whole) else Rank(arrayed(mc, a).rank)


def _register_length(name: str, text: str) -> None:
    @meaning(f"numpy.{name}", text=text, example=f"x + 0 * np.ones(np.{name}(x))")
    def f(mc: Machine, a: Any, /) -> Any:
        if isinstance(a, Num | Whole):
            raise mc.refuse(f"np.{name} of a number")
        return attribute(mc, arrayed(mc, a), name)


_register_length("shape", "the lengths of the axes")
_register_length("size", "the number of elements")


def _axis(mc: Machine, k: Any, rank: int) -> int:
    """An axis by its number."""
    if not isinstance(k, Whole) or k.mark:
        raise mc.refuse("an axis that is no known number")
    if not -rank <= k.value < rank:
        raise mc.raises("an axis that is not there")
    return k.value


def _register_order(name: str, f: Callable[..., np.ndarray], text: str) -> None:
    names = (f"numpy.{name}", f"array.{name}") if name == "swapaxes" else (f"numpy.{name}",)
    example = tuple(f"{'np' if n.startswith('numpy') else 'X'}.{name}("
                    f"{'X, ' if n.startswith('numpy') else ''}0, 1)" for n in names)  # fmt: skip

    @meaning(*names, text=text, example=example)
    def g(mc: Machine, a: Any, first: Any, second: Any, /) -> Any:
        x = concrete(mc, a)
        return Array(f(x.data, _axis(mc, first, x.rank), _axis(mc, second, x.rank)), x.kind)


_register_order("swapaxes", np.swapaxes, "two axes exchanged; the same memory")
_register_order("moveaxis", np.moveaxis, "an axis at another place; the same memory")


@meaning(
    "numpy.expand_dims", text="one more axis; the same memory", example="np.expand_dims(x, 0)[0]"
)
def _expand(mc: Machine, a: Any, axis: Any) -> Any:
    x = concrete(mc, a)
    return Array(np.expand_dims(x.data, _axis(mc, axis, x.rank + 1)), x.kind)


@meaning(
    "numpy.squeeze",
    "array.squeeze",
    text="without an axis of length one; the same memory",
    example=("np.squeeze(X[:1], axis=0)", "X[:1].squeeze(axis=0)"),
)
def _squeeze(mc: Machine, a: Any, axis: Any) -> Any:
    x = concrete(mc, a)
    k = _axis(mc, axis, x.rank)
    if x.data.shape[k] != 1:
        raise mc.raises("an axis that is not of length one")
    return Array(np.squeeze(x.data, axis=k), x.kind)


def _register_joined(name: str, f: Any, text: str, example: str) -> None:
    @meaning(f"numpy.{name}", text=text, example=example)
    def g(mc: Machine, arrays: Any, /) -> Any:
        return joined(mc, f, arrays)


_register_joined("vstack", np.vstack, "arrays as rows, one below the other", "np.vstack([x, y])[0]")
_register_joined("hstack", np.hstack, "arrays one beside the other", "np.hstack([x, y])[: len(x)]")
_register_joined(
    "column_stack", np.column_stack, "vectors as columns", "np.column_stack([x, y])[:, 1]"
)


@meaning(
    "numpy.diag_indices",
    text="the diagonal of a square matrix, as a subscript",
    example="X[np.diag_indices(len(X))]",
)
def _diag_indices(mc: Machine, n: Any, /) -> Any:
    if not isinstance(n, Whole):
        raise mc.sizes("a diagonal") if mc.generic else mc.refuse("np.diag_indices of no length")
    return Diagonal(n)


@meaning(
    "numpy.diag_indices_from",
    text="the diagonal of a square matrix, as a subscript",
    example="X[np.diag_indices_from(X)]",
)
def _diag_indices_from(mc: Machine, arr: Any, /) -> Any:
    if not isinstance(arr, Array) or arr.generic or arr.rank != 2:
        generic = isinstance(arr, Array) and arr.generic
        raise mc.sizes("a diagonal") if generic else mc.refuse("the diagonal of what is no matrix")
    if len(set(arr.data.shape)) > 1:
        raise mc.raises("the diagonal of what is not square")
    return Diagonal(Whole(arr.data.shape[0], Mark()))


@meaning(
    "numpy.fill_diagonal",
    text="store a number or a vector on the diagonal of a square matrix",
    example="[a := X.copy(), np.fill_diagonal(a, x)][0]",
)
def _fill_diagonal(mc: Machine, a: Any, val: Any, /) -> Any:
    if not isinstance(a, Array):
        raise mc.refuse("np.fill_diagonal of what is no array")
    view = diagonal(mc, a)
    if isinstance(val, Array) and val.rank and val.data.shape != view.shape:
        raise mc.refuse("np.fill_diagonal with another length")
    write(mc, a, view, val)
    return None
