"""Subscripts: parts of arrays, lists, tuples and dictionaries, read and stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.validate.reading.arithmetic import same
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.storing import write
from blrgen.validate.reading.values import (
    CARRIED,
    Array,
    Diagonal,
    Dict,
    Index,
    Lengths,
    List,
    Picked,
    Record,
    Several,
    Size,
    Slice,
    Text,
    Whole,
)


def item(mc: Machine, x: Any, key: Any) -> Any:
    """x[key]."""
    if isinstance(x, Array) and isinstance(key, Diagonal):
        return Array(diagonal(mc, x, key).copy(), x.kind)
    if isinstance(x, Array) and isinstance(key, Array):
        return _picked(mc, x, key)
    if isinstance(x, Array):
        view, single = part(mc, x, key)
        return mc.entry(x, view.data.item()) if single else view
    if isinstance(x, Record) and x.is_tuple:
        x = x.values
    if isinstance(x, tuple | List):
        items = x.items if isinstance(x, List) else x
        if isinstance(key, Slice) and isinstance(x, Lengths):
            raise mc.refuse("a part of the lengths")
        if isinstance(key, Slice):
            known = mc.generic or (x.plain if isinstance(x, List) else not isinstance(x, Several))
            found = items[_slice(mc, key, marked=not known)]
            if isinstance(x, List):
                return List(list(found), mc.depth, x.plain)
            return tuple(found) if known else Several(found)
        k = _whole(mc, key)
        if isinstance(key, Whole) and key.mark == CARRIED:
            raise mc.refuse("an index that a loop has counted")
        if not mc.generic and (isinstance(x, Several) or (isinstance(x, List) and not x.plain)):
            mc.position(key)
        if not -len(items) <= k < len(items):
            raise mc.raises("an index out of range", unchecked=True)
        found = items[k]
        return mc.carried(found) if isinstance(x, List) else found
    if isinstance(x, Dict):
        if not isinstance(key, Text):
            raise mc.refuse("a dictionary's key that is no word")
        if key.text not in x.items:
            raise mc.raises(f"no key {key.text!r}")
        return mc.carried(x.items[key.text])
    if isinstance(x, Whole) or type(x).__name__ == "Num":
        raise mc.raises("a subscript of a number")
    raise mc.refuse(f"a subscript of {mc.called(x)}")


def store(mc: Machine, x: Any, key: Any, value: Any) -> None:
    """x[key] = value."""
    if isinstance(x, Array):
        if isinstance(key, Array):
            _masked(mc, x, key, value)
            return
        if isinstance(key, Diagonal):
            write(mc, x, diagonal(mc, x, key), value)
            return
        view, single = part(mc, x, key)
        keys = key if isinstance(key, tuple) else (key,)
        at_index = frozenset(k.axis for k in keys if isinstance(k, Index))
        if mc.depth and not mc.matrix and any(map(_fixed_place, keys)):
            raise mc.refuse("a fixed place of an array stored to in a loop")
        target = Array(x.data, x.kind, x.axes)
        if single and isinstance(value, Array) and value.rank:
            raise mc.raises("an array stored as one entry")
        write(mc, target, view.data, value, at_index=at_index)
        return
    if isinstance(x, List | Dict):
        if mc.loops:
            raise mc.sizes("a list changed in a loop")
        if mc.depth:
            raise mc.refuse("a list changed in a loop")
        mc.changes += 1
        if isinstance(x, Dict):
            if not isinstance(key, Text):
                raise mc.refuse("a dictionary's key that is no word")
            x.items[key.text] = value
            return
        k = _whole(mc, key)
        if not -len(x.items) <= k < len(x.items):
            raise mc.raises("an index out of range", unchecked=True)
        x.items[k] = value
        return
    if isinstance(x, Whole) or type(x).__name__ == "Num":
        raise mc.raises("a subscript of a number")
    raise mc.refuse(f"a subscript of {mc.called(x)} stored to")


def diagonal(mc: Machine, x: Array, key: Diagonal | None = None) -> np.ndarray:
    """The diagonal of a square matrix, to read and to store."""
    if x.generic:
        raise mc.sizes("a diagonal")
    if x.rank != 2 or len(set(x.data.shape)) != 1:
        raise mc.refuse("the diagonal of what is no square matrix")
    if key is not None and mc.position(key.n) != x.data.shape[0]:
        raise mc.refuse("a part of a diagonal")
    view: np.ndarray = np.einsum("ii->i", x.data)
    return view


def _fixed_place(key: Any) -> bool:
    """Whether a key is the same in every turn."""
    if isinstance(key, Slice):
        return any(isinstance(k, Whole) and k.value and not k.mark for k in (key.start, key.stop))
    return isinstance(key, Whole) and key.mark is None


def part(mc: Machine, x: Array, key: Any) -> tuple[Array, bool]:
    """The view that a key selects, and whether it is one entry."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, Array) for k in keys):
        raise mc.refuse("an array as a subscript")
    if sum(k is Ellipsis for k in keys) > 1:
        raise mc.raises("several ellipses")
    given = sum(k is not None and k is not Ellipsis for k in keys)
    if given > x.rank:
        raise mc.raises("more subscripts than axes")
    place = keys.index(Ellipsis) if Ellipsis in keys else len(keys)
    rest = [Slice(None, None, None)] * (x.rank - given)
    keys = keys[:place] + rest + keys[place + 1 :]
    if x.generic:
        return _generic(mc, x, keys)
    return _at(mc, x, keys)


