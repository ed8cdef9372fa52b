"""Loops: over an axis of any length read once, as a map; else turn by turn."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from blrgen.limits import TURNS as LONGEST
from blrgen.validate.reading.counted import any_number, over_counter
from blrgen.validate.reading.machine import Loop, Machine
from blrgen.validate.reading.scopes import bound_in
from blrgen.validate.reading.values import (
    Array,
    Dict,
    Index,
    Iter,
    Lengths,
    List,
    Mark,
    Num,
    Poison,
    Record,
    Scope,
    Size,
    Span,
    Text,
    Whole,
)

Flow = tuple[str, Any] | None
MOST_CARRIED = 8  # fewer than the sizes that are read


def for_loop(mc: Machine, scope: Scope, node: ast.For) -> Flow:
    """for target in iterable: body, else what follows when nothing broke."""
    from blrgen.validate.reading.expressions import at_once, value
    from blrgen.validate.reading.statements import assign, block

    iterable = at_once(mc, value(mc, scope, node.iter))
    if isinstance(iterable, Span) and isinstance(iterable.stop, Num):
        with read_once(mc):
            over_counter(mc, scope, node, iterable)
        return None
    axis = generic_axis(mc, iterable)
    if axis is not None:
        if node.orelse:
            raise mc.sizes("a loop with else")
        _once(mc, scope, node, iterable, axis)
        return None
    if _is_parallel(iterable) and mc.oracle is None and not mc.racing:
        raise mc.refuse("a parallel loop whose turns are not shown to be independent")
    counted = as_long(iterable)
    names = bound_in([node.target, *node.body]) & (scope.names.keys() | scope.local)
    mc.depth += counted
    try:
        for x in turns(mc, iterable):
            if counted:
                forget(mc, scope, names)
            assign(mc, scope, node.target, x, constant=True)
            flow = block(mc, scope, node.body)
            if flow is not None and flow[0] == "return":
                return flow
            if flow is not None and flow[0] == "break":
                return None
        return block(mc, scope, node.orelse)
    finally:
        mc.depth -= counted


def as_long(x: Any) -> bool:
    """Whether an iterable may be as long as an array."""
    if isinstance(x, Span):
        return any(isinstance(v, Whole) and v.mark for v in (x.start, x.stop, x.step))
    if isinstance(x, Iter):
        return x.kind == "items" or any(map(as_long, x.parts))
    return not isinstance(x, tuple | Dict | Record)


def forget(mc: Machine, scope: Scope, names: Iterable[str], kept: str = "") -> None:
    """At the start of a turn: what another turn has bound is not read.

    Of a matrix rule, numbers and arrays that are computed are carried, a few of them.
    """
    if mc.oracle is not None:  # at numbers every turn is read as it is
        return
    carried = 0
    for name in names:
        x = scope.names.get(name)
        if name == kept or name not in scope.names:
            continue
        number = isinstance(x, Num) and x.node.number is None
        if mc.matrix and (number or isinstance(x, Array)):
            carried += 1
            continue
        if mc.matrix and isinstance(x, Num | Whole) and mc.counted(x):
            continue
        if mc.matrix and isinstance(x, Num | Whole):
            scope.names[name] = mc.carried(x)
            continue
        scope.names[name] = left_over(mc, x)
    if carried > MOST_CARRIED:
        raise mc.refuse("many values carried from turn to turn")


def _is_parallel(x: Any) -> bool:
    return isinstance(x, Span) and x.parallel


def _once(mc: Machine, scope: Scope, node: ast.For, iterable: Any, axis: int) -> None:
    """The body for one element i: what it stores at [i] is what the loop makes of every element."""
    from blrgen.validate.reading.statements import assign, block

    if any(loop.axis in (axis, -1) or axis == -1 for loop in mc.loops):
        raise mc.sizes("two loops over the same axis")
    names = bound_in([node.target, *node.body]) & (scope.names.keys() | scope.local)
    for name in names:
        scope.names[name] = left_over(mc, scope.names.get(name))
    loop = Loop(axis)
    mc.loops.append(loop)
    first = element(mc, iterable, axis)
    try:
        with read_once(mc):
            assign(mc, scope, node.target, first, constant=True)
            flow = block(mc, scope, node.body)
    finally:
        mc.loops.pop()
    if flow is not None and flow[0] != "continue":
        raise mc.sizes("a loop over elements that ends early")
    if loop.stored & loop.whole:
        raise mc.sizes("an array read as a whole in a loop that stores to it")
    for name in names:
        scope.names[name] = left_over(mc, scope.names.get(name))


def left_over(mc: Machine, x: Any) -> Any:
    """What another turn has left under a name: any number, where it was one; else it is not read.

    A sum beside the loop is so without harm; what depends on it is not compared.
    """
    return any_number(mc, x) if isinstance(x, Num | Whole) else Poison()


def generic_axis(mc: Machine, x: Any) -> int | None:
    """The axis of any length that an iterable runs over."""
    if isinstance(x, Span) and isinstance(x.stop, Size):
        if x.start.value != 0 or x.step.value != 1:
            raise mc.sizes("a part of an axis")
        return x.stop.axis
    if isinstance(x, Array) and x.generic and x.axes:
        mc.touch(x)
        return x.axes[0]
    if isinstance(x, Iter) and x.kind in ("zip", "enumerate"):
        axes = {generic_axis(mc, part) for part in x.parts}
        if axes == {None}:
            return None
        if len(axes) > 1:
            raise mc.sizes("a loop over several lengths")
        return axes.pop()
    return None


def element(mc: Machine, x: Any, axis: int) -> Any:
    """What the loop variable is in the turn of element i."""
    from blrgen.validate.reading.indexing import item

    if isinstance(x, Span):
        return Index(axis)
    if isinstance(x, Array):
        return item(mc, x, Index(axis))
    begun(mc, x)
    if x.kind == "enumerate" and x.start:
        raise mc.sizes("a counter that does not start at zero")
    found = tuple(element(mc, p, axis) for p in x.parts)
    return (Index(axis), found[0]) if x.kind == "enumerate" else found


def begun(mc: Machine, x: Iter) -> None:
    """An iterator gives its items once."""
    if x.used or x.serial < mc.since:
        raise mc.refuse("an iterator used twice")
    x.used = True


@contextmanager
def read_once(mc: Machine) -> Iterator[None]:
    """A turn that stands for all: an iterator from outside would be empty in the next one."""
    before, mc.since = mc.since, Iter("items", ()).serial
    try:
        yield
    finally:
        mc.since = before


def while_loop(mc: Machine, scope: Scope, node: ast.While) -> Flow:
    """while test: body."""
    from blrgen.validate.reading.expressions import value
    from blrgen.validate.reading.statements import block

    counter = _counter(node)
    if counter and isinstance(scope.names.get(counter), Whole):
        start = scope.names[counter]
        if start.mark is None:
            scope.names[counter] = Whole(start.value, Mark("length", 1, abs(start.value)))
        mc.bounds.repeats(_stride(node, counter))
    names = bound_in(node.body) & (scope.names.keys() | scope.local)
    mc.depth += 1
    count = 0
    try:
        while mc.truth(value(mc, scope, node.test)):
            count += 1
            if count > LONGEST:
                raise mc.refuse(f"a loop of more than {LONGEST:,} turns")
            before = scope.names.get(counter) if counter else None
            forget(mc, scope, names, counter)
            flow = block(mc, scope, node.body)
            if counter and isinstance(before, Whole) and isinstance(scope.names[counter], Whole):
                scope.names[counter] = Whole(scope.names[counter].value, before.mark)
            if flow is not None and flow[0] == "return":
                return flow
            if flow is not None and flow[0] == "break":
                return None
        return block(mc, scope, node.orelse)
    finally:
        mc.depth -= 1


def _counter(node: ast.While) -> str:
    """The name that is held against something and moved once a turn by a constant."""
    test = node.test
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return ""
    left = test.left
    if isinstance(left, ast.BinOp) and isinstance(left.right, ast.Constant):
        left = left.left
    if not isinstance(left, ast.Name):
        return ""
    moved = [n for n in ast.walk(node) if isinstance(n, ast.Name)
             and isinstance(n.ctx, ast.Store) and n.id == left.id]  # fmt: skip
    steps = [s for s in node.body if isinstance(s, ast.AugAssign)
             and isinstance(s.target, ast.Name) and s.target.id == left.id
             and isinstance(s.op, ast.Add | ast.Sub)
             and isinstance(s.value, ast.Constant)]  # fmt: skip
    leaves = any(isinstance(n, ast.Continue) for n in ast.walk(node))
    return left.id if len(moved) == len(steps) == 1 and not leaves else ""


def _stride(node: ast.While, counter: str) -> int:
    """By how much the counter moves."""
    for s in node.body:
        if not (isinstance(s, ast.AugAssign) and isinstance(s.value, ast.Constant)):
            continue
        if isinstance(s.target, ast.Name) and s.target.id == counter:
            return s.value.value if isinstance(s.value.value, int) else 1
    return 1


# turn by turn -------------------------------------------------------------------------------
def turns(mc: Machine, x: Any) -> Iterator[Any]:
    """The items of an iterable of known length."""
    if isinstance(x, Lengths):
        raise mc.refuse("a loop over axes")
    if isinstance(x, Span):
        yield from _span(mc, x)
    elif isinstance(x, Array):
        if x.generic and x.rank:
            raise mc.sizes("a loop over elements")
        if not x.rank:
            raise mc.raises("a loop over a number")
        mc.spend(x.data.shape[0])
        for k in range(x.data.shape[0]):
            view = x.data[k, ...]
            yield Array(view, x.kind) if x.rank > 1 else mc.entry(x, view.item())
    elif isinstance(x, Iter):
        begun(mc, x)
        yield from _together(mc, x)
    elif isinstance(x, tuple | List):
        items = x.items if isinstance(x, List) else x
        k = 0
        while k < len(items):  # a list can change in the loop
            mc.spend()
            yield mc.carried(items[k]) if isinstance(x, List) else items[k]
            k += 1
    elif isinstance(x, Dict):
        yield from map(Text, list(x.items))
    elif isinstance(x, Record) and x.is_tuple:
        yield from x.values
    elif isinstance(x, Whole) or type(x).__name__ == "Num":
        raise mc.raises("a loop over a number")
    else:
        raise mc.refuse(f"a loop over {mc.called(x)}")


def _together(mc: Machine, x: Iter) -> Iterator[Any]:
    if x.kind == "items":
        yield from x.parts
        return
    if x.kind == "enumerate":
        mark = Mark("length", 1, abs(x.start))
        for k, v in enumerate(turns(mc, x.parts[0])):
            yield (Whole(k + x.start, None if isinstance(x.parts[0], tuple) else mark), v)
        return
    yield from _zipped(mc, x)


def _zipped(mc: Machine, x: Iter) -> Iterator[Any]:
    """Items side by side, each read in its turn, until one of the iterables ends."""
    parts = [turns(mc, p) for p in x.parts]
    end = object()
    while True:
        items = [next(p, end) for p in parts]
        ended = [v is end for v in items]
        if not any(ended):
            yield tuple(items)
            continue
        if not all(ended):
            if x.strict:
                raise mc.raises("zip of several lengths")
            if any(not isinstance(p, tuple) for p in x.parts):
                raise mc.refuse("zip of an array with something of another length")
        return


def _span(mc: Machine, x: Span) -> Iterator[Whole]:
    if isinstance(x.stop, Size):
        raise mc.sizes("a loop over elements")
    if isinstance(x.stop, Num):
        raise mc.refuse("a range over the counter that is not a loop's")
    values = range(x.start.value, x.stop.value, x.step.value)
    if len(values) > LONGEST:
        raise mc.refuse(f"a range of {len(values):,}")
    marks = [v.mark for v in (x.start, x.stop, x.step) if v.mark]
    if any(m.kind == "carried" for m in marks):
        raise mc.refuse("a range that a loop has counted")
    if marks:
        for v in (x.start, x.stop):
            if v.mark is None:
                mc.compared(Whole(0, marks[0]), v)
        if abs(x.step.value) > 1:
            mc.bounds.repeats(x.step.value)
    offset = sum(m.offset for m in marks) + sum(
        abs(v.value) for v in (x.start, x.stop) if not v.mark
    )
    mark = Mark("length", max((m.scale for m in marks), default=1), offset) if marks else None
    for k in values:
        mc.spend()
        yield Whole(k, mark)


def finite(mc: Machine, x: Any) -> list[Any]:
    """All items, of something of known length."""
    return list(turns(mc, x))
