"""An emitted class on small random data against the derived expressions, in numbers.

From the state of the class q and E[T] are computed anew, block by block of the schedule
(`laws`); the objective before each step is E[L] + Σ(A − ⟨λ, E[T]⟩ − E[log h]), and after it
the slopes of E[L] must vanish at the points.  Equal numbers are no proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blrgen.algebra.indexed.calculus import NoDerivative, partial
from blrgen.algebra.indexed.values import Expression, Index
from blrgen.decide.proof import NOT_COMPARED, Proof
from blrgen.emit.model.places import python_name
from blrgen.errors import InternalError
from blrgen.expect.blocks.values import Block, Part
from blrgen.expect.sites.values import Site
from blrgen.program.model.lower import EXACT
from blrgen.program.model.values import Array, ModelProgram
from blrgen.rule.model.prepare import expecting_of, points_of, prepared
from blrgen.rule.model.values import ModelDerivation
from blrgen.validate.model.data import Drawn, spread
from blrgen.validate.model.laws import (
    Law,
    law_of,
    law_of_chain,
    law_of_independent,
    law_of_joined,
    law_of_labels,
    law_of_state,
)
from blrgen.validate.model.sites import number_values, site_values
from blrgen.validate.model.stationary import resting
from blrgen.value.indexed import Values
from blrgen.value.kinds import DOUBLES, Kind

STEPS = 2
OBJECTIVE, SLOPE, STEP = 1e-8, 1e-6, 1e-6  # relative
LOGS_OF_NOTHING = (-17.3, -29.1)  # what stands for log 0 where it cancels
SETTLED, ROUNDS = 1e-12, 2000  # of local blocks


@dataclass
class Reference:
    """The state of an algorithm as arrays of the index algebra, and its q's."""

    d: ModelDerivation
    data: Drawn
    laws: dict[str, Law] = field(default_factory=dict)
    points: dict[str, Any] = field(default_factory=dict)
    sites: dict[str, Any] = field(default_factory=dict)
    kind: Kind = DOUBLES
    kept: bool = False  # chains by h, J and C as they stand, not by their marginals
    rounds: int = 0  # over local blocks, or until they rest

    @property
    def values(self) -> Values:
        """Everything that expressions may hold."""
        arrays = {**self.data.arrays, **self.points, **self.sites}
        for law in self.laws.values():
            arrays |= law.means
        return Values(arrays, self.data.sizes, self.kind)

    def read(self, model: Any, program: ModelProgram) -> None:
        """Points and q's of the state of a class."""
        blocks = {u.block.name: u.block for u in self.d.updates}
        for v in program.variables:
            if v.is_point:
                self.points[v.name] = self.held(model, v.parts[0].array)
        for v in program.variables:
            if not v.is_point:
                own = {p.parameter: self.held(model, p.array) for p in v.parts}
                self.laws[v.name] = law_of_state(self.d.model, blocks[v.name], own, self.values)
        for c in program.chained:
            if any(x.axes != x.sizes for x in c.arrays):
                raise InternalError("chains of different lengths that a state holds")
            marginals = {v.name: model.posterior(v.name) for v in c.variables}
            block = next(b for b in blocks.values() if set(b.nodes) == set(marginals))
            joined = bool(self.d.sites) or self.kept
            if joined and block.kind == "labels" and len(c.arrays) == 3:
                state = [self.held(model, x) for x in c.arrays]
                if [np.ndim(x) for x in state] == [2, 1, 2]:  # one chain, moves that do not change
                    self.laws[block.name] = law_of_labels(self.d.model, block, state, self.values)
                    continue
            if joined and len(c.arrays) == len(block.parts) == 3:  # h, J, C as they stand
                state = [self.held(model, x) for x in c.arrays]
                self.laws[block.name] = law_of_chain(self.d.model, block, state, self.values)
                continue
            if joined and len(c.arrays) == 2 and block.kind == "dense":  # h and P
                state = [self.held(model, x) for x in c.arrays]
                self.laws[block.name] = law_of_joined(self.d.model, block, state, self.values)
                continue
            self.laws[block.name] = law_of_independent(self.d.model, block, marginals, self.values)

    def held(self, model: Any, array: Array) -> Any:
        """An array of the state of a class, every row as long as the longest."""
        return spread(np.asarray(model.state[array.name]), array, self.data.lengths)

    def site(self, s: Site) -> dict[str, Any]:
        """What a site gives at these q's."""
        if s.own is None:
            return site_values(s, self.values)
        return number_values(s, s.own, self.laws[s.own.block].natural, self.values)

    def evaluate(self, part: float = 1.0) -> None:
        """What sites give at these q's; r and s only a part of the way."""
        for s in self.d.sites:
            for name, x in self.site(s).items():
                stays = 0.0 if name == s.expected.name else 1 - part
                self.sites[name] = x if not stays else stays * self.sites[name] + part * x

    def evaluate_now(self) -> None:
        """E[f] at these q's, for the objective."""
        for s in self.d.sites:
            found = self.site(s)
            self.sites[s.expected.name] = found[s.expected.name]

    def update(self, block: Block) -> None:
        self.laws[block.name] = law_of(self.d.model, block, self.values)

    def first(self) -> None:
        """The blocks that the objective is maximised over."""
        updates = self.d.updates
        if self.d.batch and not self.d.points:
            self.settle([u.block for u in updates if u.local])
            return
        count = len(updates) if self.d.algorithm in EXACT else 1
        if self.d.sites:
            self.evaluate_now()
            count = 0 if stepped(self.d, updates[0].block) else count
        for u in updates[:count]:
            self.update(u.block)

    def settle(self, local: list[Block]) -> None:
        """Local blocks to their fixed point, all but the first from E[T] = 0."""
        values = self.values
        for b in local[1:]:
            self.laws[b.name] = Law(
                {p.statistic.name: _zeros(values, p) for p in b.parts}, 0.0, 0.0
            )
        if self.rounds:
            for b in local * self.rounds + local[:1]:
                self.update(b)
            return
        before: list[Any] = []
        for _ in range(ROUNDS):
            for b in local:
                self.update(b)
            now = [x for b in local for x in self.laws[b.name].means.values()]
            moves = [np.abs(x - y) / (1 + np.abs(y)) for x, y in zip(now, before, strict=False)]
            if moves and max(float(x.max(initial=0)) for x in moves) < SETTLED:
                return
            before = now

    def objective(self) -> Any:
        """E[L] and the entropies."""
        blocks = [u.block for u in self.d.updates]
        q = expecting_of(blocks, [[self.d.model.node(x) for x in b.nodes] for b in blocks])
        values = self.values
        total: Any = at_ends(values, self.d.expected_joint)
        for b in blocks:
            law = self.laws[b.name]
            total += law.partition - law.paired - values.of(q.of(b.base))
        return total


