"""The section of a class that begins: constructor and first state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from blrgen.emit.model.defaults import expression, in_order
from blrgen.emit.model.guarded import Guarded
from blrgen.emit.model.places import (
    ANY,
    DATA,
    DTYPE,
    ENDS,
    FLOOR,
    NOTHING,
    RNG,
    SHIFT,
    SIZES,
    STATE,
    caller_name,
    python_name,
    result,
)
from blrgen.emit.tree import classes as c
from blrgen.program.model.values import (
    Argument,
    Array,
    Chained,
    Method,
    Stack,
    Start,
)

if TYPE_CHECKING:
    from blrgen.emit.model.writer import Writer


def constructor(w: Writer) -> c.Method:
    """Data, sizes, type, first state."""
    p = w.program
    sizes = [c.Argument(python_name(x), "int", None, True) for x in p.sizes
             if x not in p.optional]  # fmt: skip
    free = [c.Argument(python_name(x), "int | None", NOTHING, True) for x in p.optional]
    lengths = [c.Argument(python_name(x.name), ANY, only=True) for x in p.lengths]
    own = [
        c.Argument("start", "Mapping[str, Any] | None", NOTHING, True),
        c.Argument("seed", "int", c.Literal(0), True),
    ]
    if w.points:
        own.append(c.Argument("floor", "Mapping[str, float] | None", NOTHING, True))
    own += [c.Argument(x, "float", c.Literal(value), True) for x, value in w.rates]
    given = [*map(argument, p.arguments)]
    needed = [x for x in given if x.default is None]
    arguments = [*needed, *lengths, *sizes, *free, *(x for x in given if x.default), *own]
    known = tuple((c.Literal(x), c.call("_size", c.Literal(x), c.Name(python_name(x))))
                  for x in p.sizes if x not in p.optional)  # fmt: skip
    reals = [c.Name(caller_name(x)) for x in p.arguments
             if x.role == "data" and not x.array.labels]  # fmt: skip
    body: list[c.Statement] = [
        c.Set((SIZES,), c.Table(known), "dict[str, int]" if not known else ""),
        *(
            c.Do(c.call("_optional", SIZES, c.Literal(x), c.Name(python_name(x))))
            for x in p.optional
        ),
        c.Set((DTYPE,), c.call("_dtype", c.Literal(w.dtype), *reals)),
        c.Set((DATA,), c.Table(()), STATE),
    ]
    for length in p.lengths:
        name = c.Name(python_name(length.name))
        words = map(c.Literal, (length.outer, length.name))
        called = c.call("_pointers", c.Literal(length.name), name, *words, SIZES)
        body.append(c.Set((c.Item(DATA, c.Literal(length.pointers)),), called))
    kept = {x.called: c.Item(DATA, c.Literal(x.array.name)) for x in p.arguments}
    body += [s for x in in_order(p.arguments) for s in _kept(x, kept)]
    body += [_laid(x) for x in p.stacks]
    body += [
        c.Set((RNG,), c.call(c.Attribute(c.Attribute(c.Use("np"), "random"), "default_rng"),
                             c.Name("seed"))),
        c.Set((c.attribute("t"),), c.Literal(0)),
        c.Set((c.attribute("notes"),), c.Row((), True), "list[dict[str, str]]"),
    ]  # fmt: skip
    body += [c.Set((c.attribute(x),), c.Name(x)) for x, _ in w.rates]
    if w.points:
        floors = c.call("_floors", c.Name("floor"), c.Name("NODES"), SIZES)
        ends = c.call("_point_ends", c.Name("NODES"), SIZES, DTYPE)
        body += [c.Set((FLOOR,), floors), c.Set((ENDS,), ends)]
    if p.moving:
        body.append(c.Set((SHIFT,), c.call("_brought_near", DATA, c.Name("MOVING"))))
    if p.sums:
        body.append(c.Set((c.attribute("sums"),), c.Table(()), STATE))
        outs = tuple(c.Item(c.attribute("sums"), c.Literal(x)) for x in p.sums.program.outs)
        body.append(c.Set(outs, w.call(p.sums)))
    if p.guarded:
        body += Guarded(w).constructed()
    if p.draws:
        body.append(c.Set((c.attribute("kept"),), c.Table(()), "dict[str, list[Array]]"))
    called = c.call(c.attribute("_first_state"), c.Name("start"))
    body += [c.Set((c.attribute("state"),), c.Table(()), STATE),
             c.Set((c.attribute("state"),), called)]  # fmt: skip
    doc = "Read the data, and begin."
    return c.Method("__init__", tuple(arguments), "None", doc, tuple(body))


def first_state(w: Writer) -> c.Method:
    """What `start` says, and what it does not say."""
    p, nodes = w.program, c.Name("NODES")
    given, state = c.Name("given"), c.attribute("state")
    said = {x.name for x in p.said}
    free = c.Row(tuple(c.Literal(x.node) for x in p.posteriors
                       if x.method and x.node not in said))  # fmt: skip
    drawn: c.Expression = c.call("_drawn_start", nodes, SIZES, DTYPE, RNG)
    first: list[c.Statement] = []
    if p.units:
        first = [c.Set((c.Name("drawn"),), drawn)]
        drawn = c.call("_in_units", c.Name("drawn"), DATA, c.Name("UNITS"))
    body: list[c.Statement] = [
        c.Set((given,), c.call("_given_start", c.Name("start"), nodes, SIZES, DTYPE, free)),
        *([c.Set((given,), c.call("_all_nearer", given, SHIFT))] if p.moving else []),
        *first,
        c.Set((state,), c.Sign("|", given, drawn)),
    ]
    for x in p.chained:
        body += in_chain(w, x, given, state)
    if p.start is not None:
        short = c.Sign("<", c.Literal(len(p.state)), c.call("len", given))
        body.append(c.When(short, from_labels(w, p.start)))
    if p.settle is not None:
        body += settled(w, p.settle)
    elif p.averaged:
        body.append(c.Return(c.Sign("|", zeros(w), c.Sign("|", given, state))))
    else:
        body.append(c.Return(c.Sign("|", given, state)))
    argument = c.Argument("start", "Mapping[str, Any] | None")
    return c.Method("_first_state", (argument,), STATE, "Return the first state.", tuple(body))


def zeros(w: Writer) -> c.Expression:
    """What is averaged over steps, before the first."""
    full = c.Attribute(c.Use("np"), "zeros")
    return c.Table(tuple(
        (c.Literal(x.name), c.call(full, c.Row(tuple(map(w.size, x.axes))), DTYPE))
        for x in w.program.averaged
    ))  # fmt: skip


def in_chain(w: Writer, x: Chained, *states: c.Expression) -> list[c.Statement]:
    """Natural parameters in the place of the marginals that a start says."""
    names = tuple(p.array.name for v in x.variables for p in v.parts)
    body: list[c.Statement] = [
        c.Set((c.Name(y),), c.Item(c.attribute("state"), c.Literal(y))) for y in names
    ]
    body.append(result(x.method, w.call(x.method, names)))
    pairs = zip(x.arrays, x.method.program.outs, strict=True)
    table = c.Table(tuple((c.Literal(y.name), c.Name(z)) for y, z in pairs))
    row = c.Row(tuple(map(c.Literal, names)))
    return [*body, *(c.Set((y,), c.call("_as_chain", y, row, table)) for y in states)]


def settled(w: Writer, method: Method) -> list[c.Statement]:
    """Sums over all rows at the start."""
    state = c.attribute("state")
    pairs = zip(w.program.averaged, method.program.outs, strict=True)
    table = c.Table(tuple((c.Literal(x.name), c.Name(y)) for x, y in pairs))
    return [result(method, w.call(method)), c.Return(c.Sign("|", table, state))]


def from_labels(w: Writer, start: Start) -> tuple[c.Statement, ...]:
    """The state after a step in which the labels are found by the data alone."""
    count, labels = (w.size(x) for x in start.given.sizes)
    rows = c.Row(tuple(c.Item(DATA, c.Literal(x)) for x in start.rows), True)
    grouped = c.call("_grouped", rows, count, labels, DTYPE, RNG)
    name = c.Name(start.given.name)
    method = start.method
    whole = ("rho",) if w.program.guarded else ()
    found = w.places.call(w.functions[method.name], (start.given.name, *whole))
    outs = zip(w.program.state, method.program.outs, strict=True)
    table: c.Expression = c.Table(tuple((c.Literal(x.name), c.Name(y)) for x, y in outs))
    if w.points:  # an end of a domain is no first value
        table = c.call("_bounded", table, c.Table(()), c.Row(()), FLOOR)
    state, drawn = c.attribute("state"), c.Name("drawn")
    objective = c.Item(c.call(c.attribute("_swept")), c.Literal(0))
    return (
        c.Set((name,), grouped),
        *(c.Set((c.Name(x),), c.Literal(1.0)) for x in whole),
        result(method, found),
        c.Set((drawn,), state),
        c.Set((state,), c.Sign("|", table, drawn)),
        c.Set((state,), c.Sign("|", c.Name("given"), state)),
        c.When(
            c.Sign("not", c.call("_all_finite", objective, state)),
            (c.Note("no spread is left in a group"), c.Set((state,), drawn)),
        ),
    )


def argument(x: Argument) -> c.Argument:
    """An argument of a constructor."""
    default: c.Expression | None = None
    kind = ANY
    if x.default is not None:
        plain = isinstance(x.default, float) and not x.array.axes
        default = c.Literal(x.default) if isinstance(x.default, float) and plain else NOTHING
        kind = "float" if plain else ANY
    return c.Argument(caller_name(x), kind, default, True)


def _kept(x: Argument, kept: Mapping[str, c.Expression]) -> list[c.Statement]:
    """What the constructor does with an argument; `kept` are those that a default may read."""
    value: c.Expression = c.Name(caller_name(x))
    made: list[c.Statement] = []
    if isinstance(x.default, float) and x.array.axes:
        value = c.call("_filled", value, c.Literal(x.default), _axes(x.array), SIZES)
    elif x.default is not None and not isinstance(x.default, float):
        absent = c.Sign("is", NOTHING, value)
        default = expression(x.default, kept, SIZES)
        made.append(c.When(absent, (c.Set((value,), default),)))
    place = c.Item(DATA, c.Literal(x.array.name))
    if not x.seen:
        return [*made, c.Set((place,), checked(x, value, SIZES))]
    seen = c.Item(DATA, c.Literal(x.seen))
    return [*made, c.Set((place, seen), there(x, value, SIZES))]


def there(x: Argument, value: c.Expression, sizes: c.Expression) -> c.Invoked:
    """An array of which elements may be missing, and which are there."""
    if x.array.labels == "":
        return c.call("_seen", checked(x, value, sizes), c.Literal(x.value_axes),
                      c.Literal(x.array.domain), sizes)  # fmt: skip
    name = c.Literal(x.called or x.array.name)
    return c.call("_seen_labels", name, value, _axes(x.array), sizes,
                  c.Literal(x.array.labels), DTYPE)  # fmt: skip


def _laid(x: Stack) -> c.Statement:
    """Where the entries of arrays stand that are laid end to end."""

    def row(found: Iterable[Any]) -> c.Row:
        return c.Row(tuple(row(y) if isinstance(y, tuple) else c.Literal(y) for y in found))

    ties = ((y.first, y.second, y.lag, y.axes) for y in x.ties)
    words = c.Literal(x.name), row(x.parts), row(ties), c.Literal(x.along), c.Literal(x.lags)
    return c.Do(c.Invoked(c.Attribute(DATA, "update"), (c.call("_stacked", *words, SIZES, DTYPE),)))


def checked(x: Argument, value: c.Expression, sizes: c.Expression) -> c.Invoked:
    """An array as it is kept, if nothing is wrong with it."""
    name, axes = c.Literal(x.called or x.array.name), _axes(x.array)
    if x.array.labels != "":
        return c.call("_labels", name, value, axes, sizes, c.Literal(x.array.labels))
    words: dict[str, c.Expression] = {}
    if x.array.domain != "R":
        words["domain"] = c.Literal(x.array.domain)
    if x.seen:
        words["missing"] = c.Literal(True)
    return c.call("_numbers", name, value, axes, sizes, DTYPE, **words)


def _axes(array: Array) -> c.Row:
    return c.Row(tuple(map(c.Literal, array.axes)))
