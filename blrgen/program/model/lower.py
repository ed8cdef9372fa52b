"""A model's derivation → a model program.

One step is one program: expectations under the state, the first block of the schedule at its
maximum, the objective there, then the other blocks and the points in turn, each with what
those before it came to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from blrgen.algebra.indexed import ZERO
from blrgen.errors import InternalError, UserError
from blrgen.expect.blocks.expectation import expecting
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.names import axis_of
from blrgen.expect.sites.values import Site
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.blocks import lowered_of, variables_of
from blrgen.program.model.coupled import coupled
from blrgen.program.model.elements import Cloud, cloud_of
from blrgen.program.model.given import quantity
from blrgen.program.model.member import evened, named
from blrgen.program.model.merged import merged
from blrgen.program.model.names import Given, class_name, domain_text, size_of
from blrgen.program.model.newton import is_apart, no_programs, turned
from blrgen.program.model.objective import objective
from blrgen.program.model.others import by_draws, by_element
from blrgen.program.model.own import Own, Points
from blrgen.program.model.predictive import (
    Row,
    predicted,
    predictive,
    reads_old_rows,
    row_equation,
    rows_axis,
)
from blrgen.program.model.sites import Evaluated, nodes_of
from blrgen.program.model.solved import solved
from blrgen.program.model.stochastic import (
    RATE,
    blended,
    scaled_block,
    scaled_sums,
    settled,
    whole_sizes,
)
from blrgen.program.model.together import Together
from blrgen.program.model.values import (
    DEFINITE,
    SIMPLEX,
    Array,
    Method,
    ModelProgram,
)
from blrgen.read.model.values import Node
from blrgen.rule.model.rows import in_point
from blrgen.rule.model.values import Equation, ModelDerivation, PointUpdate, Stationary

EXACT = ("conjugate", "em", "online-em", "filter")  # all latents at their maximum at once
KINDS = ("element", "labels", "banded", "joint", "dense")  # what joins elements


def lower(derivation: ModelDerivation, name: str = "") -> ModelProgram:
    """The programs of the algorithm, and what its class holds."""
    name = name or class_name(derivation.model.name)
    try:
        if any(u.drawn for u in derivation.updates):
            return by_draws(derivation, name)
        if derivation.arrivals:
            return by_element(derivation, name)
        return predicted(Lowering(derivation, name).program(), derivation, _values_given)
    except InternalError as error:
        raise UserError(
            f"--{derivation.algorithm} of {derivation.model.name} is derived, and has no "
            "programs yet",
            where=derivation.model.path or derivation.model.name,
            why=str(error).splitlines()[0],
            how="`blrgen derive` says what is derived; another algorithm may have a class",
        ) from error


def _values_given(d: ModelDerivation, nodes: Sequence[str]) -> tuple[Method, dict[str, str]] | None:
    """log p of new rows where these nodes have values, and the arrays of their variables."""
    work = Lowering(d, "")
    row = work.rows_given(nodes)
    if row is None:
        return None
    return row, {x: array.name for x, array in work.points.arrays.items()}


class Lowering:
    """The equations of a step, as far as they have come."""

    def __init__(self, d: ModelDerivation, name: str) -> None:
        self.d, self.name = d, name
        self.given = Given(d.model)
        self.eq = self.given.equations(self.given.names.taken)
        self.points = Points()
        self.row: Row | None = None  # log p of one
        self.averaged: list[tuple[Array, str, str]] = []  # with its next value, and over all rows
        latents = [u.block for u in d.updates]
        self.expecting = expecting(latents, {b.name: variables_of(d.model, b) for b in latents})
        self.nodes = nodes_of(self.given)
        self.blocks: list[Own] = []
        self.fresh: set[str] = set()  # sites at q as it stands
        self.errors: list[str] = []
        self.clouds: dict[str, Cloud] = {}  # by axis
        for block in latents:
            if (block.remainder and not d.sites) or block.kind not in KINDS:
                raise UserError(f"no programs yet for the block {block.name} ({block.kind})")

    # -- the step ----------------------------------------------------------------------
    def program(self) -> ModelProgram:
        d = self.d
        blocks = self.blocks = [self.own(u.block) for u in d.updates]
        moved = {x for u in d.points for x in u.names}
        for p in d.model.nodes:
            if p.kind == "param" or moved & set(p.names):
                self.point(p)
        if d.batch:
            return self.stochastic(blocks)
        count = len(blocks) if d.algorithm in EXACT else 1
        count = 0 if blocks and self.stepped(blocks[0]) else count
        first, others = blocks[:count], blocks[count:]
        for own in others:
            self.from_state(own)
        self.evaluated(d.sites)
        for own in first:
            self.updated(own)
        self.eq.let(a.Let("objective", (), self.bound(first, others)))
        if not any(own.member.block.given for own in first):
            self.row = row_equation(d, first, others, self.given, self.eq)
        for own in first:
            self.outcomes(own)
        for own in others:
            self.moved(own)
            own.next = (own.natural if own.chained else
                        own.lowered.working(own.natural, f"{own.name}_next"))  # fmt: skip
        for e in d.sums:
            made = self.eq.equation(self.eq.own(e.target), e.places, e.value)
            self.given.readers[e.target] = named(made.name)
        for u in d.points:
            self.argmax(u)
        return Together(self, first, others).program()

    # -- what is not conjugate -----------------------------------------------------------
    def stepped(self, own: Own) -> bool:
        """Whether the block goes a part ρ of the way."""
        return bool(self.d.stepped & set(variables_of(self.d.model, own.member.block)))

    def evaluated(self, sites: Sequence[Site]) -> None:
        """Expectations at q as it stands, of sites that have moved since."""
        for site in sites:
            if site.name in self.fresh:
                continue
            kept = self.kept_of(site) if self.d.algorithm == "cvi" else ()
            names = tuple(x.name for x in kept)
            natural = next((x.natural for x in self.blocks
                            if site.own and x.member.block.name == site.own.block), ())  # fmt: skip
            cloud = self.cloud(site.inner[0].axis) if site.inner else None
            made = Evaluated(site, self.eq, self.given.readers, self.nodes, names, natural, cloud)
            self.averaged += [(x, y, "") for x, y in zip(kept, made.next, strict=True)]
            self.fresh.add(site.name)
            self.errors += [made.error] if made.error else []

    def cloud(self, axis: str) -> Cloud:
        """The points of predictors whose elements are along an axis."""
        if axis not in self.clouds:
            self.clouds[axis] = cloud_of(self.given, axis)
        return self.clouds[axis]

    def kept_of(self, site: Site) -> tuple[Array, ...]:
        """The state's arrays of r and s, which --cvi averages over its steps."""
        found = (
            Array(self.given.names.of(x.name), tuple(size_of(i.axis) for i in site.letters_of(x)))
            for x in site.symbols
        )
        return tuple(map(self.given.in_memory, found))

    def moved(self, own: Own) -> None:
        """A block as the others and its own q say, a part ρ of the way where it has sites."""
        names = {x for p in own.member.block.parts for x in p.expected.symbols()}
        sites = self.d.sites
        self.evaluated(
            [s for s in sites if names & {s.expected.name, *(x.name for x in s.symbols)}]
        )
        was = own.natural
        if not self.stepped(own) or self.d.algorithm == "cvi":
            self.updated(own)
            return
        own.natural = own.lowered.natural(own.name)
        own.natural = blended(self.eq, own, was)
        self.bind(own, f"{own.name}_after")
        latents = set(variables_of(self.d.model, own.member.block))
        self.fresh -= {s.name for s in sites if latents & set(s.nodes)}

    def error(self) -> str:
        """How far the expectations are from those of half as many nodes, at the most."""
        if not self.errors:
            return ""
        name = self.eq.own("node_error")
        most: n.Node = a.ref(self.errors[0])
        for x in self.errors[1:]:
            most = n.Call("max", (most, a.ref(x)))
        self.eq.let(a.Let(name, (), most))
        return name

    def stochastic(self, blocks: Sequence[Own]) -> ModelProgram:
        """Local blocks to their fixed point, global ones a part of the way."""
        d = self.d
        if d.rate and d.points:
            return self.averaging(blocks)
        count = sum(u.local for u in d.updates)
        first, local, others = blocks[: min(count, 1)], blocks[1:count], blocks[count:]
        for own in (*local, *others):
            if own.chained and (own in local or own.member.block.kind != "dense"):
                raise UserError(f"no programs yet for the chain {own.member.block.name} behind "
                                "another block in steps over some rows",
                                how=f"--schedule {own.member.block.name},…")  # fmt: skip
        for own in others:
            self.from_state(own)
        if local:
            settled(self.eq, self.given.readers, blocks[:count], self.updated, d.inner)
        elif first:
            self.updated(first[0])
        self.eq.let(a.Let("objective", (), self.bound(first, (*local, *others))))
        for own in (*first, *local):
            self.outcomes(own)
        for own in others:
            was = own.natural
            own.lowered.member = replace(own.member, block=scaled_block(own.member.block, d.batch))
            own.natural = own.lowered.natural(own.name)
            own.natural = blended(self.eq, own, was)
            self.bind(own, f"{own.name}_after")
            own.next = (own.natural if own.chained else
                        own.lowered.working(own.natural, f"{own.name}_next"))  # fmt: skip
        return Together(self, (*first, *local), others).program()

    def averaging(self, blocks: Sequence[Own]) -> ModelProgram:
        """All latents exact on some rows; their sums are averaged, and the points follow."""
        d = self.d
        for own in blocks:
            self.updated(own)
        self.eq.let(a.Let("objective", (), self.bound(blocks, ())))
        for own in blocks:
            self.outcomes(own)
        for e in d.sums:
            self.average(e)
        for u in d.points:
            self.argmax(in_point(u, lambda e: whole_sizes(e, d.batch)))
        return Together(self, blocks, ()).program()

    def average(self, e: Equation) -> None:
        """(1 − ρ) of what it was and ρ of what the step's rows say."""
        array = Array(self.given.names.of(e.target), tuple(size_of(i.axis) for i in e.places))
        whole = self.eq.equation(self.eq.own(f"{array.name}_all"), e.places, e.value)
        rows = self.eq.equation(self.eq.own(f"{array.name}_rows"), e.places,
                                scaled_sums(e.value, self.d.batch))  # fmt: skip
        was, rate = a.ref(array.name, *rows.letters), a.ref(RATE)
        value = n.add(n.mul(n.Sub(n.ONE, rate), was), n.mul(rate, a.ref(rows.name, *rows.letters)))
        name = self.eq.own(f"{array.name}_next")
        self.eq.let(a.Let(name, rows.letters, value))
        self.given.readers[e.target] = named(name)
        self.averaged.append((array, name, whole.name))

    def rows_given(self, nodes: Sequence[str]) -> Method | None:
        """log p of new rows: these nodes are points, the other latents exact."""
        d = self.d
        blocks = [self.own(u.block) for u in d.updates]
        for node in d.model.nodes:
            if node.kind == "param" or node.name in nodes:
                self.point(node)
        for own in blocks:
            self.updated(own)
        row = row_equation(d, blocks, (), self.given, self.eq)
        if row is None or row.takes:
            return None
        state = map(quantity, self.points.arrays.values())
        every = merged(a.Program(tuple(self.eq.letters.values()),
                                 (*self.given.quantities.values(), *state),
                                 tuple(self.eq.body), (row.name,)))  # fmt: skip
        axis = rows_axis(d)
        if reads_old_rows(every, self.given.arguments, axis):
            return None
        return predictive(every, row, axis, self.given)

    def bound(self, first: Sequence[Own], others: Sequence[Own]) -> n.Node:
        """The objective; labels that a block is given by have their entropy like the others.

        λ_z holds A of what was integrated out, which is counted with E[z] by its own block.
        """
        labels = {g.symbol.name for own in first for g in own.member.block.given}
        apart = [own for own in first if labels & set(own.member.block.nodes)]
        lead = [own for own in first if own not in apart]
        rest = (*apart, *others)
        bases = [ZERO if own.chained else self.expecting.of(own.member.block.base) for own in rest]
        return self.eq.level(objective(self.d, lead, rest, bases, self.eq))

    def own(self, block: Block) -> Own:
        name = self.given.names.of("_".join(block.nodes) + "_q")
        return Own(lowered_of(self.eq, self.d.model, block), name)

    def outcomes(self, own: Own) -> None:
        """What is known of each of its nodes."""
        own.known = evened(self.eq, own.lowered.outcomes(own.natural, own.name))
        own.next = tuple(x for _, names in own.known for x in names)

    def from_state(self, own: Own) -> None:
        """λ and E[T] of what the state holds."""
        stem = own.name.removesuffix("_q")
        if own.chained:
            kept = own.lowered.kept_as()
            found = (
                Array(self.given.names.of(f"{stem}_{x}"),
                      tuple(self.eq.letters[y].size for y in letters), domain)
                for x, letters, domain in kept
            )  # fmt: skip
            own.arrays = tuple(map(self.given.in_memory, found))
            own.natural = tuple(x.name for x in own.arrays)
            self.bind(own, f"{stem}_was")
            self.outcomes(own)
            own.pairs, own.path = dict(own.lowered.pairs), dict(own.lowered.path)
            return
        own.arrays = tuple(
            self.given.in_memory(own.member.array(k, self.given.names.of(f"{stem}_{p}")))
            for k, p in enumerate(own.member.working)
        )
        names = tuple(x.name for x in own.arrays)
        own.natural = own.lowered.natural_of_state(names, f"{own.name}_was")
        self.bind(own, f"{stem}_was")

    def updated(self, own: Own) -> None:
        """λ is what the others expect."""
        own.natural = own.lowered.natural(own.name)
        self.bind(own, own.name.removesuffix("_q"))

    def bind(self, own: Own, stem: str) -> None:
        """Expressions read E[T] of the block as it stands."""
        self.given.readers |= own.lowered.readers(own.natural, f"{stem}_mean")
        own.means = own.lowered.last

    # -- points --------------------------------------------------------------------------
    def point(self, found: Node) -> None:
        """A point is read from the state."""
        for name, domain in zip(found.names, found.domains, strict=True):
            plates = tuple(self.axis(x) for x in found.letters)
            shape = tuple(size_of(axis_of(s)) for s in domain.shape)
            array = Array(self.given.names.of(name), (*plates, *shape), domain_text(domain))
            self.points.arrays[name] = self.given.in_memory(array)
            self.given.readers[name] = named(array.name)

    def axis(self, letter: str) -> a.Size:
        return size_of(axis_of(self.d.model.plate(letter).size))

    def argmax(self, u: PointUpdate) -> None:
        """Its equations in turn; where one has no value the point stays."""
        if u.system is not None:
            for unknown, made in solved(u.system, self.eq):
                self.kept(unknown, self.points.arrays[unknown], made)
            return
        if u.stationary is not None:
            for name, made in self.searched(u.stationary):
                self.kept(name, self.points.arrays[name], made)
            return
        if not u.equations:
            raise UserError(f"no programs yet for the point {', '.join(u.names)} ({u.mode})")
        for e in u.equations:
            array = self.points.arrays.get(e.target)
            raw = self.eq.own(f"{array.name if array else e.target}_found")
            structure = "spd" if array and array.domain == "SPD" else "dense"
            made = self.eq.equation(raw, e.places, e.value, structure)
            if array is None:
                self.given.readers[e.target] = named(raw)
                continue
            self.kept(e.target, array, made)

    def searched(self, s: Stationary) -> Iterable[tuple[str, a.Let]]:
        """Points where the slope is 0: element by element, or all at once."""
        arrays, readers = self.points.arrays, self.given.readers
        if any(arrays[u.name].domain in (SIMPLEX, DEFINITE) for u in s.unknowns):
            raise no_programs(s, "Newton's steps leave a simplex, and the definite matrices")
        if not is_apart(s):
            return coupled(s, arrays, readers, self.eq)
        (u,) = s.unknowns
        return [(u.name, turned(s, arrays[u.name], readers, self.eq))]

    def kept(self, target: str, array: Array, made: a.Let) -> None:
        """The value found, or the old one where it is no number."""
        new = a.ref(made.name, *made.letters)
        old = a.ref(array.name, *made.letters)
        name, flag = self.eq.own(f"{array.name}_next"), self.eq.own(f"{array.name}_kept")
        there = n.Compare("==", new, new)
        self.eq.let(a.Let(name, made.letters, n.Select(there, new, old), made.structure))
        self.eq.let(a.Let(flag, made.letters, n.Compare("!=", new, new)))
        self.points.next[target] = name
        self.points.flags.append((target, flag))
        self.given.readers[target] = named(name)
