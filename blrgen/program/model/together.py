"""What has been lowered, put together: the state, the program of a step, and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.errors import InternalError
from blrgen.program.axes import nodes as a
from blrgen.program.model.blocks import lowered_of, variables_of
from blrgen.program.model.given import handing_out, quantity
from blrgen.program.model.member import Member, even
from blrgen.program.model.merged import merged
from blrgen.program.model.names import size_of
from blrgen.program.model.near import Moving, Units
from blrgen.program.model.own import Own, tables
from blrgen.program.model.predictive import predictive, reads_old_rows, rows_axis
from blrgen.program.model.samples import Samples
from blrgen.program.model.stacked import Stacked
from blrgen.program.model.start import start_of
from blrgen.program.model.stochastic import RATE, SCALE
from blrgen.program.model.sums import with_sums
from blrgen.program.model.titles import equations, title_of
from blrgen.program.model.values import (
    Chain,
    Chained,
    Method,
    ModelProgram,
    NodeArrays,
    Note,
    Part,
    Posterior,
    Stack,
    Variable,
)
from blrgen.rule.model.shift import shifts
from blrgen.rule.model.units import units

if TYPE_CHECKING:
    from blrgen.program.model.lower import Lowering

CVI_RATES = (("rho", 0.5), ("delay", 1.0), ("forgetting", 0.0))  # ρ (delay + t)^−forgetting
KEPT = "nothing says where it is: it stays where it was"


class Together:
    """The parts of a model program; blocks in `first` are at their maximum, others in the state."""

    def __init__(self, w: Lowering, first: Sequence[Own], others: Sequence[Own]) -> None:
        self.w, self.first = w, first
        self.apart = [own for own in others if not own.chained]
        self.chained = [own for own in others if own.chained]
        self.joined = (*first, *self.chained)
        self.variables = [self.variable(own) for own in self.apart]
        self.variables += [Variable(x, "", (Part(y),)) for x, y in w.points.arrays.items()]
        self.state = [p.array for v in self.variables for p in v.parts]
        self.state += [x for own in self.chained for x in own.arrays]
        self.state += [x for x, _, _ in w.averaged]

    def program(self) -> ModelProgram:
        """All of it."""
        w, after = self.w, self.after()
        error = w.error()
        flags = [x for _, x in w.points.flags] + ([error] if error else [])
        self.samples = Samples((*self.first, *self.apart), w.given,
                               lambda own: variables_of(w.d.model, own.member.block))  # fmt: skip
        every = self.every(after, flags, error)
        bound = handing_out(every, ("objective",)) if w.d.batch else None
        sweep = handing_out(every, tuple(after if bound else ("objective", *after, *flags)))
        notes = () if bound else tuple(Note("empty", x, KEPT, y) for x, y in w.points.flags)
        start = None if bound else start_of(every, self.first, after, w.given)
        made = ModelProgram(
            name=w.name, algorithm=w.d.algorithm, title=title_of(w.d), equations=equations(w.d),
            arguments=w.given.arguments, sizes=w.given.sizes, variables=tuple(self.variables),
            sweep=Method("sweep", sweep, "One step."), posteriors=self.posteriors(every),
            optional=w.given.optional, lengths=tuple(w.given.lengths),
            bound=Method("bound", bound, "The objective.") if bound else None,
            batch=size_of(w.d.batch) if w.d.batch else "",
            start=start,
            pairs=self.chains(every, "pairs"), paths=self.chains(every, "path"), notes=notes,
            averaged=tuple(x for x, _, _ in w.averaged), guarded=bool(w.d.sites),
            rates=CVI_RATES if w.d.algorithm == "cvi" and w.d.sites else (),
            nodes=self.nodes(error), settle=self.settle(every), moving=self.moving(),
            units=() if start else self.units(),
            samples=self.samples.cut(every), stacks=self.stacks(self.joined),
            chained=tuple(map(self.in_state, self.chained)),
        )  # fmt: skip
        if not w.row:
            return with_sums(made)
        whole = Method("log_rows", handing_out(every, (w.row.name,)), "")
        made = with_sums(replace(made, predictive=whole))
        return replace(made, predictive=self.predictive(made))

    # -- the program of a step -----------------------------------------------------------
    def after(self) -> list[str]:
        """The next value of every array of the state."""
        points = self.w.points
        after = [x for own in self.apart for x in own.next]
        after += [points.next.get(x, "") for x in points.arrays]
        after += [x for own in self.chained for x in own.next]
        after += [x for _, x, _ in self.w.averaged]
        if "" in after:
            raise InternalError(f"nothing updates some of {[*points.arrays]}")
        return [even(self.w.eq, name, x.domain, f"{x.name}_even")
                for x, name in zip(self.state, after, strict=True)]  # fmt: skip

    def every(self, after: Sequence[str], flags: Sequence[str], error: str) -> a.Program:
        """One program of which all others are parts."""
        w = self.w
        last = [x for own in self.first for x in own.next]
        last += [x for own in self.chained for _, names in own.known for x in names]
        laid = [x for stack in self.stacks(self.joined) for x in stack.arrays]
        kept = [x for own in self.joined for table in tables(own)
                for names in table.values() for x in names]  # fmt: skip
        quantities = [*self.rates(error), *w.given.quantities.values(),
                      *map(quantity, (*self.state, *laid)), *self.samples.quantities]  # fmt: skip
        outs = ("objective", *after, *flags, *last, *([w.row.name] if w.row else []),
                *(x for _, _, x in w.averaged if x), *kept, *self.samples.outs)  # fmt: skip
        letters = tuple(w.eq.letters.values())
        return merged(a.Program(letters, tuple(quantities), tuple(w.eq.body), outs))

    def rates(self, error: str) -> list[a.Quantity]:
        """What a step is given besides data and state."""
        w = self.w
        rates = [a.Quantity(x) for x in (SCALE, RATE)] if w.d.batch else []
        rates += [a.Quantity(RATE)] if w.d.sites else []
        rates += [a.Quantity(x, (w.nodes.axis,)) for x in w.nodes.arrays if error]
        for x in w.clouds.values():
            rates += [a.Quantity(x.points, (x.axis, size_of(x.elements))),
                      a.Quantity(x.weights, (x.axis,)), a.Quantity(x.wider, (x.axis,))]  # fmt: skip
        return rates

    def nodes(self, error: str) -> NodeArrays | None:
        """The points of trapezoidal rules, where there are some."""
        w = self.w
        clouds = ((x.elements, x.axis, x.points, x.weights, x.wider) for x in w.clouds.values())
        return NodeArrays(w.nodes.axis, w.nodes.arrays, error, tuple(clouds)) if error else None

    def posteriors(self, every: a.Program) -> tuple[Posterior, ...]:
        """Of blocks at their maximum, then of what the state holds."""
        known = [self.posterior(every, *x) for own in self.joined for x in own.known]
        held = ((v, tuple((p.parameter, p.array.name) for p in v.parts)) for v in self.variables)
        return *known, *(Posterior(v.name, v.family, parts) for v, parts in held)

    def units(self) -> tuple[Units, ...]:
        """In which units points are drawn."""
        data = {x.called: x.array.name for x in self.w.given.arguments if x.role == "data"}
        arrays = self.w.points.arrays
        return tuple(
            Units(data[x], tuple((arrays[y].name, float(k)) for y, k in sorted(own.items())))
            for x, own in units(self.w.d).items()
        )

    def moving(self) -> tuple[Moving, ...]:
        """What data far from 0 are moved with."""
        data = {x.called: x for x in self.w.given.arguments if x.role == "data"}
        return tuple(
            Moving(data[s.data].array.name, data[s.data].seen,
                   tuple(self.w.points.arrays[x].name for x in s.points), s.axes)
            for s in shifts(self.w.d)
        )  # fmt: skip

    def predictive(self, made: ModelProgram) -> Method | None:
        """Of new rows, where all that is needed of the old ones is in sums."""
        assert made.predictive is not None and self.w.row is not None
        axis, program = rows_axis(self.w.d), made.predictive.program
        if reads_old_rows(program, self.w.given.arguments, axis):
            return None
        return predictive(program, self.w.row, axis, self.w.given)

    def settle(self, every: a.Program) -> Method | None:
        """Sums over all rows."""
        names = tuple(x for _, _, x in self.w.averaged if x)
        return Method("settle", handing_out(every, names), "Sums over all rows.") if names else None

    def variable(self, own: Own) -> Variable:
        """What the state holds of a block."""
        parts = zip(own.member.working, own.arrays, strict=True)
        return Variable(own.member.block.name, own.member.family.name,
                        tuple(Part(array, p) for p, array in parts))  # fmt: skip

    def posterior(self, every: a.Program, member: Member, outs: tuple[str, ...]) -> Posterior:
        """Of a node of the first block, at its maximum."""
        name = member.block.name
        pairs = zip(member.working, outs, strict=True)
        program = handing_out(every, tuple(dict.fromkeys(outs)))
        stem = self.w.given.names.of(f"posterior_{name}")
        method = Method(stem, program, f"Return q of {name}, at its maximum given the others.")
        return Posterior(name, member.family.name, tuple(pairs), method)

    def chains(self, every: a.Program, what: str) -> tuple[Chain, ...]:
        """Neighbours, or what the most probable path is found from, of each chain."""
        found = []
        for own in self.joined:
            table = tables(own)[what == "path"]
            axis = own.member.block.axis
            pointers = next((x.pointers for x in self.w.given.lengths if x.name == axis), "")
            for name, outs in table.items():
                made = Method(self.w.given.names.of(f"{what}_{name}"), handing_out(every, outs),
                              f"Return the {what} of {name}.")  # fmt: skip
                count, moving = len(own.lowered.elements), own.lowered.moving
                found.append(Chain(name, made, count, pointers, moving))
        return tuple(found)

    def in_state(self, own: Own) -> Chained:
        """The natural parameters of a start's marginals."""
        eq = self.w.given.equations(set(self.w.given.names.taken))
        lowered = lowered_of(eq, self.w.d.model, own.member.block)
        if isinstance(lowered, Stacked) and isinstance(own.lowered, Stacked):
            lowered.stack = own.lowered.stack
        variables = []
        for member, _ in own.known:
            name = member.block.name
            arrays = (member.array(k, self.w.given.names.of(f"{name}_{x}"))
                      for k, x in enumerate(member.working))  # fmt: skip
            parts = tuple(map(Part, map(self.w.given.in_memory, arrays), member.working))
            variables.append(Variable(name, member.family.name, parts))
        state = {v.name: tuple(p.array.name for p in v.parts) for v in variables}
        outs = lowered.independent(state, own.name)
        taken = [p.array for v in variables for p in v.parts]
        taken += [x for stack in self.stacks([own]) for x in stack.arrays]
        given = (*self.w.given.quantities.values(), *map(quantity, taken))
        program = a.Program(tuple(eq.letters.values()), given, tuple(eq.body), outs)
        stem = self.w.given.names.of(f"independent_{own.name}")
        meaning = f"Return the natural parameters of independent {own.member.block.name}."
        made = Method(stem, handing_out(program, outs), meaning)
        return Chained(tuple(variables), own.arrays, made)

    def stacks(self, first: Sequence[Own]) -> tuple[Stack, ...]:
        """Where numbers of several nodes are laid end to end."""
        found = (own.lowered.stack for own in first if isinstance(own.lowered, Stacked))
        return tuple(x for x in found if x is not None)