def _generic(mc: Machine, x: Array, keys: list[Any]) -> tuple[Array, bool]:
    """Whole axes, and the counter of a loop over an axis."""
    assert x.axes is not None
    index: list[Any] = []
    axes = []
    for axis, k in zip(x.axes, keys, strict=False):
        if k is None or any(k is None for k in keys):
            raise mc.sizes("a new axis")
        if isinstance(k, Index) and k.axis == axis:
            index.append(0)
        elif isinstance(k, Slice) and _is_whole_axis(k, axis):
            index.append(slice(None))
            axes.append(axis)
        else:
            raise mc.sizes("a part of an axis")
    if len(axes) < x.rank:
        for loop in mc.loops:
            if loop.axis in x.axes and loop.axis not in axes:
                loop.rows.add(mc.remember(x))
    view = x.data[tuple(index)] if axes else _entry_view(x.data, index)
    return Array(view, x.kind, tuple(axes)), not axes


def _entry_view(data: np.ndarray, index: list[Any]) -> np.ndarray:
    """A view of rank 0 at one entry."""
    return data[(*index, ...)]


def _is_whole_axis(k: Slice, axis: int) -> bool:
    starts = k.start is None or (isinstance(k.start, Whole) and k.start.value == 0)
    steps = k.step is None or (isinstance(k.step, Whole) and k.step.value == 1)
    return starts and steps and (k.stop is None or k.stop == Size(axis))


def _at(mc: Machine, x: Array, keys: list[Any]) -> tuple[Array, bool]:
    """Entries and slices of an array of known lengths."""
    index: list[Any] = []
    axis = 0
    single = True
    for k in keys:
        if k is None:
            index.append(None)
            single = False
            continue
        n = x.data.shape[axis]
        axis += 1
        if isinstance(k, Slice):
            index.append(_slice(mc, k, marked=True))
            single = False
        else:
            position = _whole(mc, k)
            if isinstance(k, Whole):
                mc.position(k)
            if not -n <= position < n:
                raise mc.raises("an index out of range", unchecked=True)
            index.append(position)
    return Array(x.data[(*index, ...)], x.kind), single


def _slice(mc: Machine, k: Slice, *, marked: bool) -> slice:
    """A slice in numbers; its constants say something of the lengths."""
    ends: list[int | None] = []
    for x in (k.start, k.stop):
        if x is None:
            ends.append(None)
        elif isinstance(x, Whole):
            ends.append(mc.position(x) if marked else x.value)
        elif isinstance(x, Size):
            raise mc.sizes("a part of an axis")
        else:
            raise mc.refuse(f"{mc.called(x)} as the end of a slice")
    step = None
    if k.step is not None:
        step = _whole(mc, k.step)
        if step == 0:
            raise mc.raises("a slice of step zero")
        if isinstance(k.step, Whole) and k.step.mark:
            mc.position(k.step)
        else:
            mc.bounds.repeats(step)
    return slice(ends[0], ends[1], step)


def _whole(mc: Machine, k: Any) -> int:
    if isinstance(k, Whole):
        return k.value
    if isinstance(k, Index | Size):
        raise mc.sizes("the counter of a loop as a number")
    raise mc.refuse(f"{mc.called(k)} as a subscript")


def _is_mask(mc: Machine, x: Array, mask: Array) -> None:
    """Refuse what is not a condition for every entry of an array."""
    if mask.kind != "b" or mask.data.shape != x.data.shape or mask.axes != x.axes or not x.rank:
        raise mc.refuse("an array as a subscript")
    mc.touch(mask)
    mc.touch(x)


def _picked(mc: Machine, x: Array, mask: Array) -> Picked:
    """x[mask], for operators and for y[mask] = …: entries where the condition holds."""
    _is_mask(mc, x, mask)
    return Picked(Array(x.data.copy(), x.kind, x.axes), mask.data.copy())


def _masked(mc: Machine, x: Array, mask: Array, value: Any) -> None:
    """x[mask] = a number, or what the same condition selects: a case of every entry."""
    _is_mask(mc, x, mask)
    if x.kind != "f":
        raise mc.refuse("whole numbers stored where a condition holds")
    if isinstance(value, Picked):
        if not same(value.mask, mask.data) or value.array.axes != x.axes:
            raise mc.refuse("what one condition selects, stored where another holds")
        new = np.frompyfunc(mc.as_number, 1, 1)(value.array.data)
    elif isinstance(value, Array) and value.rank:
        raise mc.refuse("an array stored where a condition holds")
    else:
        new = np.frompyfunc(lambda _: mc.node(value), 1, 1)(x.data)
    out = np.empty(x.data.shape, dtype=object)
    out[...] = np.frompyfunc(mc.graph.case, 3, 1)(mask.data, new, x.data)
    write(mc, x, x.data, Array(out, "f", x.axes))
