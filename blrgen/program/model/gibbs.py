"""Gibbs sampling as programs: for every block what its full conditional is drawn by.

    objective    the log joint at the values
    element      the family's working parameters, of a label the logarithms of its weights
    labels       α and the transitions of a chain: it is drawn from the last label on
    banded       x_u = g_u + L_u⁻ᵀ ε_u + K_u x_{u+1}, J̃_u = L_u L_uᵀ, ε standard normal
    dense        x = m + L⁻ᵀ ε, P = L Lᵀ

The state is the values.  A block's program reads those of all others as they stand, so that one
step calls the programs in the order of the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from blrgen.errors import UserError
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.names import axis_of
from blrgen.program.axes import nodes as a
from blrgen.program.model.bands import Band
from blrgen.program.model.chains import Labels
from blrgen.program.model.dense import Dense
from blrgen.program.model.expressions import labels_reader
from blrgen.program.model.given import handing_out
from blrgen.program.model.member import Lowered, Member, named
from blrgen.program.model.merged import merged
from blrgen.program.model.names import Given, domain_text, size_of
from blrgen.program.model.objective import together
from blrgen.program.model.sums import with_sums
from blrgen.program.model.values import Array, Draw, Method, ModelProgram, Part, Variable
from blrgen.read.model.values import Domain, Node
from blrgen.rule.model.values import ModelDerivation

MemberOf = Callable[[Block], Member]


class Gibbs:
    """The programs of one model; `member_of` knows the family of a block."""

    def __init__(self, d: ModelDerivation, member_of: MemberOf) -> None:
        self.d, self.member_of = d, member_of
        self.given = Given(d.model)
        self.eq = self.given.equations(self.given.names.taken)
        self.nodes = {x.name: x for u in d.updates for x in map(d.model.node, u.block.nodes)}
        self.arrays: dict[str, Array] = {}
        for u in d.updates:
            for x in u.block.nodes:
                self.values(self.nodes[x], u.block)

    # -- values ------------------------------------------------------------------------
    def values(self, node: Node, block: Block) -> None:
        """A node's values are read from the state."""
        for name, domain in zip(node.names, node.domains, strict=True):
            axes = tuple(axis_of(self.d.model.plate(x).size) for x in node.letters)
            own = self.given.names.of(name)
            if domain.kind == "one-hot" and not block.several:
                flat = tuple(map(size_of, self.given.flat(axes)))
                labels = size_of(axis_of(domain.shape[0]))
                array = Array(own, tuple(map(size_of, axes)), "labels", labels, flat)
                self.given.readers[name] = labels_reader(own)
            else:
                array = self.numbers(own, axes, domain, block)
                self.given.readers[name] = named(own)
            self.arrays[name] = array

    def numbers(self, own: str, axes: tuple[str, ...], domain: Domain, block: Block) -> Array:
        """An array of values, or of the shares that equal elements have of each value."""
        text = domain_text(domain)
        if block.several:
            if domain.kind not in ("one-hot", "finite"):
                raise UserError(
                    f"--gibbs has no draws of {block.name} yet", where=self.d.model.name,
                    why="an element stands for several, each with a value of its own",
                    how="an element each: write the plate without times",
                )  # fmt: skip
            text = "simplex" if domain.kind == "one-hot" else "[0, 1]"
        whole = (*axes, *(axis_of(s) for s in domain.shape))
        sizes, flat = (tuple(map(size_of, x)) for x in (whole, self.given.flat(whole)))
        return Array(own, sizes, text, "", flat)

    def quantities(self) -> list[a.Quantity]:
        """The state as programs read it."""
        return [
            a.Quantity(x.name, x.sizes, "spd" if x.domain == "SPD" else "dense", x.labels)
            for x in self.arrays.values()
        ]

    # -- programs ----------------------------------------------------------------------
    def program(self, name: str, title: str, lines: Sequence[tuple[str, tuple[str, ...]]]
                ) -> ModelProgram:  # fmt: skip
        """Everything that the class is made from."""
        joint = self.eq.expr(together(self.d.expected_joint), {})
        self.eq.let(a.Let("objective", (), self.eq.level(joint)))
        made = [self.drawn(self.member_of(u.block)) for u in self.d.updates]
        normals = [_quantity(x.normals) for x, _ in made if x.normals is not None]
        outs = tuple(dict.fromkeys(x for _, own in made for x in own))
        given = (*self.given.quantities.values(), *self.quantities(), *normals)
        every = merged(a.Program(tuple(self.eq.letters.values()), given, tuple(self.eq.body),
                                 ("objective", *outs)))  # fmt: skip
        draws = []
        for draw, own in made:
            stem = self.given.names.of(f"conditional_{draw.node}")
            meaning = f"What {draw.node} is drawn by, given all others."
            method = Method(stem, handing_out(every, own), meaning)
            draws.append(replace(draw, method=method))
        variables = tuple(
            Variable(x.node, x.family.name if x.family else "", x.parts) for x in draws
        )
        return with_sums(ModelProgram(
            name=name, algorithm=self.d.algorithm, title=title, equations=tuple(lines),
            arguments=self.given.arguments, sizes=self.given.sizes, variables=variables,
            sweep=Method("log_joint", handing_out(every, ("objective",)), "The log joint."),
            posteriors=(), optional=self.given.optional, lengths=tuple(self.given.lengths),
            draws=tuple(draws),
        ))  # fmt: skip

    def drawn(self, member: Member) -> tuple[Draw, tuple[str, ...]]:
        """How a block is drawn, and the outs that it needs."""
        block = member.block
        parts = tuple(Part(self.arrays[v], v) for x in block.nodes for v in self.nodes[x].names)
        stem = self.given.names.of("_".join(block.nodes) + "_q")
        draw = Draw(block.name, "family", parts, family=member.family)
        if block.kind == "labels":
            return self.path(draw, member, stem)
        if block.kind in ("banded", "dense"):
            return self.states(draw, member, stem)
        lowered = Lowered(self.eq, member)
        natural = lowered.natural(stem)
        if member.one_hot:
            counts = self.counts(member)
            draw = replace(draw, law="labels", counts=counts, parameters=(("levels", natural[0]),))
            return draw, (*natural, *([counts] if counts else []))
        working = lowered.working(natural, stem)
        counts = self.counts(member)
        pairs = tuple(zip(member.working, working, strict=True))
        draw = replace(draw, parameters=pairs, counts=counts)
        return draw, (*dict.fromkeys(working), *([counts] if counts else []))

    def counts(self, member: Member) -> str:
        """How many elements each stands for, where that is not one."""
        if not member.block.several:
            return ""
        made = self.eq.equation(self.eq.own("counts"), member.element, member.block.measure)
        return made.name

    def path(self, draw: Draw, member: Member, stem: str) -> tuple[Draw, tuple[str, ...]]:
        """A chain of labels: what is known of each label by those before it."""
        chain = Labels(self.eq, member)
        chain.readers(chain.natural(stem), stem)
        if chain.moving:
            raise UserError(f"no programs yet for {draw.node}: transitions that change along it")
        made = along_path(draw, chain)
        return made, tuple(x for _, x in made.parameters)

    def states(self, draw: Draw, member: Member, stem: str) -> tuple[Draw, tuple[str, ...]]:
        """A Gaussian over all elements: the values as a function of standard normals."""
        chain = (Band if member.block.kind == "banded" else Dense)(self.eq, member)
        natural = chain.natural(stem)
        (part,) = draw.parts
        normals = replace(part.array, name=self.given.names.of(f"{stem}_normals"), domain="R")
        chain.forward(natural, stem)
        value = chain.sampled(stem, normals.name)
        return (replace(draw, law="states", parameters=(("value", value),), normals=normals),
                (value,))  # fmt: skip


def along_path(draw: Draw, chain: Labels) -> Draw:
    """A path drawn from its last label on, by what is known of each by those before it."""
    letter = chain.eq.letters[chain.t]
    parameters = (("forward", chain.alpha), ("moves", chain.move))
    pointers = letter.pointers if letter.under else ""
    return replace(draw, law="path", parameters=parameters, pointers=pointers)


def _quantity(x: Array) -> a.Quantity:
    return a.Quantity(x.name, x.sizes)


def gibbs(
    d: ModelDerivation, name: str, member_of: MemberOf, title: str,
    lines: Sequence[tuple[str, tuple[str, ...]]],
) -> ModelProgram:  # fmt: skip
    """The model program of `--gibbs`."""
    for block in (u.block for u in d.updates):
        if block.kind not in ("element", "labels", "banded", "dense"):
            raise UserError(f"no programs yet for the block {block.name} ({block.kind})")
    return Gibbs(d, member_of).program(name, title, lines)