@dataclass(frozen=True)
class _Ended(Kind):
    """Doubles in which log 0 is a number: it cancels where labels are certain, 0 · log 0 is 0."""

    nothing: float

    def call(self, name: str, *args: Any) -> Any:
        found = super().call(name, *args)
        return self.nothing if found == -math.inf else found


def at_ends(values: Values, e: Expression) -> Any:
    """A number in which log 0 may stand where it cancels: −∞ where it does not."""
    if values.kind is not DOUBLES:
        return values.of(e)
    one, other = (Values(values.arrays, values.sizes, _Ended(x)).of(e) for x in LOGS_OF_NOTHING)
    return one if abs(one - other) <= OBJECTIVE * (1 + abs(one)) else -math.inf


def _zeros(values: Values, p: Part) -> Any:
    return np.zeros([values.size(i.axis) for i in p.statistic.places])


def compare(
    d: ModelDerivation, program: ModelProgram, kind: Callable[..., Any], data: Drawn
) -> tuple[tuple[str, Proof], ...]:
    """The class of a file: its objectives step by step, and its points after each."""
    rates = {"delay": 0.0} if d.batch else {}  # the first step goes all the way
    slopes = slopes_of(d)
    objectives: list[tuple[float, float]] = []
    worst: dict[str, float] = {}
    steps, whole = 1 if d.batch else STEPS, 0.0
    with np.errstate(all="ignore"):
        own = {python_name(k): x for k, x in data.given.items()} | rates
        model = kind(**own, seed=1)
        if program.chained:  # from marginals on: those of a first step are not independent
            said = {v.name: model.posterior(v.name) for c in program.chained for v in c.variables}
            model = kind(**own, start=said, seed=1)
        reference = Reference(d, data, rounds=d.inner or 0)
        reference.read(model, program)
        for step in range(steps + 1):
            reference.first()
            objectives.append((float(model.objective()), reference.objective()))
            if step == steps:
                break
            if d.sites:
                whole = largest([whole, whole_step(reference, program, model)])
            model.step(*([np.arange(data.sizes[d.batch])] if d.batch else []))
            follow(reference, program, model)
            for name, (places, e) in slopes.items():
                gap = residual(reference.values, places, e)
                worst[name] = largest([worst.get(name, 0.0), gap])
    points = [(name, _slope(name, gap, model.notes)) for name, gap in worst.items()]
    if d.sites:
        points.append(
            ("step", compared("a whole step is that of the derived updates", whole, STEP))
        )
    return (("objective", _objectives(objectives)), *points)


