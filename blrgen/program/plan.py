"""Which entry points a rule has: its phases as parts of their own, each optimised by itself.

A rule that probes the loss at draws has four: `draw`; `single`, the estimate and
the update in one pass, for one draw a step; `observe` and `averaged`, for several.
The others have only `single`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.fading import fading
from blrgen.program.laws import distribution
from blrgen.program.part import Part
from blrgen.program.passes import optimised
from blrgen.program.program import Phase, Program, Statement, Variable, fresh
from blrgen.program.recover import paired_roots, read_back, written_out
from blrgen.program.types import SCALAR
from blrgen.timing import timed

DRAWS = "draws"


@dataclass(frozen=True)
class Plan:
    """Entry points; those that the rule does not need are None."""

    program: Program  # as lowered, for prose
    single: Part
    draw: Part | None = None
    observe: Part | None = None
    averaged: Part | None = None
    again: Part | None = None  # the step, and where the next draw is, in one pass
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
    def inputs(self) -> tuple[Variable, ...]:
        """What `step` takes, in order: inputs and data."""
        return self.program.of("input", "data")

    @property
    def noises(self) -> tuple[Variable, ...]:
        return self.program.of("draw")

    @property
    def probe(self) -> str:
        """Where the loss is evaluated, if not at the parameters."""
        phase = self.program.phase("draw")
        return phase.body[-1].name if phase.body else ""


def plan(program: Program) -> Plan:
    """Split the program, inline what the draw phase computed, and optimise every part."""
    _check(program)
    program = timed("fading", lambda p: replace(p, fading=fading(p)), program)
    draw, estimate, update = (program.phase(name) for name in ("draw", "estimate", "update"))
    noises = program.of("draw")
    probe = draw.body[-1].name if draw.body else ""
    inner = {s.name: s.expr for s in draw.body[:-1]} if noises else {}
    estimate, update = _inlined(estimate, inner), _inlined(update, inner)
    before = draw.body if probe and not noises else ()
    joined = Phase("update", (*before, *estimate.body, *update.body), update.writes)
    if not probe:
        return Plan(program, _part(program, joined))
    drawn = _part(program, draw)
    if not noises:
        return Plan(program, _part(program, joined), drawn)
    back = read_back(program)
    estimate, update = (_read_back(p, back) for p in (estimate, update))
    joined = replace(joined, body=(*before, *estimate.body, *update.body))
    read = {x for p in (estimate, update) for x in p.reads}
    carried = (*(v.name for v in noises if v.name in read), probe)
    program = _remembering(program, probe)
    single = _part(program, joined)
    own = {v.name for v in noises} | {probe}
    again = None
    if carried == (probe,):
        step = _drawing_again(joined, draw, set(program.scope))
        again = _part(program, step, "update, next draw")
    result = Plan(program, single, drawn, carried=carried, again=again)
    if own & set(update.reads) or program.of("data"):
        return result  # what is not linear in one draw's result is not averaged: one draw a step
    return _with_averages(result, estimate, update)


def _with_averages(result: Plan, estimate: Phase, update: Phase) -> Plan:
    program = _remembering(result.program, result.probe)
    made = {s.name: s for s in estimate.body}
    means = [v.name for v in result.inputs if v.name in update.reads]
    means += [s.name for s in estimate.body if s.name in update.reads]
    scope, taken = program.scope, set(program.scope)
    sums = tuple(fresh(f"{name}_sum", taken) for name in means)
    variables = tuple(Variable(x, "sum", scope[m]) for x, m in zip(sums, means, strict=True))
    extended = replace(program, variables=(*program.variables, *variables))
    observed = replace(estimate, name="observe", writes=tuple(zip(sums, means, strict=True)))
    count = Variable(DRAWS, "count", SCALAR)
    averages = tuple(
        Statement(m, n.Div(n.Ref(x), n.Ref(DRAWS)), scope[m])
        for x, m in zip(sums, means, strict=True)
    )
    after = replace(update, body=(*averages, *update.body))
    kept = [v for v in extended.variables if v.name not in means or v.name in made]
    averaged = replace(extended, variables=(*kept, count))
    return replace(
        result,
        observe=_part(extended, observed),
        averaged=_part(averaged, after, "update from averages"),
        means=tuple(means),
        sums=sums,
    )


def _drawing_again(step: Phase, draw: Phase, taken: set[str]) -> Phase:
    """The step, then the draw from the next values of what it has changed."""
    values: dict[str, n.Node] = {state: n.Ref(local) for state, local in step.writes}
    body = list(step.body)
    for s in draw.body:
        name = fresh(f"{s.name}_next", taken)
        taken.add(name)
        body.append(replace(s, name=name, expr=n.substituted(s.expr, values)))
        values[s.name] = n.Ref(name)
    probe = (draw.body[-1].name, body[-1].name)
    return replace(step, body=tuple(body), writes=(*step.writes, probe))


def _remembering(program: Program, probe: str) -> Program:
    """The probe point as a variable that later phases may read."""
    kept = tuple(v for v in program.variables if v.name != probe)
    remembered = Variable(probe, "carried", program.scope[probe])
    return replace(program, variables=(*kept, remembered))


def _part(program: Program, phase: Phase, what: str = "") -> Part:
    return optimised(replace(program, phases=(phase,)), what=what)


def _inlined(phase: Phase, values: dict[str, n.Node]) -> Phase:
    """Intermediate results of the draw phase written out where later phases read them."""
    full = written_out(values)
    body = tuple(replace(s, expr=n.substituted(s.expr, full)) for s in phase.body)
    return replace(phase, body=body)


def _read_back(phase: Phase, noise: dict[str, n.Node]) -> Phase:
    """A phase that reads the probe point where it read the noise."""

    def changed(expr: n.Node) -> n.Node:
        return paired_roots(n.substituted(expr, noise)) if noise.keys() & n.names(expr) else expr

    return replace(phase, body=tuple(replace(s, expr=changed(s.expr)) for s in phase.body))


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
