"""What every class is: a constructor, sections of entry points, and how an object is kept.

Rules, models and mixtures describe their classes; here is in what order methods stand, and what
state_dict, load_state_dict, set attributes and repr say, which is the same for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from blrgen.emit.tree import classes as c

SELF, SAVED = c.Name("self"), c.Name("saved")


@dataclass(frozen=True)
class Kept:
    """How an object is saved, resumed, set from outside and told: the last line of each.

    `first` stands before what is saved, `beginning` before resuming; `beside` is what has to be
    saved by the caller.
    """

    saved: c.Expression
    resumed: c.Expression
    put: c.Expression
    told: c.Expression
    first: tuple[c.Statement, ...] = ()
    beginning: tuple[c.Statement, ...] = ()
    beside: str = ""

    def methods(self) -> tuple[c.Method, ...]:
        """The four of them."""
        value = (c.Argument("name", "str"), c.Argument("value", "Any"))
        return (
            c.Method("state_dict", (), "dict[str, Any]",
                     f"Return what resuming exactly needs, as copies{self.beside}.",
                     (*self.first, c.Return(self.saved))),
            c.Method("load_state_dict", (c.Argument("saved", "Mapping[str, Any]"),), "None",
                     "Resume from what `state_dict` returned: from all of it, or not at all.",
                     (*self.beginning, c.Do(self.resumed))),
            c.Method("__setattr__", value, "None", "", (c.Do(self.put),)),
            c.Method("__repr__", (), "str", "", (c.Return(self.told),)),
        )  # fmt: skip


@dataclass(frozen=True)
class Described:
    """A class before it is written."""

    name: str
    doc: str
    constructor: c.Method
    sections: tuple[Iterable[c.Method], ...]
    kept: Kept

    def written(self) -> c.Class:
        """Its methods in their order."""
        entries = (m for section in self.sections for m in section)
        return c.Class(self.name, self.doc, (self.constructor, *entries, *self.kept.methods()))


def of_object(function: str, *more: c.Expression) -> c.Invoked:
    """A support function of the object."""
    return c.call(function, SELF, *more)


def put_by(function: str, known: c.Expression) -> c.Invoked:
    """A support function that sets an attribute by its name."""
    return c.call(function, SELF, c.Name("name"), c.Name("value"), known)
