"""The section of a class that says what is known: posteriors, draws, predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from blrgen.emit.model.beginning import argument, checked
from blrgen.emit.model.places import (
    ANY,
    ARRAY,
    DATA,
    NOTHING,
    SHIFT,
    SIZES,
    caller_name,
    result,
)
from blrgen.emit.model.samplers import method_of, of_q
from blrgen.emit.tree import classes as c
from blrgen.program.model.values import (
    Chain,
    Draw,
    Method,
    Posterior,
    Predicted,
)

if TYPE_CHECKING:
    from blrgen.emit.model.writer import Writer


def posterior(w: Writer) -> c.Method:
    """By the name of a node."""
    body: list[c.Statement] = []
    for x in w.program.posteriors:
        made = c.call(c.attribute(_own(x.node)))
        value = made if x.method else c.call("_copied", _parameters(x, _of_state))
        moved = [n for _, n in x.parameters if n in w.moved]
        if moved and not x.method:
            value = c.call("_where_it_was", _of_state(moved[0]), SHIFT, c.Literal(moved[0]))
        body.append(_named(x.node, c.Return(value)))
    body.append(_unknown("posterior", [x.node for x in w.program.posteriors]))
    doc = "Return the parameters of q of a node, or a point."
    return c.Method("posterior", (c.Argument("name", "str"),), ANY, doc, tuple(body))


def own_posterior(w: Writer, x: Posterior) -> c.Method:
    """One that needs a pass over the data."""
    assert x.method is not None
    outs = set(x.method.program.outs)
    value = _parameters(x, lambda n: c.Name(n) if n in outs else _of_state(n))
    body = (result(x.method, w.call(x.method)), c.Return(value))
    return c.Method(_own(x.node), (), ANY, f"{x.method.meaning}", body)


def of_chains(w: Writer, name: str, chains: tuple[Chain, ...]) -> c.Method:
    """Of the chains among the nodes."""
    body: list[c.Statement] = []
    for x in chains:
        outs = tuple(map(c.Name, x.method.program.outs))
        rows = c.Item(DATA, c.Literal(x.pointers)) if x.pointers else NOTHING
        words = [c.Literal(x.outer), rows]
        words += [c.Literal(x.moving)] if name == "path" else []
        value = c.call("_best_paths" if name == "path" else "_later", *outs, *words)
        lines = (result(x.method, w.call(x.method)), c.Return(value))
        body.append(_named(x.node, *lines))
    body.append(_unknown(name, [x.node for x in chains]))
    doc = {"pairs": "Return the joint of neighbours of a chain under q.",
           "path": "Return the most probable path of a chain."}[name]  # fmt: skip
    return c.Method(name, (c.Argument("name", "str"),), ANY, doc, tuple(body))


def sampling(w: Writer) -> list[c.Method]:
    """Draws from q of nodes, those that have a law to be drawn from."""
    known = [x for x in w.program.samples if w.samplers.known(x)]
    if not known:
        return []
    body: list[c.Statement] = []
    own: list[c.Method] = []
    for x in known:
        made = None
        if x.method is not None:
            takes = (x.normals.name,) if x.normals is not None else ()
            made = result(x.method, w.call(x.method, takes))
            if x.normals is not None:
                own.append(one_draw(w, x, made))
        body.append(_named(x.node, *of_q(x, w.samplers, made)))
    body.append(_unknown("sample", [x.node for x in known]))
    arguments = (c.Argument("name", "str"), c.Argument("rng", ANY),
                 c.Argument("size", ANY, NOTHING))  # fmt: skip
    doc = "Draw from q of a node: `size`, then its plates; of several variables each."
    return [c.Method("sample", arguments, ANY, doc, tuple(body)), *own]


def one_draw(w: Writer, draw: Draw, made: c.Set) -> c.Method:
    """One draw of a chain, of standard normals."""
    assert draw.normals is not None
    body = (made, c.Return(c.Name(draw.parameters[0][1])))
    arguments = (c.Argument(draw.normals.name, ARRAY),)
    return c.Method(method_of(draw), arguments, ANY, f"Draw {draw.node} once.", body)


def predictive(w: Writer, method: Method) -> c.Method:
    """Of new rows, whose number is their own."""
    given = tuple(x.array.name for x in method.takes)
    call = w.call(method, given)
    local = {c.Item(SIZES, c.Literal(s)): c.Item(c.Name("sizes"), c.Literal(s))
             for s in fresh(w, method)}  # fmt: skip
    args = tuple(local.get(a, a) if isinstance(a, c.Item) else a for a in call.args)
    array = c.Attribute(c.Use("np"), "asarray")
    rows = new_rows(w, method)
    made = c.Return(c.call(array, c.Invoked(call.function, args)))
    arguments = tuple(argument(x) for x in method.takes)
    return c.Method("log_predictive", arguments, ARRAY, method.meaning, (*rows, made))


def predicted(w: Writer, found: Predicted) -> list[c.Method]:
    """By draws of q: of values, and averaged over them."""
    method = found.method
    given = tuple(x.array.name for x in method.takes)
    drawn = [array for _, parts in found.drawn for _, array in parts]
    call = w.call(method, (*given, *drawn))
    real = w.functions[method.name].reals
    data: dict[str, c.Expression] = {}
    for x in (*given, *drawn):
        item = c.Item(c.Name("data"), c.Literal(x))
        data[x] = c.call("_scalar", item) if x in real else item
    own = {c.Item(SIZES, c.Literal(s)): c.Item(c.Name("sizes"), c.Literal(s))
           for s in fresh(w, method)}  # fmt: skip
    args = tuple(_given_from(x, data, own) for x in call.args)
    at = c.Method(
        "_log_rows_given",
        (c.Argument("data", "Mapping[str, Array]"), c.Argument("sizes", "Mapping[str, int]")),
        ANY, "Return log p of each new row where all that is drawn has values.",
        (c.Return(c.Invoked(call.function, args)),),
    )  # fmt: skip
    nodes = c.Table(tuple(
        (c.Literal(node), c.Row(tuple(c.Row((c.Literal(v), c.Literal(x))) for v, x in parts)))
        for node, parts in found.drawn
    ))  # fmt: skip
    rows = c.Table(tuple((c.Literal(x), c.Name(x)) for x in given))
    words = map(c.Name, ("sizes", "draws", "seed", "error"))
    body = (*new_rows(w, method),
            c.Return(c.call("_predicted", c.Name("self"), nodes, rows, *words)))  # fmt: skip
    arguments = (
        *(argument(x) for x in method.takes),
        c.Argument("draws", "int", c.Literal(400), True),
        c.Argument("seed", "int", c.Literal(0), True),
        c.Argument("error", "bool", c.Literal(False), True),
    )
    doc = (f"{method.meaning}\n\nIt is averaged over draws of q; with `error` the standard "
           "error of each comes with it.")  # fmt: skip
    return [c.Method("log_predictive", arguments, ANY, doc, body), at]


def fresh(w: Writer, method: Method) -> list[str]:
    """The sizes that new rows have of their own."""
    axes = {s for x in method.takes for s in x.array.axes}
    return sorted({s for s in axes if isinstance(s, str)} - {*map(str, _known_sizes(w))})


def new_rows(w: Writer, method: Method) -> list[c.Statement]:
    """What the caller gives, checked and where the data are."""
    body: list[c.Statement] = [c.Set((c.Name("sizes"),), c.call("dict", SIZES))]
    for x in method.takes:
        value = checked(x, c.Name(caller_name(x)), c.Name("sizes"))
        old = next(y.array.name for y in w.program.arguments if y.called == x.called)
        if old in w.moved:
            value = c.call("_nearer", value, SHIFT, c.Literal(old))
        body.append(c.Set((c.Name(x.array.name),), value))
    return body


def _known_sizes(w: Writer) -> list[str | int]:
    p = w.program
    return [*p.sizes, *(s for x in p.arguments for s in x.array.axes)]


def _given_from(
    x: c.Expression, data: Mapping[str, c.Expression], sizes: Mapping[c.Item, c.Item]
) -> c.Expression:
    """An argument of a function, where rows, values and sizes are handed in."""
    if isinstance(x, c.Name):
        return data.get(x.name, x)
    if isinstance(x, c.Item):
        return sizes.get(x, x)
    if isinstance(x, c.Invoked):
        return c.Invoked(x.function, tuple(_given_from(y, data, sizes) for y in x.args), x.words)
    return x


def _own(node: str) -> str:
    """The name of the method that has a node's posterior."""
    return f"_posterior_{''.join(x if x.isalnum() else '_' for x in node)}"


def _of_state(name: str) -> c.Expression:
    return c.Item(c.attribute("state"), c.Literal(name))


def _named(node: str, *body: c.Statement) -> c.When:
    """What is done where the method is asked for this node."""
    return c.When(c.Sign("==", c.Literal(node), c.Name("name")), body)


def _unknown(what: str, nodes: list[str]) -> c.Return:
    """A name that is not there is refused with those that are."""
    there = c.Row(tuple(map(c.Literal, nodes)), True)
    return c.Return(c.call("_unknown", c.Literal(what), c.Name("name"), there))


def _parameters(x: Posterior, place: Callable[[str], c.Expression]) -> c.Expression:
    """The dictionary of a family's parameters; the array of a point."""
    found = [(k, place(n)) for k, n in x.parameters]
    if not x.family:
        return found[0][1]
    return c.Table(tuple((c.Literal(k), e) for k, e in found))
