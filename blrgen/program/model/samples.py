"""Draws from q: of each node by its family's sampler, of chains as a whole.

A node's parameters are those of its posterior; a chain is drawn by what its forward pass has
found, as when it is drawn from its full conditional.  Of nodes that are given labels there is
no law by itself, and no draw; none yet where several nodes are one Gaussian, or where transitions
of labels change along the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.program.axes import nodes as a
from blrgen.program.model.bands import Band
from blrgen.program.model.chains import Labels
from blrgen.program.model.dense import Dense
from blrgen.program.model.gibbs import along_path
from blrgen.program.model.given import handing_out
from blrgen.program.model.names import Given
from blrgen.program.model.values import Array, Draw, Method, Part

if TYPE_CHECKING:
    from blrgen.program.model.own import Own


class Samples:
    """How nodes are drawn from, before their programs are cut out of all equations."""

    def __init__(
        self, blocks: Sequence[Own], given: Given, variables: Callable[[Own], tuple[str, ...]]
    ) -> None:
        self.given = given
        self.found = [x for own in blocks for x in self.of(own, variables(own))]

    def of(self, own: Own, names: tuple[str, ...]) -> list[Draw]:
        """The block's draw, if it has one."""
        member, lowered = own.member, own.lowered
        block = member.block
        if block.given or block.several:
            return []
        parts = tuple(Part(Array(x), x) for x in names)
        draw = Draw(block.name, "family", parts, family=member.family)
        if isinstance(lowered, Labels):
            return [] if lowered.moving else [along_path(draw, lowered)]
        if type(lowered) is Band or isinstance(lowered, Dense):
            return [self.chain(draw, lowered, own)]
        if block.kind != "element":
            return []
        pairs = tuple((p, "") for p in member.working)
        return [replace(draw, law="labels" if member.one_hot else "family", parameters=pairs)]

    def chain(self, draw: Draw, band: Band | Dense, own: Own) -> Draw:
        """A Gaussian over all elements by standard normals."""
        stem = own.name.removesuffix("_q")
        sizes = tuple(band.eq.letters[x].size for x in band.places)
        normals = self.given.in_memory(Array(self.given.names.of(f"{stem}_normals"), sizes))
        value = band.sampled(stem, normals.name)
        return replace(draw, law="states", parameters=(("value", value),), normals=normals)

    @property
    def quantities(self) -> list[a.Quantity]:
        """Arrays that their programs take."""
        arrays = [x.normals for x in self.found if x.normals is not None]
        return [a.Quantity(x.name, x.sizes) for x in arrays]

    @property
    def outs(self) -> list[str]:
        """What their programs hand out."""
        return [x for d in self.found for _, x in d.parameters if x]

    def cut(self, every: a.Program) -> tuple[Draw, ...]:
        """The draws with their programs."""
        made = []
        for draw in self.found:
            outs = tuple(x for _, x in draw.parameters if x)
            if outs:
                stem = self.given.names.of(f"drawing_{draw.node}")
                meaning = f"What {draw.node} is drawn by."
                draw = replace(draw, method=Method(stem, handing_out(every, outs), meaning))
            made.append(draw)
        return tuple(made)
