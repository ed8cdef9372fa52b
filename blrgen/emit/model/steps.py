"""The section of a class that goes on: steps, runs, the objective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.model.places import (
    ANY,
    DATA,
    ENDS,
    FLAGS,
    FLOOR,
    NOTHING,
    SIZES,
    STATE,
    result,
)
from blrgen.emit.tree import classes as c
from blrgen.program.model.values import DEFINITE

if TYPE_CHECKING:
    from blrgen.emit.model.writer import Writer


LOCAL = ("scale", "rho")  # what a step over some rows also reads


def all_rows(w: Writer) -> list[c.Method]:
    """All rows in each step."""
    three = tuple(map(c.Name, ("objective", "state", "flags")))
    all_of = c.Set(three, c.call(c.attribute("_swept")))
    words = map(c.Name, ("self", "objective", "state", "NODES"))
    going = c.Do(c.call(c.attribute("_take"), c.Name("state"), c.Name("flags")))
    stays = c.Sign("not", c.call("_stopped", *words, ahead=c.Literal(True)))
    body = (all_of, c.When(stays, (going,)), c.Return(c.Name("objective")))
    doc = "Take one step; return the objective before it."
    step = c.Method("step", (), "float", doc, body)
    run = c.call("_run_steps", *map(c.Name, ("self", "NODES", "steps", "tol")))
    return [step, running(run), bound(w), swept(w), take(w)]


def bound(w: Writer) -> c.Method:
    """The objective that a sweep begins with."""
    item = c.Item(c.call(c.attribute("_swept")), c.Literal(0))
    return c.Method("objective", (), "float", "Return the objective at the current state.",
                    (c.Return(item),))  # fmt: skip


def swept(w: Writer, name: str = "_swept", arguments: tuple[c.Argument, ...] = (),
    takes: tuple[str, ...] = (),
) -> c.Method:  # fmt: skip
    """The program of a step, by the names of the class."""
    p = w.program
    objective, *rest = p.sweep.program.outs
    count = len(p.state)
    table = c.Table(tuple((c.Literal(x.name), c.Name(y))
                          for x, y in zip(p.state, rest[:count], strict=True)))  # fmt: skip
    flags = c.Table(tuple((c.Literal(x), c.Name(x)) for x in rest[count:]))
    value = c.Row((c.call("float", c.Name(objective)), bounded(w, table, FLAGS), FLAGS))
    return c.Method(name, arguments, f"tuple[float, {STATE}, {STATE}]",
                    "Return the objective, the state after a step, and what to say of it.",
                    (result(p.sweep, w.call(p.sweep, takes)),
                     c.Set((FLAGS,), flags, STATE), c.Return(value)))  # fmt: skip


def bounded(w: Writer, state: c.Expression, flags: c.Expression) -> c.Expression:
    """The state with its points inside of their domains, no less than their floors."""
    if not w.points:
        return state
    return c.call("_bounded", state, flags, ENDS, FLOOR)


def noted(w: Writer) -> c.Do:
    """What is to say of points."""
    return c.Do(c.call("_noted_points", c.attribute("notes"), FLAGS, c.Name("NODES"), FLOOR))


def running(call: c.Expression) -> c.Method:
    """`run`, which calls a support function."""
    arguments = (
        c.Argument("steps", "int | None", NOTHING),
        c.Argument("tol", "float", c.Literal(1e-8)),
    )
    doc = "Take steps until the objective changes by less than tol·(1 + |objective|)."
    return c.Method("run", arguments, "dict[str, Any]", doc, (c.Return(call),))


def take(w: Writer) -> c.Method:
    """Go on from a state, with notes of it."""
    flags, state = c.Name("flags"), c.Name("state")
    body: list[c.Statement] = [
        c.Set((c.attribute("state"),), state),
        c.Set((c.attribute("t"),), c.Sign("+", c.Literal(1), c.attribute("t"))),
    ]
    for x in w.program.notes:
        words = map(c.Literal, (x.kind, x.node, x.text))
        flag = c.Item(flags, c.Literal(x.flags))
        body.append(c.Do(c.call("_noted", c.attribute("notes"), *words, flag)))
    if w.points:
        body.append(noted(w))
    arguments = (c.Argument("state", STATE), c.Argument("flags", STATE))
    return c.Method("_take", arguments, "None", "Go on from a state.", tuple(body))


def definite(w: Writer) -> bool:
    """Whether points are matrices that must stay definite."""
    own = (p for v in w.program.variables if v.is_point for p in v.parts)
    return any(p.array.domain == DEFINITE for p in own)


def some_rows(w: Writer) -> list[c.Method]:
    """Some rows in each step; the objective is of all of them."""
    p = w.program
    assert p.bound is not None
    rows, size = c.Name("rows"), w.size(p.batch)
    outs = p.sweep.program.outs
    next_t = c.Sign("+", right=c.Literal(1), left=c.attribute("t"))
    table = c.Table(tuple((c.Literal(x.name), c.Name(y))
                          for x, y in zip(p.state, outs, strict=True)))  # fmt: skip
    some = c.call("_some_rows", DATA, SIZES, c.Name("ROWS"), c.Literal(p.batch), rows)
    rate = c.call("_rate", next_t, c.attribute("delay"), c.attribute("forgetting"))
    state: c.Expression = bounded(w, table, FLAGS)
    found: tuple[c.Statement, ...] = (
        c.Set((rows,), c.call("_row_numbers", rows, size)),
        c.Set((c.Name("data"), c.Name("sizes")), some),
        c.Set((c.Name("scale"),), c.Sign("/", right=c.Attribute(rows, "size"), left=size)),
        c.Set((c.Name("rho"),), rate),
        result(p.sweep, w.places.call(w.functions[p.sweep.name], LOCAL, True)),
        *([c.Set((FLAGS,), c.Table(()), STATE)] if w.points else []),
    )  # fmt: skip
    before, methods = found, []
    if definite(w):  # what a run looks at is the state before matrices are kept definite
        pair = c.Row((state, FLAGS))
        doc = "Return the state after a step, and what to say of it."
        kind = "tuple[dict[str, Array], dict[str, Array]]"
        argument = c.Argument("rows", ANY)
        methods = [c.Method("_ahead", (argument,), kind, doc, (*found, c.Return(pair)))]
        ahead = c.Invoked(c.attribute("_ahead"), (rows,))
        before = (c.Set((c.Name("state"), FLAGS), ahead),)
        own, notes = c.attribute("state"), c.attribute("notes")
        state = c.call("_stay_definite", c.Name("state"), own, c.Name("NODES"), notes)
    body: tuple[c.Statement, ...] = (
        *before,
        c.Set((c.attribute("state"),), state),
        c.Set((c.attribute("t"),), next_t),
        *([noted(w)] if w.points else []),
    )
    step = c.Method("step", (c.Argument("rows", ANY),), "None",
                    "Take one step by the rows at these places.", body)  # fmt: skip
    bound = c.Method("objective", (), "float", "Return the objective at the current state.",
                     (c.Return(c.call("float", w.call(p.bound))),))  # fmt: skip
    words = ("steps", "tol", "batch")
    run = c.call("_run_rows", c.Name("self"), c.Name("NODES"), size, *map(c.Name, words))
    whole = running(run)
    doc = "Take steps of so many rows; the objective is looked at once an epoch."
    batch = c.Argument("batch", "int", c.Literal(1))
    arguments = (*whole.arguments, batch)
    return [step, *methods, c.Method("run", arguments, whole.returns, doc, whole.body), bound]
