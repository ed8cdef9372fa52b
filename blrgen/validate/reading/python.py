"""Functions of Python itself, and of functools."""

from __future__ import annotations

from typing import Any

from blrgen.validate.reading import loops
from blrgen.validate.reading.arithmetic import apply, binary
from blrgen.validate.reading.calls import call
from blrgen.validate.reading.functions import _op
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import (
    CARRIED,
    Array,
    Cond,
    Dict,
    Iter,
    Lengths,
    List,
    Listed,
    Mark,
    Num,
    Partial,
    Rank,
    Record,
    Several,
    Size,
    Span,
    Text,
    Whole,
)


@meaning("len", text="the length of an array, a list, a tuple", example="len(x)")
def _len(mc: Machine, x: Any, /) -> Any:
    if isinstance(x, Array):
        if not x.rank:
            raise mc.raises("the length of a number")
        return size_of(mc, x, 0)
    if isinstance(x, Listed):
        return Size(x.array.axes[0] if x.array.axes else 0)
    if isinstance(x, List):
        hidden = x.born < mc.depth or mc.grown(x) or not (x.plain or mc.generic)
        return Whole(len(x.items), CARRIED if hidden else None)
    if isinstance(x, Several):
        return Whole(len(x), None if mc.generic else CARRIED)
    if isinstance(x, Lengths):
        return Rank(len(x))
    if isinstance(x, tuple):
        return Whole(len(x))
    if isinstance(x, Record) and x.is_tuple:
        return Whole(len(x.values))
    if isinstance(x, Num | Whole):
        raise mc.raises("the length of a number")
    raise mc.refuse(f"the length of {mc.called(x)}")


def size_of(mc: Machine, x: Array, axis: int) -> Any:
    """The length of an axis, marked."""
    if x.generic:
        assert x.axes is not None
        return Size(x.axes[axis])
    return Whole(x.data.shape[axis], Mark())


@meaning(
    "range",
    text="whole numbers; over a length, every element once",
    example="[x[i] for i in range(len(x))][1]",
)
def _range(mc: Machine, start: Any, stop: Any = None, step: Any = None, /) -> Any:
    return span(mc, start, stop, step)


def span(mc: Machine, start: Any, stop: Any, step: Any, *, parallel: bool = False) -> Span:
    """range and prange."""
    if stop is None:
        start, stop = Whole(0), start
    if isinstance(stop, Num) and stop.integral and not parallel:
        return Span(start, stop, Whole(1) if step is None else step)
    step = Whole(1) if step is None else step
    for x in (start, step):
        if isinstance(x, Size):
            raise mc.sizes("a range from a length")
    for x in (start, stop, step):
        if not isinstance(x, Whole | Size):
            raise mc.refuse(f"a range of {mc.called(x)}")
    if step.value == 0:
        raise mc.raises("a range of step zero")
    return Span(start, stop, step, parallel)


@meaning(
    "numba.prange",
    text="as range; the turns must be independent",
    example="[x[i] for i in numba.prange(len(x))][2]",
)
def _prange(mc: Machine, start: Any, stop: Any = None, step: Any = None, /) -> Any:
    return span(mc, start, stop, step, parallel=True)


@meaning("print", text="writes to the screen and changes nothing", example="(print(rho), x)[1]")
def _print(mc: Machine, *values: Any) -> None:
    return None


@meaning("enumerate", text="items with their numbers", example="list(enumerate((x, y)))[0][1]")
def _enumerate(mc: Machine, iterable: Any, start: Any = None) -> Any:
    begin = Whole(0) if start is None else start
    if not isinstance(begin, Whole) or begin.mark:
        raise mc.refuse("enumerate from what is no known number")
    return Iter("enumerate", (iterable,), start=begin.value)


@meaning("zip", text="items side by side", example="[a for a, b in zip((x, y), (y, x))][0]")
def _zip(mc: Machine, *iterables: Any, strict: Any = None) -> Any:
    known = strict is None or (isinstance(strict, Cond) and strict.node.op == "truth")
    if not known:
        raise mc.refuse("keyword strict= of zip")
    return Iter("zip", iterables, strict=bool(strict is not None and strict.node.data))


