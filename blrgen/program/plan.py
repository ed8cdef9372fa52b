"""Which entry points a rule has: its stages as parts of their own, each optimised by itself.

A rule that probes the loss at draws has four: `draw`; `single`, the estimate and
the update in one pass, for one draw a step; `observe` and `averaged`, for several.
The others have only `single`.  What they make is said in assignments of the rule; each part
is then read by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from blrgen.core import Assignment
from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.axes.parts import Averages, Writes
from blrgen.program.fading import fading
from blrgen.program.laws import distribution
from blrgen.program.lower import STAGES, Reader, written
from blrgen.program.part import Part
from blrgen.program.passes import optimised
from blrgen.program.program import Program, Variable, fresh
from blrgen.program.recover import read_back, reads, replaced, written_out
from blrgen.program.sized import Sizes, of_sizes, sized
from blrgen.program.types import SCALAR
from blrgen.timing import timed

Expr = Any
DRAWS = "draws"


@dataclass(frozen=True)
class Plan:
    """Entry points; those that the rule does not need are None."""

    program: Program  # what its quantities are
    single: Part
    draw: Part | None = None
    observe: Part | None = None
    averaged: Part | None = None
    carried: tuple[str, ...] = ()  # what a draw leaves for the step
    means: tuple[str, ...] = ()  # what is averaged over draws
    sums: tuple[str, ...] = ()  # where their sums are kept, in the same order

    @property
    def states(self) -> tuple[Variable, ...]:
        return self.program.of("state")

    @property
    def parameter(self) -> Variable:
        return self.program.parameter

    @property
    def main(self) -> str:
        """The state that the parameters are."""
        return self.parameter.name

    @property
    def arrays(self) -> list[Variable]:
        """The states that are arrays."""
        return [v for v in self.states if v.type != SCALAR]

    @property
    def numbers(self) -> list[Variable]:
        """The states that are numbers."""
        return [v for v in self.states if v.type == SCALAR]

    @property
    def order(self) -> tuple[str, ...]:
        """Array arguments: outputs, states, what a draw left, inputs, sums."""
        states = [self.main, *(v.name for v in self.arrays if v.name != self.main)]
        constants = [v.name for v in self.program.of("hyper") if v.type != SCALAR]
        drawn, given = [v.name for v in self.noises], [v.name for v in self.inputs]
        order = [self.probe, *states, *constants, *self.carried, *drawn, *given, *self.sums]
        return tuple(dict.fromkeys(order))

    @property
    def inputs(self) -> tuple[Variable, ...]:
        """What `step` takes, in order: inputs and data."""
        return self.program.of("input", "data")

    @property
    def noises(self) -> tuple[Variable, ...]:
        return self.program.of("draw")

    @property
    def probe(self) -> str:
        """Where the loss is evaluated, if not at the parameters."""
        return self.program.probe


def plan(reader: Reader, sizes: Sizes | None = None) -> Plan:
    """Which assignments each part makes: those of the draw written out where others read them.

    Every part is read and optimised by itself; `sizes` are numbers for those of arrays.
    """
    program = reader.program
    _check(program)
    work = _Parts(reader, sizes or {})
    draw, estimate, update = (reader.stage(name) for name in STAGES)
    noises, probe = program.of("draw"), program.probe
    inner = written_out(draw[:-1]) if noises else {}
    estimate, update = (_with(x, inner) for x in (estimate, update))
    before = draw if probe and not noises else ()
    joined = (*before, *estimate, *update)
    whole = work.sized(program)
    if not probe:
        return Plan(whole, work.part(program, joined))
    drawn = work.part(program, draw, ((probe, probe),), "draw")
    if not noises:
        return Plan(whole, work.part(program, joined), drawn)
    back = read_back(reader.rule)
    estimate, update = (_with(x, back) for x in (estimate, update))
    joined = (*estimate, *update)
    read = reads(estimate) | reads(update)
    carried = (*(v.name for v in noises if v.name in read), probe)
    program = _remembering(program, probe)
    single = work.part(program, joined)
    own = {v.name for v in noises} | {probe}
    result = Plan(whole, single, drawn, carried=carried)
    if own & reads(update) or program.of("data"):
        return result  # what is not linear in one draw's result is not averaged: one draw a step
    return work.averaging(result, program, estimate, update)


class _Parts:
    """Makes the parts of one rule."""

    def __init__(self, reader: Reader, sizes: Sizes) -> None:
        self.reader, self.sizes = reader, sizes
        self.states = [v.name for v in reader.program.of("state")]
        stages = {x: reader.stage(x) for x in STAGES}
        raw = {x: reader.part(reader.program, own, written(own, self.states))
               for x, own in stages.items() if own}  # fmt: skip
        self.fading = timed("fading", lambda parts: fading(reader.program, parts), raw)

    def sized(self, program: Program) -> Program:
        """The program with numbers for sizes, and which of its states fade."""
        return sized(replace(program, fading=self.fading), self.sizes)

    def part(
        self,
        program: Program,
        assignments: Sequence[Assignment],
        writes: Writes | None = None,
        what: str = "update",
        averages: Averages | None = None,
    ) -> Part:
        """Assignments as a part, all passes done."""
        puts = written(assignments, self.states) if writes is None else writes
        known = replace(program, fading=self.fading)
        made = timed("equations", lambda x: self.reader.part(known, x, puts, averages), assignments)
        return optimised(of_sizes(made, self.sizes), what)

    def averaging(
        self,
        result: Plan,
        program: Program,
        estimate: Sequence[Assignment],
        update: Sequence[Assignment],
    ) -> Plan:
        """The plan with sums over draws, and the step from them."""
        made = {x.name for x in estimate}
        means = [v.name for v in result.inputs if v.name in reads(update)]
        means += [x.name for x in estimate if x.name in reads(update)]
        scope, taken = program.scope, set(program.scope)
        sums = tuple(fresh(f"{name}_sum", taken) for name in means)
        variables = tuple(Variable(x, "sum", scope[m]) for x, m in zip(sums, means, strict=True))
        extended = replace(program, variables=(*program.variables, *variables))
        averages = {m: (x, DRAWS) for x, m in zip(sums, means, strict=True)}
        count = Variable(DRAWS, "count", SCALAR)
        kept = [v for v in extended.variables if v.name not in means or v.name in made]
        averaged = replace(extended, variables=(*kept, count))
        puts = tuple(zip(sums, means, strict=True))
        return replace(
            result,
            observe=self.part(extended, estimate, puts, "observe"),
            averaged=self.part(averaged, update, None, "update from averages", averages),
            means=tuple(means),
            sums=sums,
        )


def _remembering(program: Program, probe: str) -> Program:
    """The probe point as a variable that later stages may read."""
    kept = tuple(v for v in program.variables if v.name != probe)
    remembered = Variable(probe, "carried", program.scope[probe])
    return replace(program, variables=(*kept, remembered))


def _with(assignments: Sequence[Assignment], values: Mapping[str, Expr]) -> tuple[Assignment, ...]:
    """Assignments with values in place of names."""
    return tuple(replace(x, expr=replaced(x.expr, values)) for x in assignments)


def _check(program: Program) -> None:
    for v in program.of("draw"):
        if distribution(v.distribution) is None:
            raise UserError(
                f"no target can draw {v.name} from {v.distribution!r}",
                how="N(0, 1), Logistic(0, b), U(a, b) or Bernoulli(p)",
            )


def array_names(part: Part, order: tuple[str, ...]) -> tuple[str, ...]:
    """Arrays that a part reads or writes, states first, then as in `order`."""
    own, targets = {s.name for s in part.body}, {target for target, _ in part.writes}
    used = {x for s in part.body for x in n.names(s.expr)} | targets
    used |= {local for _, local in part.writes}
    sizes = part.sizes
    return tuple(x for x in order if x in used and (x not in own or x in targets) and sizes[x])


def scalar_names(part: Part) -> tuple[str, ...]:
    """Numbers that the body reads: hyperparameters in their order, then computed ones."""
    own = {s.name for s in part.body}
    used = {x for s in part.body for x in n.names(s.expr) if x not in own}
    used = {x for x in used if not part.sizes[x]}
    declared = [v.name for v in part.rule.variables if v.name in used]
    computed = [s.name for s in part.numbers if s.name in used]
    return tuple(dict.fromkeys((*declared, *computed)))