def compare_filter(
    d: ModelDerivation, program: ModelProgram, kind: Callable[..., Any], data: Drawn
) -> tuple[tuple[str, Proof], ...]:
    """The class of a filter: log p of all elements against E[L] and the entropies of all."""
    assert program.filter is not None
    reference = Reference(d, data)
    reference.first()
    comes = {x.called: at for x, at in
             zip(program.filter.arriving, program.filter.places, strict=True)}  # fmt: skip
    known = {python_name(k): x for k, x in data.given.items() if k not in comes}
    arrays = {python_name(k): np.moveaxis(data.given[k], at, 0) for k, at in comes.items()}
    model = kind(**known)
    for t in range(len(next(iter(arrays.values())))):
        model.step(**{k: x[t] for k, x in arrays.items()})
    claim = "log p of all elements is that of the derived updates"
    gap = abs(float(model.objective()) - reference.objective())
    size = 1 + abs(reference.objective())
    return (("log evidence", compared(claim, gap / size, OBJECTIVE)),)


def follow(reference: Reference, program: ModelProgram, model: Any) -> None:
    """Blocks with a state at their updates, in order; the points then are those of the class."""
    if any(x["kind"] == "step halved" for x in model.notes):  # its q's are those of the class
        reference.read(model, program)
        return
    advance(reference, program, rate_of(reference.d, model, model.t - 1))
    for v in program.variables:
        if v.is_point:
            reference.points[v.name] = reference.held(model, v.parts[0].array)


def rate_of(d: ModelDerivation, model: Any, t: int) -> float:
    """ρ of a step after t others: only steps of --cvi are parts, and of these not the first."""
    return float(model.rho) if d.algorithm == "cvi" and d.sites and t else 1.0


def advance(reference: Reference, program: ModelProgram, part: float) -> set[str]:
    """Blocks with a state at their updates, in order; their names."""
    d = reference.d
    joined = [{v.name for v in c.variables} for c in program.chained]
    with_state = {v.name for v in program.said}
    with_state |= {u.block.name for u in d.updates if set(u.block.nodes) in joined}
    if d.sites and d.algorithm == "cvi":
        reference.evaluate(part)
    for u in d.updates:
        if u.block.name in with_state:
            if d.sites and d.algorithm == "ncvmp":
                reference.evaluate()
            reference.update(u.block)
    return with_state & reference.laws.keys()