@meaning("reversed", text="items backwards", example="list(reversed((x, y)))[1]")
def _reversed(mc: Machine, sequence: Any, /) -> Any:
    if not isinstance(sequence, tuple | Span):
        raise mc.refuse(f"reversed of {mc.called(sequence)}")
    return Iter("items", tuple(reversed(loops.finite(mc, sequence))))


@meaning("map", text="a function of every item", example="list(map(abs, (x, y)))[0]")
def _map(mc: Machine, function: Any, /, *iterables: Any) -> Any:
    lists = [loops.finite(mc, x) for x in iterables]
    if len({len(x) for x in lists}) != 1:
        raise mc.refuse("map over several lengths")
    made = tuple(call(mc, function, list(a), {}) for a in zip(*lists, strict=True))
    return Iter("items", made, lazy=True)


@meaning("list", text="the items as a list", example="list((x, y))[0]")
def _list(mc: Machine, iterable: Any = (), /) -> Any:
    if isinstance(iterable, Listed):
        return iterable
    return List(loops.finite(mc, iterable), mc.depth)


@meaning("tuple", text="the items as a tuple", example="tuple([x, y])[0]")
def _tuple(mc: Machine, iterable: Any = (), /) -> Any:
    return Several(loops.finite(mc, iterable))


@meaning("abs", text="|x|", example="abs(x)")
def _abs(mc: Machine, x: Any, /) -> Any:
    if isinstance(x, Whole):
        return Whole(abs(x.value), x.mark)
    if isinstance(x, Num) or (isinstance(x, Array) and x.kind != "b"):
        return apply(mc, lambda n: _op(mc, "abs", n), x)
    raise mc.refuse(f"abs of {mc.called(x)}")


@meaning("float", text="a number as it is", example="rho * float(1)")
def _float(mc: Machine, x: Any, /) -> Any:
    if isinstance(x, Num):
        return x
    if isinstance(x, Whole):
        return Num(mc.node(x), bool(x.mark))
    if isinstance(x, Array) and x.rank:
        mc.ambiguous = True
        raise mc.raises("float of an array")
    raise mc.refuse(f"float of {mc.called(x)}")


@meaning("int", text="a whole number as it is", example="rho ** int(2)")
def _int(mc: Machine, x: Any, /) -> Any:
    if isinstance(x, Whole) or (isinstance(x, Num) and x.integral and x.node.op == "symbol"):
        return x
    raise mc.refuse(f"int of {mc.called(x)}")


@meaning("pow", text="xʸ", example="pow(x, 2)")
def _pow(mc: Machine, base: Any, exp: Any) -> Any:
    return binary(mc, "pow", base, exp)


@meaning("divmod", text="of whole numbers", example="x * divmod(7, 2)[0]")
def _divmod(mc: Machine, x: Any, y: Any, /) -> Any:
    return (binary(mc, "floordiv", x, y), binary(mc, "mod", x, y))


@meaning("sum", text="of items one by one", example="sum([x, y])")
def _sum(mc: Machine, iterable: Any, /, start: Any = None) -> Any:
    if isinstance(iterable, Listed) or loops.generic_axis(mc, iterable) is not None:
        raise mc.sizes("a sum over elements")
    out = Whole(0) if start is None else start
    mc.depth += 1
    try:
        for x in loops.turns(mc, iterable):
            out = binary(mc, "add", out, x)
    finally:
        mc.depth -= 1
    return Num(out.node, True) if isinstance(out, Num) and out.node.number is not None else out


