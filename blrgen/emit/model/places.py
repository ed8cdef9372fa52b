"""Where a class keeps what its functions read: data, state, sizes, what a method is given."""

from __future__ import annotations

from collections.abc import Iterable
from keyword import iskeyword

from blrgen.emit.tree import classes as c
from blrgen.emit.tree import nodes as t
from blrgen.errors import InternalError
from blrgen.program.model.values import REAL, Argument, Method, ModelProgram

KEPT = "KEPT"  # domains of what a state has beside parameters of nodes

ANY, ARRAY, STATE = "Any", "Array", "dict[str, Array]"
NOTHING = c.Literal(None)
DATA, SIZES, DTYPE, RNG = (c.attribute(x) for x in ("data", "sizes", "dtype", "rng"))
ENDS, FLOOR, SHIFT = (c.attribute(x) for x in ("ends", "floor", "shift"))
FLAGS, NODES = c.Name("flags"), c.Name("NODES")


class Places:
    """The expression of each name of a program in a method of the class."""

    def __init__(self, program: ModelProgram) -> None:
        self.known: dict[str, c.Expression] = {}
        for x in program.arguments:
            self.known[x.array.name] = _item("data", x.array.name)
            if x.seen:
                self.known[x.seen] = _item("data", x.seen)
        for length in program.lengths:
            self.known[length.pointers] = _item("data", length.pointers)
        for array in (x for stack in program.stacks for x in stack.arrays):
            self.known[array.name] = _item("data", array.name)
        for array in program.state:
            self.known[array.name] = _item("state", array.name)
        for name in program.sums.program.outs if program.sums else ():
            self.known[name] = _item("sums", name)
        for name in program.nodes.arrays if program.nodes else ():
            self.known[name] = c.Item(c.attribute("nodes"), c.Literal(name))
        for _, _, *names in program.nodes.clouds if program.nodes else ():
            for name in names:
                self.known[name] = c.Item(c.attribute("nodes"), c.Literal(name))
        self.known["t"] = c.Sign("+", c.Literal(1), c.attribute("t"))

    def call(self, f: t.Function, takes: Iterable[str] = (), rows: bool = False) -> c.Invoked:
        """The function with its arguments; `takes` are local names, `rows` those of a batch."""
        local = set(takes)

        def found(name: str) -> c.Expression:
            if name in local:
                return c.Name(name)
            if name not in self.known:
                raise InternalError(f"{f.name} reads {name}, which no argument or state is")
            return _local(self.known[name]) if rows else self.known[name]

        arrays = [found(x) for x in f.arrays]
        whole = c.Name("sizes") if rows else c.attribute("sizes")
        sizes = [c.Item(whole, c.Literal(x)) for x in f.wholes]
        reals = [found(x) if x in ("t", *local) else c.call("_scalar", found(x)) for x in f.reals]
        return c.call(c.Name(f.name), *arrays, *sizes, *reals)


def _local(place: c.Expression) -> c.Expression:
    """The place among the rows of a batch, where it is one of data."""
    if isinstance(place, c.Item) and place.of == c.attribute("data"):
        return c.Item(c.Name("data"), place.key)
    return place


def _item(where: str, name: str) -> c.Item:
    return c.Item(c.attribute(where), c.Literal(name))


def caller_name(x: Argument) -> str:
    """The argument's name; words of Python end in an underscore."""
    return python_name(x.called or x.array.name)


def python_name(name: str) -> str:
    """A name that an argument may have."""
    return f"{name}_" if iskeyword(name) or name == "self" else name


def result(method: Method, call: c.Expression, names: dict[str, str] | None = None) -> c.Set:
    """The method's outs under their names."""
    called = names or {}
    return c.Set(tuple(c.Name(called.get(x, x)) for x in method.program.outs), call)


def domains_beside(program: ModelProgram) -> dict[str, str]:
    """Domains of such arrays, where they say something."""
    own = {part.array.name for v in program.said for part in v.parts}
    return {x.name: x.domain for x in program.state if x.name not in own and x.domain != REAL}


def beside(program: ModelProgram) -> tuple[c.Expression, ...]:
    """The argument that says it."""
    return (c.Name(KEPT),) if domains_beside(program) else ()
