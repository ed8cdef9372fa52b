"""A class that draws: every block from its full conditional, the values as its state.

Families are drawn from by the functions of `samplers`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blrgen.emit.model.guarded import kept_by
from blrgen.emit.model.places import ANY, DATA, DTYPE, NODES, NOTHING, RNG, SIZES, STATE, result
from blrgen.emit.model.samplers import array, method_of, pointers
from blrgen.emit.model.writer import Writer
from blrgen.emit.tree import classes as c
from blrgen.emit.tree.described import Kept
from blrgen.program.model.values import Array, Draw


@dataclass
class DrawWriter(Writer):
    """Writes the class of a program with draws."""

    def sections(self) -> tuple[list[c.Method], ...]:
        """First values; steps; a draw of each block; what is known of all draws."""
        return (
            [self.start()],
            [self.step(), self.running_draws(), self.bound()],
            [self.drawn(x) for x in self.program.draws],
            [self.draws(), self.summary(), self.sample()],
        )

    def kept(self) -> Kept:
        """All draws are saved too."""
        return kept_by("_saved_draws", "_go_on_draws")

    # -- first values --------------------------------------------------------------------
    def start(self) -> c.Method:
        """What `start` says; labels by the data; each other block drawn given these."""
        given, state = c.Name("given"), c.attribute("state")
        first = c.call("_drawn_start", NODES, SIZES, DTYPE, RNG)
        body: list[c.Statement] = [
            c.Set((given,), c.call("_given_values", c.Name("start"), NODES, SIZES, DTYPE)),
            c.Set((state,), c.Sign("|", given, first)),
        ]
        labels = [x for x in self.program.draws if x.law in ("labels", "path") and not x.counts]
        for x in labels:
            body.append(self.unless_given(x.parts[0].array, self.grouped(x.parts[0].array)))
        rest = [x for x in self.program.draws if x not in labels]
        body += [c.Do(c.call(c.attribute(method_of(x)))) for x in rest if labels]
        body.append(c.Return(c.Sign("|", given, state)))
        argument = c.Argument("start", "Mapping[str, Any] | None")
        return c.Method("_first_state", (argument,), STATE, "Return the first values.", tuple(body))

    def unless_given(self, array: Array, statement: c.Statement) -> c.When:
        return c.When(c.Sign("not in", c.Name("given"), c.Literal(array.name)), (statement,))

    def grouped(self, array: Array) -> c.Set:
        """Labels from the rows of data that stand at the same places."""
        count = len(array.axes)
        rows = c.Row(tuple(
            c.Item(DATA, c.Literal(x.array.name)) for x in self.program.arguments
            if x.role == "data" and x.array.labels == "" and x.array.axes[:count] == array.axes
        ), True)  # fmt: skip
        value = c.call("_grouped_labels", rows, self.place(array), self.size(array.labels), RNG)
        return c.Set((self.place(array),), value)

    def place(self, array: Array) -> c.Item:
        return c.Item(c.attribute("state"), c.Literal(array.name))

    # -- steps ---------------------------------------------------------------------------
    def step(self) -> c.Method:
        body: list[c.Statement] = [
            c.Set((c.Name("objective"),), c.call(c.attribute("objective"))),
            *(c.Do(c.call(c.attribute(method_of(x)))) for x in self.program.draws),
            c.Set((c.attribute("t"),), c.Sign("+", c.Literal(1), c.attribute("t"))),
            c.Do(c.call("_keep", c.attribute("kept"), c.attribute("state"))),
            c.Return(c.Name("objective")),
        ]
        doc = "Draw every block given all others; return the log joint before that."
        return c.Method("step", (), "float", doc, tuple(body))

    def running_draws(self) -> c.Method:
        arguments = (c.Argument("steps", "int | None", NOTHING),)
        call = c.call("_run_draws", c.Name("self"), c.Name("steps"))
        doc = "Take so many steps, and keep every draw."
        return c.Method("run", arguments, "dict[str, Any]", doc, (c.Return(call),))

    def bound(self) -> c.Method:
        value = c.call("float", self.call(self.program.sweep))
        return c.Method("objective", (), "float", "Return the log joint at the current values.",
                        (c.Return(value),))  # fmt: skip

    def drawn(self, draw: Draw) -> c.Method:
        """One block from its full conditional."""
        assert draw.method is not None
        takes: tuple[str, ...] = ()
        body: list[c.Statement] = []
        if draw.normals is not None:
            (part,) = draw.parts
            takes = (draw.normals.name,)
            shape = c.Attribute(self.place(part.array), "shape")
            made = c.call(c.Attribute(RNG, "standard_normal"), shape)
            cast = c.call(c.Attribute(made, "astype"), DTYPE)
            body.append(c.Set((c.Name(draw.normals.name),), cast))
        body.append(result(draw.method, self.call(draw.method, takes)))
        names = [f"value_{k}" for k, _ in enumerate(draw.parts, 1)]
        if len(names) == 1:
            names = ["value"]
        body.append(c.Set(tuple(map(c.Name, names)), self.value(draw)))
        for part, name in zip(draw.parts, names, strict=True):
            body.append(c.Set((self.place(part.array),), self.stored(part.array, c.Name(name))))
        doc = f"Draw {draw.node} given all others."
        return c.Method(method_of(draw), (), "None", doc, tuple(body))

    def stored(self, array: Array, value: c.Expression) -> c.Expression:
        if array.labels != "":
            return value
        return c.call("_stored", value, c.Literal(array.domain), SIZES, DTYPE)

    def value(self, draw: Draw) -> c.Expression:
        """A draw, of what the block's program has found."""
        found = [array(name) for _, name in draw.parameters]
        if draw.law == "states":
            return found[0]
        if draw.law == "path":
            return c.call("_drawn_path", RNG, *found, pointers(draw))
        counts = [array(draw.counts)] if draw.counts else []
        if draw.law == "labels":
            return c.call("_drawn_shares" if counts else "_drawn_labels", RNG, *found, *counts)
        if counts:
            return c.call("_drawn_parts", RNG, *found, *counts)
        return c.Invoked(c.Name(self.samplers.name(draw)), (RNG, c.Row(()), *found))

    # -- what is known -------------------------------------------------------------------
    def draws(self) -> c.Method:
        call = c.call("_draws", c.Name("self"), NODES, c.Name("name"))
        doc = "Return the draws of a node, steps first; of several variables one array each."
        return c.Method("draws", (c.Argument("name", "str"),), ANY, doc, (c.Return(call),))

    def summary(self) -> c.Method:
        call = c.call("_summary", c.Name("self"), NODES, SIZES, c.Name("name"))
        doc = "Return mean and standard deviation of the draws of a node."
        return c.Method("posterior", (c.Argument("name", "str"),), ANY, doc, (c.Return(call),))

    def sample(self) -> c.Method:
        words = ("rng", "size")
        call = c.call("_chosen_draws", c.Name("self"), NODES, c.Name("name"), *map(c.Name, words))
        arguments = (c.Argument("name", "str"), c.Argument("rng", ANY),
                     c.Argument("size", ANY, NOTHING))  # fmt: skip
        doc = "Return some of the draws of a node, each as likely."
        return c.Method("sample", arguments, ANY, doc, (c.Return(call),))


def with_labels(array: Array) -> Array:
    """The array as a file's table says it: of labels how many there are."""
    return replace(array, domain=f"labels {array.labels}") if array.labels != "" else array
