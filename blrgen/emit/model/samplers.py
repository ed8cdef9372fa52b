"""Draws in a class: from families by the functions that a rule's `sample` is made of.

    value = _drawn_normal_gamma(rng, size, m, kappa, a, b)

There is one such function for each family of the model (`emit.sampler`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from blrgen.emit import averages
from blrgen.emit.law import MethodPrinter
from blrgen.emit.sampler import Drawing, drawing
from blrgen.emit.support import table
from blrgen.emit.tree import classes as c
from blrgen.emit.uses import collecting
from blrgen.errors import UserError
from blrgen.geometry import kept_geometry
from blrgen.program.model.names import plain
from blrgen.program.model.values import Draw
from blrgen.program.program import fresh


@dataclass
class Samplers:
    """The functions that draw from families, each family once."""

    target: str
    made: dict[str, tuple[str, Drawing]] = field(default_factory=dict)  # family → name, function

    def name(self, draw: Draw) -> str:
        """The function that draws from the node's family."""
        assert draw.family is not None
        family = draw.family
        if family.name not in self.made:
            taken = {*table(self.target).definitions, *(x for x, _ in self.made.values())}
            name = fresh(f"_drawn_{plain(family.name)}", taken)
            before = [x for _, x in self.made.values()]
            made = drawing(
                kept_geometry(family), name=name, plates=True,
                printer=lambda names: MethodPrinter(names, self.target == "numba"),
                first=sum(len(x.expectations) for x in before),
                laws=sum(len(x.densities) for x in before),
            )  # fmt: skip
            self.made[family.name] = name, made
        return self.made[family.name][0]

    def texts(self) -> tuple[list[str], set[str]]:
        """The functions and what they call that is made for this file; what support they use."""
        own = [x for _, x in self.made.values()]
        texts = [f'@np.errstate(all="ignore")\n{x.function.strip()}' for x in own]
        with collecting() as uses:
            texts += averages.texts(
                tuple(e for x in own for e in x.expectations), self.target,
                tuple(y for x in own for y in x.densities),
            )  # fmt: skip
        return texts, uses.union(*(x.uses for x in own))

    def known(self, draw: Draw) -> bool:
        """Whether there is a way to draw."""
        if draw.law != "family":
            return True
        try:
            self.name(draw)
        except UserError:
            return False
        return True


def array(name: str) -> c.Expression:
    """An out of a function: NumPy's arrays have what a compiled number has not."""
    return c.call(c.Attribute(c.Use("np"), "asarray"), c.Name(name))


def pointers(draw: Draw) -> c.Expression:
    """Where chains of different lengths begin, or None."""
    if not draw.pointers:
        return c.Literal(None)
    return c.Item(c.attribute("data"), c.Literal(draw.pointers))


def of_q(draw: Draw, samplers: Samplers, made: c.Statement | None) -> tuple[c.Statement, ...]:
    """The lines that return draws of a node's q; `made` runs a chain's program."""
    rng, size = c.Name("rng"), c.Name("size")
    if draw.law == "states":
        assert draw.normals is not None
        sizes = c.Row(tuple(
            c.Literal(s) if isinstance(s, int) else c.Item(c.attribute("sizes"), c.Literal(s))
            for s in draw.normals.axes
        ))  # fmt: skip
        words = (rng, size, sizes, c.attribute("dtype"))
        return (c.Return(c.call("_repeated", c.attribute(method_of(draw)), *words)),)
    if draw.law == "path":
        assert made is not None
        found = [array(name) for _, name in draw.parameters]
        shape = c.call("_shape", size)
        return made, c.Return(c.call("_drawn_path", rng, *found, pointers(draw), shape))
    q = c.Name("q")
    first = c.Set((q,), c.call(c.attribute("posterior"), c.Literal(draw.node)))
    values = [c.Item(q, c.Literal(name)) for name, _ in draw.parameters]
    if draw.law == "labels":
        drawn = c.call("_drawn_labels_of", rng, values[0], c.call("_shape", size))
        return first, c.Return(drawn)
    value: c.Expression = c.Invoked(c.Name(samplers.name(draw)), (rng, size, *values))
    if len(draw.parts) > 1:
        names = c.Row(tuple(c.Literal(x.parameter) for x in draw.parts))
        value = c.call("dict", c.Invoked(c.Name("zip"), (names, value),
                       (("strict", c.Literal(True)),)))  # fmt: skip
    return first, c.Return(value)


def method_of(draw: Draw) -> str:
    """The name of the method of one draw of a chain."""
    return f"_draw_{plain(draw.node)}"
