"""What a class has more where blocks are not conjugate: parts of steps, nodes of sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.tree import classes as c

if TYPE_CHECKING:
    from blrgen.emit.model.writer import Writer

RATE = "rho"
OWN, TABLE = c.Name("self"), c.Name("NODES")
HYPERPARAMETERS = "HYPERPARAMETERS"


class Guarded:
    """The methods of a class whose steps may be taken in part."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.nodes = writer, writer.program.nodes
        self.axis = c.Literal(self.nodes.axis if self.nodes else "")
        self.error = c.Literal(self.nodes.error if self.nodes else "")
        self.rising = c.Literal(not writer.program.rates)

    def constructed(self) -> list[c.Statement]:
        """The first nodes, and that no sweep has been made."""
        body: list[c.Statement] = [c.Set((c.attribute("ahead"),), c.Literal(None), "Any")]
        if self.nodes is not None:
            names = c.Row(tuple(map(c.Literal, self.nodes.arrays)))
            clouds = c.Row(tuple(c.Row(tuple(map(c.Literal, x))) for x in self.nodes.clouds))
            if self.nodes.clouds:
                body += [c.Set((c.attribute("clouds"),), clouds)]
            made = c.call("_set_nodes", OWN, self.axis, names, c.Name("FIRST_NODES"))
            body += [c.Set((c.attribute("nodes"),), c.Table(()), "dict[str, Array]"), c.Do(made)]
        return body

    def steps(self) -> list[c.Method]:
        """step, run, objective, and the sweep that they share."""
        taken = c.Do(c.call("_advanced", OWN, TABLE, self.axis, self.error, self.rising))
        before = c.Set((c.Name("objective"),), c.Item(c.call("_ahead", OWN), c.Literal(0)))
        doc = "Take one step; return the objective before it."
        step = c.Method("step", (), "float", doc, (before, taken, c.Return(c.Name("objective"))))
        words = map(c.Name, ("steps", "tol"))
        run = c.call("_run_guarded", OWN, TABLE, self.axis, self.error, self.rising, *words)
        rho = c.Argument(RATE, "float", c.Literal(1.0))
        w = self.writer
        if self.nodes is None:
            return [step, w.running(run), w.bound(), w.swept("_swept", (rho,), (RATE,)), w.take()]
        once = w.swept("_swept_once", (c.Argument(RATE, "float"),), (RATE,))
        found = c.call("_with_nodes", OWN, c.Name(RATE), self.axis, self.error)
        swept = c.Method("_swept", (rho,), "Any", "Return what a sweep finds, with enough nodes.",
                         (c.Return(found),))  # fmt: skip
        return [step, w.running(run), w.bound(), swept, once, w.take()]

    def resuming(self) -> tuple[c.Method, ...]:
        """The number of nodes is saved too."""
        saved = c.Argument("saved", "Mapping[str, Any]")
        kept = c.Return(c.call("_saved_with_nodes", OWN, self.axis))
        go_on = c.Do(c.call("_go_on_with_nodes", OWN, c.Name("saved"), TABLE, self.axis))
        return (
            c.Method("state_dict", (), "dict[str, Any]", "Return copies of all that a run needs.",
                     (kept,)),
            c.Method("load_state_dict", (saved,), "None",
                     "Go on from what was saved, all or nothing.", (go_on,)),
            *always(),
        )  # fmt: skip


def always() -> tuple[c.Method, ...]:
    """What may be set, and what `repr` says."""
    given = (c.Argument("name", "str"), c.Argument("value", "Any"))
    put = c.call("_set_known", OWN, c.Name("name"), c.Name("value"), c.Name(HYPERPARAMETERS))
    said = "Return what it is: its sizes, its type, its steps."
    return (
        c.Method("__setattr__", given, "None", "Set what is there, a hyperparameter in its domain.",
                 (c.Do(put),)),
        c.Method("__repr__", (), "str", said, (c.Return(c.call("_told_of", OWN)),)),
    )  # fmt: skip