def whole_step(reference: Reference, program: ModelProgram, model: Any) -> float:
    """How far the q's of a whole step are from the derived updates, whatever part is taken."""
    d, part, own = reference.d, rate_of(reference.d, model, model.t), model.state
    wanted, found = (
        Reference(d, reference.data, dict(reference.laws), dict(reference.points),
                  dict(reference.sites), kept=True)
        for _ in range(2)
    )  # fmt: skip
    blocks = advance(wanted, program, part)
    _, state, _ = model._swept(part)
    model.state = state
    found.read(model, program)
    model.state = own
    pairs = ((x, found.laws[name].means[k]) for name in blocks & found.laws.keys()
             for k, x in wanted.laws[name].means.items())  # fmt: skip
    return largest([largest(np.abs(x - y) / (1 + np.abs(x))) for x, y in pairs])


def stepped(d: ModelDerivation, block: Block) -> bool:
    """Whether the block's latents stand in sites."""
    return bool(d.stepped & {x for node in block.nodes for x in d.model.node(node).names})


def slopes_of(d: ModelDerivation) -> dict[str, tuple[tuple[Index, ...], Expression]]:
    """What is zero where E[L] rests in each point."""
    names = {x for u in d.points for x in u.names}
    own = prepared(d.model, tuple(x for x in names if _latent(d, x)))
    found = {}
    for p in points_of(own):
        with suppress(NoDerivative):
            g = resting(p, partial(d.expected_joint, p.name, p.places))
            found[p.name] = (p.places, g)
    return found


def _latent(d: ModelDerivation, name: str) -> bool:
    return any(name in n.names and n.kind == "latent" for n in d.model.nodes)


def residual(values: Values, places: tuple[Index, ...], e: Expression) -> float:
    """The largest |Σ terms| beside Σ |terms|, over all places."""
    parts = [values.array(Expression(((t, c),)), places) for t, c in e.terms]
    for k, i in enumerate(places):
        if (there := values.arrays.get(f"exists:{i.axis}")) is not None and k > 0:
            ones = there.reshape((*there.shape, *(1,) * (len(places) - k - 1)))
            parts = [x * ones for x in parts]  # at elements that there are
    size = sum(np.abs(x) for x in parts)
    return float(np.max(np.abs(sum(parts)) / np.where(size > 0, size, 1.0), initial=0.0))


def _slope(name: str, gap: float, notes: Sequence[Mapping[str, str]]) -> Proof:
    """Zero; of a point that stays where it was, as the class notes, nothing is claimed."""
    claim = f"the slope of E[L] by {name} is zero after a step"
    said = next((x["text"] for x in notes if x["node"] == name), "")
    found = compared(claim, gap, SLOPE)
    return Proof(NOT_COMPARED, claim, said) if said and found.level == "refuted" else found


def _objectives(pairs: Sequence[tuple[float, float]]) -> Proof:
    claim = "the objective before each step is that of the derived updates"
    if not np.isfinite([y for _, y in pairs]).all():
        return Proof(NOT_COMPARED, claim, "plain loops give ∞ − ∞ here")
    ours, theirs = np.array(pairs).T
    return compared(claim, largest(np.abs(ours - theirs) / (1 + np.abs(theirs))), OBJECTIVE)


def largest(gaps: Any) -> float:
    """The largest of differences; ∞ where one is none: a NaN is beside no number."""
    found = float(np.max(gaps, initial=0.0))
    return found if math.isfinite(found) else math.inf


def compared(claim: str, gap: float, limit: float) -> Proof:
    """Equal in numbers, or not."""
    if gap < limit:
        return Proof("numeric", claim, f"equal to {gap:.0e} on small random data")
    return Proof("refuted", claim, f"they differ by {gap:.2g} of their size")
