"""What a class has more where blocks are not conjugate: parts of steps, nodes of sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.model import steps
from blrgen.emit.model.places import beside
from blrgen.emit.tree import classes as c
from blrgen.emit.tree.described import Kept, of_object, put_by

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
            zero = c.Table(tuple((c.Literal(x), c.Literal(0)) for x in ("steps", "until")))
            body += [c.Set((c.attribute("patience"),), zero)]
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
            swept = steps.swept(w, "_swept", (rho,), (RATE,))
            return [step, steps.running(run), steps.bound(w), swept, steps.take(w)]
        once = steps.swept(w, "_swept_once", (c.Argument(RATE, "float"),), (RATE,))
        found = c.call("_with_nodes", OWN, c.Name(RATE), self.axis, self.error)
        swept = c.Method("_swept", (rho,), "Any", "Return what a sweep finds, with enough nodes.",
                         (c.Return(found),))  # fmt: skip
        return [step, steps.running(run), steps.bound(w), swept, once, steps.take(w)]

    def kept(self) -> Kept:
        """The number of nodes is saved too."""
        more = beside(self.writer.program)
        return kept_by("_saved_with_nodes", "_go_on_with_nodes", self.axis, beside=more)


def kept_by(
    saved: str, resumed: str, *more: c.Expression, beside: tuple[c.Expression, ...] = ()
) -> Kept:
    """How an object of a model is kept, by support functions that know its nodes.

    `beside` says where the rest of a state may be.
    """
    return Kept(
        of_object(saved, *more),
        of_object(resumed, c.Name("saved"), TABLE, *more, *beside),
        put_by("_set_known", c.Name(HYPERPARAMETERS)),
        of_object("_told_of"),
    )