def _extreme(mc: Machine, op: str, values: tuple[Any, ...]) -> Any:
    items = loops.finite(mc, values[0]) if len(values) == 1 else list(values)
    if not items:
        raise mc.raises("an extreme of nothing")
    if all(isinstance(x, Whole) for x in items):
        return _extreme_whole(mc, op, items)
    for x in items:
        if isinstance(x, Array):
            mc.ambiguous = True
            raise mc.raises("an order of arrays")
        if isinstance(x, Size):
            raise mc.sizes("an extreme of lengths")
        if isinstance(x, Cond):
            raise mc.refuse("an order of truth values")
    out = mc.node(items[0])
    for x in items[1:]:
        out = mc.graph.make(op, (out, mc.node(x)))
    whole = any(mc.integral(x) for x in items)  # it may be the one that is chosen
    return Num(out, mc.counted(*items), whole, numpy=True)


def _extreme_whole(mc: Machine, op: str, items: list[Whole]) -> Whole:
    out = items[0]
    for x in items[1:]:
        mc.compared(out, x)
        chosen = (x.value > out.value) if op == "max" else (x.value < out.value)
        marks = [v.mark for v in (out, x) if v.mark]
        mark = max(marks, key=lambda m: m.scale) if marks else None
        if mark is not None:
            offset = sum(m.offset for m in marks) + sum(
                abs(v.value) for v in (out, x) if not v.mark
            )
            mark = Mark(mark.kind, mark.scale, offset)
        out = Whole((x if chosen else out).value, mark)
    return out


@meaning("max", text="the largest of numbers", example="x * max(rho, 0.5)")
def _max(mc: Machine, /, *values: Any) -> Any:
    return _extreme(mc, "max", values)


@meaning("min", text="the smallest of numbers", example="x * min(rho, 0.5)")
def _min(mc: Machine, /, *values: Any) -> Any:
    return _extreme(mc, "min", values)


@meaning(
    "functools.partial",
    text="a function with arguments filled in",
    example="functools.partial(pow, x)(2)",
)
def _partial(mc: Machine, function: Any, /, *args: Any, **keywords: Any) -> Any:
    return Partial(function, args, tuple(keywords.items()))


@meaning("dict", text="a dictionary of words", example="dict(a=x)['a']")
def _dict(mc: Machine, /, **items: Any) -> Any:
    return Dict(dict(items))


@meaning(
    "functools.reduce",
    text="items folded by a function",
    example="functools.reduce(operator.add, (x, y))",
)
def _reduce(mc: Machine, function: Any, iterable: Any, initial: Any = None, /) -> Any:
    if loops.generic_axis(mc, iterable) is not None:
        raise mc.sizes("a fold over elements")
    if not mc.matrix and not isinstance(iterable, tuple):
        raise mc.refuse("a fold over what may be as long as an array")
    items = loops.finite(mc, iterable)
    if initial is not None:
        items = [initial, *items]
    if not items:
        raise mc.raises("a fold of nothing")
    out = items[0]
    mc.depth += 1
    try:
        for x in items[1:]:
            out = mc.carried(call(mc, function, [out, x], {}))
    finally:
        mc.depth -= 1
    return out


@meaning("list.append", text="one more item", example="[a := [x], a.append(y)][0][1]")
def _append(mc: Machine, items: Any, x: Any, /) -> Any:
    if mc.loops:
        raise mc.sizes("a list changed in a loop")
    mc.spend()
    items.plain = items.plain and not mc.depth
    items.items.append(mc.carried(x))
    mc.changes += 1
    if mc.depth:
        mc.growing.append(items)
    return None


@meaning(
    "dict.get", text="the value of a word, or what stands beside it", example="{'a': x}.get('a')"
)
def _get(mc: Machine, d: Any, key: Any, default: Any = None, /) -> Any:
    if not isinstance(key, Text):
        raise mc.refuse("a dictionary's key that is no word")
    return d.items.get(key.text, default)


@meaning("dict.items", text="words and values", example="[v for k, v in {'a': x}.items()][0]")
def _items(mc: Machine, d: Dict, /) -> Any:
    return tuple((Text(k), v) for k, v in d.items.items())


@meaning("dict.values", text="the values", example="list({'a': x}.values())[0]")
def _values(mc: Machine, d: Dict, /) -> Any:
    return tuple(d.items.values())
