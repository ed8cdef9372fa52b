"""One element of a chain at a time: the program of a step, and what is known after it."""

from __future__ import annotations

from dataclasses import replace

from blrgen.errors import UserError
from blrgen.expect.blocks.values import Block
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations
from blrgen.program.model.given import handing_out, quantity
from blrgen.program.model.names import Given
from blrgen.program.model.running import Running, RunningGaussian, RunningLabels
from blrgen.program.model.values import Filter, Method, Posterior
from blrgen.rule.model.values import Arrival, ModelDerivation


def filtered(d: ModelDerivation) -> tuple[Given, tuple[Running, ...], Filter]:
    """What comes with each element, the blocks, and the programs of a step."""
    return _Filtering(d).whole()


class _Filtering:
    def __init__(self, d: ModelDerivation) -> None:
        self.d, self.given = d, Given(d.model, d.along)
        self.blocks = tuple(self.running(u.block) for u in d.updates)

    def running(self, block: Block) -> Running:
        if block.kind == "labels" and block.lag == 1 and len(block.nodes) == 1:
            return RunningLabels(self.d, block, self.given)
        if block.kind == "banded":
            return RunningGaussian(self.d, block, self.given)
        raise UserError(f"no programs yet for the block {block.name}: one element at a time of "
                        f"{block.kind} with lag {block.lag}")  # fmt: skip

    def equations(self) -> Equations:
        return self.given.equations(set(self.given.names.taken))

    def whole(self) -> tuple[Given, tuple[Running, ...], Filter]:
        steps = [self.step(x) for x in self.d.arrivals]
        known = tuple(x for b in self.blocks for x in self.posteriors(b))
        state = tuple(x for b in self.blocks for x in b.state)
        given = self.given
        made = Filter(given.arriving, given.places, tuple(steps[:-1]), steps[-1], state)
        return given, self.blocks, replace(made, posteriors=known)

    def step(self, arrival: Arrival) -> Method:
        """log p of the element given the past, and the next state."""
        eq = self.equations()
        parts: list[n.Node] = []
        after: list[str] = []
        for b in self.blocks:
            names, value = b.step(eq, arrival)
            after += names
            parts.append(value)
        parts.append(eq.expr(arrival.rest, {}))
        name = eq.own("log_p")
        eq.let(a.Let(name, (), eq.level(n.add(*parts))))
        stem = f"step_{arrival.place}" if arrival.place else "step"
        which = f"element {arrival.place}" if arrival.place else "a later element"
        program = self.program(eq, (name, *after))
        return Method(stem, program, f"Take {which}.", self.given.arriving)

    def program(self, eq: Equations, outs: tuple[str, ...]) -> a.Program:
        state = [x for b in self.blocks for x in b.state]
        laid = [x for b in self.blocks for s in b.stacks for x in s.arrays]
        quantities = [*self.given.quantities.values(), *map(quantity, (*state, *laid))]
        every = a.Program(tuple(eq.letters.values()), tuple(quantities), tuple(eq.body), outs)
        return handing_out(every, outs)

    def posteriors(self, b: Running) -> list[Posterior]:
        """Of the last element."""
        eq = self.equations()
        found = []
        for member, outs in b.outcomes(eq):
            name = member.block.name
            stem = self.given.names.of(f"posterior_{name}")
            program = self.program(eq, tuple(dict.fromkeys(outs)))
            method = Method(stem, program, f"Return q of the last element of {name}.")
            pairs = tuple(zip(member.working, outs, strict=True))
            found.append(Posterior(name, member.family.name, pairs, method))
        return found
