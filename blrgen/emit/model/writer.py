"""A model program → its class: constructor, steps, runs, and what is known after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from blrgen.emit.model.defaults import expression, in_order
from blrgen.emit.model.guarded import Guarded, always
from blrgen.emit.model.places import Places, caller_name, python_name, result
from blrgen.emit.model.samplers import Samplers, method_of, of_q
from blrgen.emit.tree import classes as c
from blrgen.emit.tree import nodes as t
from blrgen.program.model.values import (
    Argument,
    Array,
    Chain,
    Chained,
    Draw,
    Method,
    ModelProgram,
    Posterior,
    Predicted,
    Stack,
    Start,
)

ANY, ARRAY, STATE = "Any", "Array", "dict[str, Array]"
NOTHING = c.Literal(None)
LOCAL = ("scale", "rho")  # what a step over some rows also reads
RATES = (("delay", 1.0), ("forgetting", 0.7))
DOMAINS = {"rho": "(0, inf)", "delay": "[0, inf)", "forgetting": "[0, inf)"}
DATA, SIZES, DTYPE, RNG = (c.attribute(x) for x in ("data", "sizes", "dtype", "rng"))
ENDS = c.attribute("ends")
FLOOR, FLAGS, SHIFT = c.attribute("floor"), c.Name("flags"), c.attribute("shift")


@dataclass
class Writer:
    """Writes one class; `functions` are those that the methods' programs became."""

    program: ModelProgram
    functions: Mapping[str, t.Function]
    dtype: str = ""  # the only one, if there is one
    samplers: Samplers = field(default_factory=lambda: Samplers("numpy"))

    def __post_init__(self) -> None:
        self.places = Places(self.program)

    def definition(self) -> c.Class:
        """The class."""
        p = self.program
        methods = [self.constructor(), self.start()]
        if p.guarded:
            methods += Guarded(self).steps()
        else:
            methods += self.steps() if not p.batch else self.batch_steps()
        methods += [self.posterior(), *(self.own_posterior(x) for x in p.posteriors if x.method)]
        methods += [self.chain("pairs", p.pairs)] if p.pairs else []
        methods += [self.chain("path", p.paths)] if p.paths else []
        methods += self.sampling()
        methods += [self.predictive(p.predictive)] if p.predictive else []
        methods += self.predicted(p.predicted) if p.predicted else []
        resuming_methods = Guarded(self).resuming() if p.nodes else resuming()
        return c.Class(p.name, self.doc(), (*methods, *resuming_methods))

    @property
    def moved(self) -> set[str]:
        """Data and points that are moved together."""
        return {y for x in self.program.moving for y in (x.data, *x.points)}

    @property
    def points(self) -> bool:
        """Whether there are any, which a floor may bound."""
        return any(x.is_point for x in self.program.variables)

    @property
    def rates(self) -> tuple[tuple[str, float], ...]:
        """What ρ of a step is made from, with defaults."""
        return RATES if self.program.batch else self.program.rates

    def hyperparameters(self) -> c.Table:
        """Their domains."""
        return c.Table(tuple((c.Literal(x), c.Literal(DOMAINS[x])) for x, _ in self.rates))

    def doc(self) -> str:
        p = self.program
        words = [
            f"{python_name(x)}=…"
            for x in (*(x for x in p.sizes if x not in p.optional), *self.required())
        ]
        name = p.variables[0].name if p.variables else p.posteriors[0].node
        return (
            f"{p.title}\n\n"
            "`start` is a dictionary name → {parameter: array}, of a point the array itself; what\n"
            "it does not say begins by the seed. Arrays are read where they lie, and not changed.\n"
            "The module's docstring has the equations.\n\n"
            f"    model = {p.name}({', '.join(words)})\n"
            "    model.run()\n"
            f'    model.posterior("{name}")'
        )

    def required(self) -> list[str]:
        found = [caller_name(x) for x in self.program.arguments if x.default is None]
        return [*found, *(x.name for x in self.program.lengths)]

    # -- constructor ---------------------------------------------------------------------
    def constructor(self) -> c.Method:
        p = self.program
        sizes = [c.Argument(python_name(x), "int", None, True) for x in p.sizes
                 if x not in p.optional]  # fmt: skip
        free = [c.Argument(python_name(x), "int | None", NOTHING, True) for x in p.optional]
        lengths = [c.Argument(python_name(x.name), ANY, only=True) for x in p.lengths]
        own = [
            c.Argument("start", "Mapping[str, Any] | None", NOTHING, True),
            c.Argument("seed", "int", c.Literal(0), True),
        ]
        if self.points:
            own.append(c.Argument("floor", "Mapping[str, float] | None", NOTHING, True))
        own += [c.Argument(x, "float", c.Literal(value), True) for x, value in self.rates]
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
            c.Set((DTYPE,), c.call("_dtype", c.Literal(self.dtype), *reals)),
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
        body += [c.Set((c.attribute(x),), c.Name(x)) for x, _ in self.rates]
        if self.points:
            floors = c.call("_floors", c.Name("floor"), c.Name("NODES"), SIZES)
            ends = c.call("_point_ends", c.Name("NODES"), SIZES, DTYPE)
            body += [c.Set((FLOOR,), floors), c.Set((ENDS,), ends)]
        if p.moving:
            body.append(c.Set((SHIFT,), c.call("_brought_near", DATA, c.Name("MOVING"))))
        if p.sums:
            body.append(c.Set((c.attribute("sums"),), c.Table(()), STATE))
            outs = tuple(c.Item(c.attribute("sums"), c.Literal(x)) for x in p.sums.program.outs)
            body.append(c.Set(outs, self.call(p.sums)))
        if p.guarded:
            body += Guarded(self).constructed()
        if p.draws:
            body.append(c.Set((c.attribute("kept"),), c.Table(()), "dict[str, list[Array]]"))
        called = c.call(c.attribute("_first_state"), c.Name("start"))
        body += [c.Set((c.attribute("state"),), c.Table(()), STATE),
                 c.Set((c.attribute("state"),), called)]  # fmt: skip
        doc = "Read the data, and begin."
        return c.Method("__init__", tuple(arguments), "None", doc, tuple(body))

    def start(self) -> c.Method:
        """What `start` says, and what it does not say."""
        p, nodes = self.program, c.Name("NODES")
        given, state = c.Name("given"), c.attribute("state")
        said = {x.name for x in p.said}
        free = c.Row(tuple(c.Literal(x.node) for x in p.posteriors
                           if x.method and x.node not in said))  # fmt: skip
        body: list[c.Statement] = [
            c.Set((given,), c.call("_given_start", c.Name("start"), nodes, SIZES, DTYPE, free)),
            *([c.Set((given,), c.call("_all_nearer", given, SHIFT))] if p.moving else []),
            c.Set((state,), c.Sign("|", given, c.call("_drawn_start", nodes, SIZES, DTYPE, RNG))),
        ]
        for x in p.chained:
            body += self.in_chain(x, given, state)
        if p.start is not None:
            short = c.Sign("<", c.Literal(len(p.state)), c.call("len", given))
            body.append(c.When(short, self.from_labels(p.start)))
        if p.settle is not None:
            body += self.settled(p.settle)
        elif p.averaged:
            body.append(c.Return(c.Sign("|", self.zeros(), c.Sign("|", given, state))))
        else:
            body.append(c.Return(c.Sign("|", given, state)))
        argument = c.Argument("start", "Mapping[str, Any] | None")
        return c.Method("_first_state", (argument,), STATE, "Return the first state.", tuple(body))

    def zeros(self) -> c.Expression:
        """What is averaged over steps, before the first."""
        full = c.Attribute(c.Use("np"), "zeros")
        return c.Table(tuple(
            (c.Literal(x.name), c.call(full, c.Row(tuple(map(self.size, x.axes))), DTYPE))
            for x in self.program.averaged
        ))  # fmt: skip

    def in_chain(self, x: Chained, *states: c.Expression) -> list[c.Statement]:
        """Natural parameters in the place of the marginals that a start says."""
        names = tuple(p.array.name for v in x.variables for p in v.parts)
        body: list[c.Statement] = [
            c.Set((c.Name(y),), c.Item(c.attribute("state"), c.Literal(y))) for y in names
        ]
        body.append(result(x.method, self.call(x.method, names)))
        pairs = zip(x.arrays, x.method.program.outs, strict=True)
        table = c.Table(tuple((c.Literal(y.name), c.Name(z)) for y, z in pairs))
        row = c.Row(tuple(map(c.Literal, names)))
        return [*body, *(c.Set((y,), c.call("_as_chain", y, row, table)) for y in states)]

    def settled(self, method: Method) -> list[c.Statement]:
        """Sums over all rows at the start."""
        state = c.attribute("state")
        pairs = zip(self.program.averaged, method.program.outs, strict=True)
        table = c.Table(tuple((c.Literal(x.name), c.Name(y)) for x, y in pairs))
        return [result(method, self.call(method)), c.Return(c.Sign("|", table, state))]

    def from_labels(self, start: Start) -> tuple[c.Statement, ...]:
        """The state after a step in which the labels are found by the data alone."""
        count, labels = (self.size(x) for x in start.given.sizes)
        rows = c.Row(tuple(c.Item(DATA, c.Literal(x)) for x in start.rows), True)
        grouped = c.call("_grouped", rows, count, labels, DTYPE, RNG)
        name = c.Name(start.given.name)
        method = start.method
        whole = ("rho",) if self.program.guarded else ()
        found = self.places.call(self.functions[method.name], (start.given.name, *whole))
        outs = zip(self.program.state, method.program.outs, strict=True)
        table: c.Expression = c.Table(tuple((c.Literal(x.name), c.Name(y)) for x, y in outs))
        if self.points:  # an end of a domain is no first value
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

    def size(self, size: str | int) -> c.Expression:
        return c.Literal(size) if isinstance(size, int) else c.Item(SIZES, c.Literal(size))

    # -- steps ---------------------------------------------------------------------------
    def call(self, method: Method, takes: tuple[str, ...] = ()) -> c.Invoked:
        return self.places.call(self.functions[method.name], takes)

    def steps(self) -> list[c.Method]:
        """All rows in each step."""
        three = tuple(map(c.Name, ("objective", "state", "flags")))
        all_of = c.Set(three, c.call(c.attribute("_swept")))
        finite = c.call("_all_finite", c.Name("objective"), c.Name("state"))
        take = c.Do(c.call(c.attribute("_take"), c.Name("state"), c.Name("flags")))
        body = (all_of, c.When(finite, (take,)), c.Return(c.Name("objective")))
        doc = "Take one step; return the objective before it."
        step = c.Method("step", (), "float", doc, body)
        words = ("self", "NODES", "steps", "tol")
        run = c.call("_run_steps", *map(c.Name, words))
        return [step, self.running(run), self.bound(), self.swept(), self.take()]

    def bound(self) -> c.Method:
        """The objective that a sweep begins with."""
        item = c.Item(c.call(c.attribute("_swept")), c.Literal(0))
        return c.Method("objective", (), "float", "Return the objective at the current state.",
                        (c.Return(item),))  # fmt: skip

    def swept(
        self, name: str = "_swept", arguments: tuple[c.Argument, ...] = (),
        takes: tuple[str, ...] = (),
    ) -> c.Method:  # fmt: skip
        """The program of a step, by the names of the class."""
        p = self.program
        objective, *rest = p.sweep.program.outs
        count = len(p.state)
        table = c.Table(tuple((c.Literal(x.name), c.Name(y))
                              for x, y in zip(p.state, rest[:count], strict=True)))  # fmt: skip
        flags = c.Table(tuple((c.Literal(x), c.Name(x)) for x in rest[count:]))
        value = c.Row((c.call("float", c.Name(objective)), self.bounded(table, FLAGS), FLAGS))
        return c.Method(name, arguments, f"tuple[float, {STATE}, {STATE}]",
                        "Return the objective, the state after a step, and what to say of it.",
                        (result(p.sweep, self.call(p.sweep, takes)),
                         c.Set((FLAGS,), flags, STATE), c.Return(value)))  # fmt: skip

    def bounded(self, state: c.Expression, flags: c.Expression) -> c.Expression:
        """The state with its points inside of their domains, no less than their floors."""
        if not self.points:
            return state
        return c.call("_bounded", state, flags, ENDS, FLOOR)

    def noted(self) -> c.Do:
        """What is to say of points."""
        return c.Do(c.call("_noted_points", c.attribute("notes"), FLAGS, c.Name("NODES"), FLOOR))

    def running(self, call: c.Expression) -> c.Method:
        arguments = (
            c.Argument("steps", "int | None", NOTHING),
            c.Argument("tol", "float", c.Literal(1e-8)),
        )
        doc = "Take steps until the objective changes by less than tol·(1 + |objective|)."
        return c.Method("run", arguments, "dict[str, Any]", doc, (c.Return(call),))

    def take(self) -> c.Method:
        flags, state = c.Name("flags"), c.Name("state")
        body: list[c.Statement] = [
            c.Set((c.attribute("state"),), state),
            c.Set((c.attribute("t"),), c.Sign("+", c.Literal(1), c.attribute("t"))),
        ]
        for x in self.program.notes:
            words = map(c.Literal, (x.kind, x.node, x.text))
            flag = c.Item(flags, c.Literal(x.flags))
            body.append(c.Do(c.call("_noted", c.attribute("notes"), *words, flag)))
        if self.points:
            body.append(self.noted())
        arguments = (c.Argument("state", STATE), c.Argument("flags", STATE))
        return c.Method("_take", arguments, "None", "Go on from a state.", tuple(body))

    def batch_steps(self) -> list[c.Method]:
        """Some rows in each step; the objective is of all of them."""
        p = self.program
        assert p.bound is not None
        rows, size = c.Name("rows"), self.size(p.batch)
        outs = p.sweep.program.outs
        next_t = c.Sign("+", right=c.Literal(1), left=c.attribute("t"))
        table = c.Table(tuple((c.Literal(x.name), c.Name(y))
                              for x, y in zip(p.state, outs, strict=True)))  # fmt: skip
        some = c.call("_some_rows", DATA, SIZES, c.Name("ROWS"), c.Literal(p.batch), rows)
        rate = c.call("_rate", next_t, c.attribute("delay"), c.attribute("forgetting"))
        body: tuple[c.Statement, ...] = (
            c.Set((rows,), c.call("_row_numbers", rows, size)),
            c.Set((c.Name("data"), c.Name("sizes")), some),
            c.Set((c.Name("scale"),), c.Sign("/", right=c.Attribute(rows, "size"), left=size)),
            c.Set((c.Name("rho"),), rate),
            result(p.sweep, self.places.call(self.functions[p.sweep.name], LOCAL, True)),
            *([c.Set((FLAGS,), c.Table(()), STATE)] if self.points else []),
            c.Set((c.attribute("state"),), self.bounded(table, FLAGS)),
            c.Set((c.attribute("t"),), next_t),
            *([self.noted()] if self.points else []),
        )  # fmt: skip
        step = c.Method("step", (c.Argument("rows", ANY),), "None",
                        "Take one step by the rows at these places.", body)  # fmt: skip
        bound = c.Method("objective", (), "float", "Return the objective at the current state.",
                         (c.Return(c.call("float", self.call(p.bound))),))  # fmt: skip
        words = ("steps", "tol", "batch")
        run = c.call("_run_rows", c.Name("self"), c.Name("NODES"), size, *map(c.Name, words))
        running = self.running(run)
        doc = "Take steps of so many rows; the objective is looked at once an epoch."
        batch = c.Argument("batch", "int", c.Literal(1))
        arguments = (*running.arguments, batch)
        return [step, c.Method("run", arguments, running.returns, doc, running.body), bound]

    # -- what is known --------------------------------------------------------------------
    def posterior(self) -> c.Method:
        """By the name of a node."""
        body: list[c.Statement] = []
        for x in self.program.posteriors:
            made = c.call(c.attribute(_own(x.node)))
            value = made if x.method else c.call("_copied", _parameters(x, _of_state))
            moved = [n for _, n in x.parameters if n in self.moved]
            if moved and not x.method:
                value = c.call("_where_it_was", _of_state(moved[0]), SHIFT, c.Literal(moved[0]))
            body.append(_named(x.node, c.Return(value)))
        body.append(_unknown("posterior", [x.node for x in self.program.posteriors]))
        doc = "Return the parameters of q of a node, or a point."
        return c.Method("posterior", (c.Argument("name", "str"),), ANY, doc, tuple(body))

    def own_posterior(self, x: Posterior) -> c.Method:
        """One that needs a pass over the data."""
        assert x.method is not None
        outs = set(x.method.program.outs)
        value = _parameters(x, lambda n: c.Name(n) if n in outs else _of_state(n))
        body = (result(x.method, self.call(x.method)), c.Return(value))
        return c.Method(_own(x.node), (), ANY, f"{x.method.meaning}", body)

    def chain(self, name: str, chains: tuple[Chain, ...]) -> c.Method:
        """Of the chains among the nodes."""
        body: list[c.Statement] = []
        for x in chains:
            outs = tuple(map(c.Name, x.method.program.outs))
            rows = c.Item(DATA, c.Literal(x.pointers)) if x.pointers else NOTHING
            words = [c.Literal(x.outer), rows]
            words += [c.Literal(x.moving)] if name == "path" else []
            value = c.call("_best_paths" if name == "path" else "_later", *outs, *words)
            lines = (result(x.method, self.call(x.method)), c.Return(value))
            body.append(_named(x.node, *lines))
        body.append(_unknown(name, [x.node for x in chains]))
        doc = {"pairs": "Return the joint of neighbours of a chain under q.",
               "path": "Return the most probable path of a chain."}[name]  # fmt: skip
        return c.Method(name, (c.Argument("name", "str"),), ANY, doc, tuple(body))

    def sampling(self) -> list[c.Method]:
        """Draws from q of nodes, those that have a law to be drawn from."""
        known = [x for x in self.program.samples if self.samplers.known(x)]
        if not known:
            return []
        body: list[c.Statement] = []
        own: list[c.Method] = []
        for x in known:
            made = None
            if x.method is not None:
                takes = (x.normals.name,) if x.normals is not None else ()
                made = result(x.method, self.call(x.method, takes))
                if x.normals is not None:
                    own.append(self.one_draw(x, made))
            body.append(_named(x.node, *of_q(x, self.samplers, made)))
        body.append(_unknown("sample", [x.node for x in known]))
        arguments = (c.Argument("name", "str"), c.Argument("rng", ANY),
                     c.Argument("size", ANY, NOTHING))  # fmt: skip
        doc = "Draw from q of a node: `size`, then its plates; of several variables each."
        return [c.Method("sample", arguments, ANY, doc, tuple(body)), *own]

    def one_draw(self, draw: Draw, made: c.Set) -> c.Method:
        """One draw of a chain, of standard normals."""
        assert draw.normals is not None
        body = (made, c.Return(c.Name(draw.parameters[0][1])))
        arguments = (c.Argument(draw.normals.name, ARRAY),)
        return c.Method(method_of(draw), arguments, ANY, f"Draw {draw.node} once.", body)

    def predictive(self, method: Method) -> c.Method:
        """Of new rows, whose number is their own."""
        given = tuple(x.array.name for x in method.takes)
        call = self.call(method, given)
        local = {c.Item(SIZES, c.Literal(s)): c.Item(c.Name("sizes"), c.Literal(s))
                 for s in self.fresh(method)}  # fmt: skip
        args = tuple(local.get(a, a) if isinstance(a, c.Item) else a for a in call.args)
        array = c.Attribute(c.Use("np"), "asarray")
        rows = self.new_rows(method)
        made = c.Return(c.call(array, c.Invoked(call.function, args)))
        arguments = tuple(argument(x) for x in method.takes)
        return c.Method("log_predictive", arguments, ARRAY, method.meaning, (*rows, made))

    def predicted(self, found: Predicted) -> list[c.Method]:
        """By draws of q: of values, and averaged over them."""
        method = found.method
        given = tuple(x.array.name for x in method.takes)
        drawn = [array for _, parts in found.drawn for _, array in parts]
        call = self.call(method, (*given, *drawn))
        real = self.functions[method.name].reals
        data: dict[str, c.Expression] = {}
        for x in (*given, *drawn):
            item = c.Item(c.Name("data"), c.Literal(x))
            data[x] = c.call("_scalar", item) if x in real else item
        own = {c.Item(SIZES, c.Literal(s)): c.Item(c.Name("sizes"), c.Literal(s))
               for s in self.fresh(method)}  # fmt: skip
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
        body = (*self.new_rows(method),
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

    def fresh(self, method: Method) -> list[str]:
        """The sizes that new rows have of their own."""
        axes = {s for x in method.takes for s in x.array.axes}
        return sorted({s for s in axes if isinstance(s, str)} - {*map(str, self._known_sizes())})

    def new_rows(self, method: Method) -> list[c.Statement]:
        """What the caller gives, checked and where the data are."""
        body: list[c.Statement] = [c.Set((c.Name("sizes"),), c.call("dict", SIZES))]
        for x in method.takes:
            value = checked(x, c.Name(caller_name(x)), c.Name("sizes"))
            old = next(y.array.name for y in self.program.arguments if y.called == x.called)
            if old in self.moved:
                value = c.call("_nearer", value, SHIFT, c.Literal(old))
            body.append(c.Set((c.Name(x.array.name),), value))
        return body

    def _known_sizes(self) -> list[str | int]:
        p = self.program
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
        return c.call("_seen", checked(x, value, sizes), c.Literal(x.value_axes))
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


def resuming() -> tuple[c.Method, ...]:
    """State out, state in."""
    saved = c.Argument("saved", "Mapping[str, Any]")
    own = c.Name("self")
    return (
        c.Method("state_dict", (), "dict[str, Any]", "Return copies of all that a run needs.",
                 (c.Return(c.call("_saved", own)),)),
        c.Method("load_state_dict", (saved,), "None", "Go on from what was saved, all or nothing.",
                 (c.Do(c.call("_go_on", own, c.Name("saved"), c.Name("NODES"))),)),
        *always(),
    )  # fmt: skip
