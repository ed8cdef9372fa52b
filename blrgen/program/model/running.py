"""What a filter keeps of a block: labels, or Gaussians over the last elements of a chain.

A Gaussian chain with lags up to L keeps the natural parameters of its last L elements.  An
element adds its own terms (`Arrival`), and the oldest, x_o, is integrated out:

    J_ab ← J_ab − J_ao J_oo⁻¹ J_ob        h_a ← h_a − J_ao J_oo⁻¹ h_o
    log p(y_t | past) = rest + ½ h_o·J_oo⁻¹ h_o − ½ log |J_oo| + ½ d log 2π + A_after − A_before

Before the first element the chain has others of precision 1 that nothing refers to.  A chain
of labels keeps log p(z_t | past):

    l_t[k] = e_t[k] + log Σ_j exp(l_{t−1}[j] + e'_t[j] + W_t[j, k])
    log p(y_t | past) = rest + log Σ_k exp l_t[k], which is then taken off
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from blrgen.algebra.indexed import Expression, Index
from blrgen.algebra.indexed.values import ZERO
from blrgen.errors import UserError
from blrgen.expect.blocks.values import Block, Part, Statistic
from blrgen.expect.factors.names import axis_of
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.blocks import member_of, of_node
from blrgen.program.model.expressions import Equations
from blrgen.program.model.laid import Where
from blrgen.program.model.member import Member, evened
from blrgen.program.model.names import Given, size_of
from blrgen.program.model.stacked import Stacked
from blrgen.program.model.values import LEVEL, Array, Stack, Tie
from blrgen.rule.model.values import Arrival, ModelDerivation

Blocks = dict[tuple[int, int], str]


class Running(Protocol):
    """A block's part of a step; `state` are its arrays, in order."""

    state: tuple[Array, ...]
    stacks: tuple[Stack, ...]

    def step(self, eq: Equations, arrival: Arrival) -> tuple[tuple[str, ...], n.Node]:
        """The next state, and what the element adds to the log evidence."""

    def outcomes(self, eq: Equations) -> list[tuple[Member, tuple[str, ...]]]:
        """The working parameters of the last element."""


def apart(d: ModelDerivation, s: Statistic) -> tuple[Index, ...]:
    """A statistic's places without the chain's."""
    axis = axis_of(d.model.plate(d.along).size)
    return tuple(i for i in s.places if i.axis != axis)


@dataclass
class RunningLabels:
    """A chain of labels: log p of the last one, given all up to it."""

    d: ModelDerivation
    block: Block
    given: Given

    def __post_init__(self) -> None:
        self.stacks: tuple[Stack, ...] = ()
        self.member = member_of(self.d.model, self.block)
        self.single = next(p.statistic for p in self.block.parts if len(p.statistic.positions) == 1)
        self.places = apart(self.d, self.single)
        self.name = self.given.names.of(f"{self.block.name}_level")
        self.state: tuple[Array, ...] = (
            Array(self.name, tuple(size_of(i.axis) for i in self.places), LEVEL),
        )

    def letters(self, eq: Equations) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        for i in self.places:
            found = (*found, eq.letter(i.axis, i.name, found))
        return found

    def step(self, eq: Equations, arrival: Arrival) -> tuple[tuple[str, ...], n.Node]:
        """Bayes' rule, in logarithms."""
        *outer, k = self.letters(eq)
        where = {i.name: x for i, x in zip(self.places, (*outer, k), strict=True)}
        parts = {(s.name, lag): e for s, lag, e in arrival.parts if self.block.name in s.nodes}
        own = eq.expr(parts.pop((self.single.name, 0), ZERO), where)
        if arrival.place != 1:
            own = n.add(own, self.before(eq, parts, (*outer, k), where))
        level = self.let(eq, "joint", (*outer, k), eq.level(own, (*outer, k)))
        whole = self.let(eq, "whole", tuple(outer), a.Red("lse", (k,), a.ref(level, *outer, k)))
        value = n.Sub(a.ref(level, *outer, k), a.ref(whole, *outer))
        added: n.Node = a.ref(whole, *outer)
        after = self.let(eq, "next", (*outer, k), value)
        return (after,), a.Red("sum", tuple(outer), added) if outer else added

    def let(self, eq: Equations, stem: str, letters: tuple[str, ...], e: n.Node) -> str:
        name = eq.own(f"{self.name}_{stem}")
        eq.let(a.Let(name, letters, e))
        return name

    def before(
        self, eq: Equations, parts: dict[tuple[str, int], Expression], at: tuple[str, ...],
        where: dict[str, str],
    ) -> n.Node:  # fmt: skip
        """log Σ_j exp of what is known of the label before, and what leads from it."""
        *outer, k = at
        j = eq.letter(self.places[-1].axis, "j", at)
        moves: list[n.Node] = [a.ref(self.name, *outer, j)]
        earlier = {**where, self.places[-1].name: j}
        moves.append(eq.expr(parts.pop((self.single.name, 1), ZERO), earlier))
        for p in self.block.parts:
            s = p.statistic
            if len(s.positions) == 2:
                places = apart(self.d, s)
                both = dict(zip((i.name for i in places), (*outer, k, j), strict=True))
                moves.append(eq.expr(parts.pop((s.name, 0), ZERO), both))
        if parts:
            raise UserError(f"no programs yet for the block {self.block.name}: more than one lag")
        sum_of = self.let(eq, "ways", (*outer, k, j), n.add(*moves))
        return a.Red("lse", (j,), a.ref(sum_of, *outer, k, j))

    def outcomes(self, eq: Equations) -> list[tuple[Member, tuple[str, ...]]]:
        at = self.letters(eq)
        value = n.Call("exp", (a.ref(self.name, *at),))
        return [(self.member, (self.let(eq, "p", at, value),))]


class RunningGaussian:
    """A Gaussian chain: natural parameters of its last elements, and their A."""

    def __init__(self, d: ModelDerivation, block: Block, given: Given) -> None:
        self.d, self.block, self.given = d, block, given
        self.members = tuple(member_of(d.model, of_node(d.model, block, x)) for x in block.nodes)
        self.lags = block.lag
        self.ties = self.all_ties()
        parts = tuple(tuple(size_of(i.axis) for i in p.own) for p in self.whole().pieces)
        name = "_".join(block.nodes)
        self.stack = Stack(given.names.of(f"{name}_places"), parts, self.ties)
        self.stacks: tuple[Stack, ...] = (self.stack,)
        given.names.taken |= {x.name for x in self.stack.arrays}
        axes = tuple(size_of(i.axis) for i in self.whole().shared)
        own = (self.stack.name,) * 2
        turns = range(self.lags)
        self.J = {(x, y): given.names.of(f"{name}_J{x}{y}") for x in turns for y in turns if x <= y}
        self.h = {x: given.names.of(f"{name}_h{x}") for x in turns}
        self.A = given.names.of(f"{name}_A")
        self.state: tuple[Array, ...] = (
            *(Array(v, (*axes, *own), "SPD" if x == y else "R") for (x, y), v in self.J.items()),
            *(Array(v, (*axes, self.stack.name)) for v in self.h.values()),
            Array(self.A, axes),
        )

    def whole(self) -> Stacked:
        """The block's places; no equations are made of it."""
        return Stacked(Equations(), replace(self.members[0], block=self.block), self.members)

    def mine(self, arrival: Arrival) -> list[tuple[Statistic, int, Expression]]:
        return [x for x in arrival.parts if set(x[0].nodes) & set(self.block.nodes)]

    def all_ties(self) -> tuple[Tie, ...]:
        """Which entries each quadratic statistic joins."""
        whole = self.whole()
        found = [self.tied(w) for x in self.d.arrivals for s, _, e in self.mine(x)
                 if (w := whole.where(Part(s, e))) is not None]  # fmt: skip
        return tuple(dict.fromkeys(found))

    def tied(self, w: Where) -> Tie:
        return Tie(w.first, w.second, 0, w.ties)

    def element(self, eq: Equations) -> Stacked:
        """One element by itself."""
        parts = tuple(
            replace(p, statistic=replace(p.statistic, places=apart(self.d, p.statistic)),
                    coefficient=ZERO, expected=ZERO)
            for p in self.block.parts if len(p.statistic.positions) == 1
        )  # fmt: skip
        block = replace(self.block, kind="joint", axis="", lag=0, parts=parts)
        members = tuple(
            replace(m, block=of_node(self.d.model, replace(block, nodes=self.block.nodes), x))
            if len(self.block.nodes) > 1 else replace(m, block=block)
            for m, x in zip(self.members, self.block.nodes, strict=True)
        )  # fmt: skip
        shared = self.whole().shared
        found = Stacked(eq, replace(self.members[0], block=block), members, shared)
        found.opened(self.stack)
        return found

    # -- a step ------------------------------------------------------------------------------
    def step(self, eq: Equations, arrival: Arrival) -> tuple[tuple[str, ...], n.Node]:
        """The element's terms beside what is known, the oldest integrated out."""
        at = self.element(eq)
        work = _Window(eq, at, "_".join(self.block.nodes))
        linear, quadratic = self.brought(eq, at, arrival)
        first = arrival.place == 1
        for x in range(self.lags + 1):
            known = self.past(at, first, x)
            work.h[x] = work.vector("h", n.add(*linear.get(x, []), *known))
            for y in range(x, self.lags + 1):
                work.J[x, y] = work.matrix(x, y, self.precision(at, first, quadratic, x, y))
        gained = work.without(self.lags)
        after = [*work.names()]
        while work.oldest > 0:
            gained.append(work.without(work.oldest)[0])
        total = work.let("A", at.outer, n.add(*gained[1:], work.last()))
        before: n.Node = a.ref(self.A, *at.outer)
        if first:
            before = n.mul(n.HALF, n.Const.of(self.lags), at.around())
        added = n.Sub(n.add(gained[0], a.ref(total, *at.outer)), before)
        value = a.Red("sum", at.outer, added) if at.outer else added
        return (*after, total), value

    def brought(
        self, eq: Equations, at: Stacked, arrival: Arrival
    ) -> tuple[dict[int, list[n.Node]], dict[tuple[int, int], list[n.Node]]]:
        """The element's terms by how many elements before they are: h, and G at two places."""
        whole = self.whole()
        linear: dict[int, list[n.Node]] = {}
        quadratic: dict[tuple[int, int], list[n.Node]] = {}
        for s, lag, e in self.mine(arrival):
            w = whole.where(Part(s, e))
            own = replace(s, places=apart(self.d, s))
            name = eq.equation(eq.own(f"{'_'.join(s.nodes)}_c"), own.places, e).name
            if w is None:
                k = at.number(s.nodes[0])
                linear.setdefault(lag, []).append(at.first_order(k, name))
            else:
                value = at.second_order(w, name, self.stack.tie(self.tied(w)))
                quadratic.setdefault((lag, lag + w.lag), []).append(value)
        return linear, quadratic

    def past(self, at: Stacked, first: bool, x: int) -> list[n.Node]:
        """What h has of an element that was there before."""
        return [a.ref(self.h[x - 1], *at.outer, *at.i)] if x and not first else []

    def precision(
        self, at: Stacked, first: bool, brought: dict[tuple[int, int], list[n.Node]], x: int, y: int
    ) -> n.Node:
        """J of two elements, x and y before the last one."""
        i, j = at.i, at.j
        found: list[n.Node] = []
        if x and not first:
            found.append(a.ref(self.J[x - 1, y - 1], *at.outer, *i, *j))
        elif x and x == y:
            found.append(a.Is(a.Ix(i[0]), a.Ix(j[0])))
        for e in brought.get((x, y), []):
            found.append(n.neg(e))
            if x == y:
                found.append(n.neg(a.swapped(e, {i[0]: a.Ix(j[0]), j[0]: a.Ix(i[0])})))
        return n.add(*found) if found else n.ZERO

    def outcomes(self, eq: Equations) -> list[tuple[Member, tuple[str, ...]]]:
        """Of the last element, all before it integrated out."""
        at = self.element(eq)
        stem = "_".join(self.block.nodes)
        work = _Window(eq, at, stem)
        work.J, work.h = dict(self.J), dict(self.h)
        while work.oldest > 0:
            work.without(work.oldest)
        at.solve((work.h[0], work.J[0, 0]), stem)
        return evened(eq, at.outcomes((), stem))


class _Window:
    """Natural parameters of some neighbours, by how many elements before the last they are."""

    def __init__(self, eq: Equations, at: Stacked, stem: str) -> None:
        self.eq, self.at, self.stem = eq, at, stem
        self.J: Blocks = {}
        self.h: dict[int, str] = {}

    @property
    def oldest(self) -> int:
        return max(self.h)

    def names(self) -> tuple[str, ...]:
        return (*(v for _, v in sorted(self.J.items())), *(v for _, v in sorted(self.h.items())))

    def let(self, stem: str, letters: tuple[str, ...], e: n.Node, structure: str = "dense") -> str:
        name = self.eq.own(f"{self.stem}_{stem}")
        self.eq.let(a.Let(name, letters, e, structure))
        return name

    def vector(self, stem: str, e: n.Node) -> str:
        return self.let(stem, (*self.at.outer, *self.at.i), e)

    def matrix(self, x: int, y: int, e: n.Node) -> str:
        at = self.at
        return self.let("J", (*at.outer, *at.i, *at.j), e, "spd" if x == y else "dense")

    def without(self, o: int) -> list[n.Node]:
        """Integrate an element out; what that adds to A."""
        at, t = self.at, self.at.outer
        i, j, w = at.i, at.j, at.third
        own, level = self.J.pop((o, o)), self.h.pop(o)
        shift = self.eq.own(f"{self.stem}_shift")
        self.eq.let(at.solved(shift, own, level, t, i, j))
        gains, joined = {}, {x: self.J.pop((x, o)) for x in range(o)}
        for x, name in joined.items():
            turned = self.let("turned", (*t, *i, *j), a.ref(name, *t, *j, *i))
            gains[x] = self.eq.own(f"{self.stem}_gain")
            self.eq.let(at.solved(gains[x], own, turned, t, i, w, j))
        for x in range(o):
            here = a.ref(joined[x], *t, *i, *w)
            less = a.Red("sum", w, n.mul(here, a.ref(shift, *t, *w)))
            self.h[x] = self.vector("h", n.Sub(a.ref(self.h[x], *t, *i), less))
            for y in range(x, o):
                less = a.Red("sum", w, n.mul(here, a.ref(gains[y], *t, *w, *j)))
                self.J[x, y] = self.matrix(x, y, n.Sub(a.ref(self.J[x, y], *t, *i, *j), less))
        return [self.added(own, level, shift)]

    def added(self, own: str, level: str, shift: str) -> n.Node:
        """½ h·J⁻¹h − ½ log |J| + ½ d log 2π."""
        at, t = self.at, self.at.outer
        square = a.Red("sum", at.i, n.mul(a.ref(level, *t, *at.i), a.ref(shift, *t, *at.i)))
        volume = self.let("volume", t, a.Lin("logdet", (a.ref(own, *t, *at.i, *at.j),)))
        whole = n.add(square, n.neg(a.ref(volume, *t)), at.around())
        return a.ref(self.let("added", t, n.mul(n.HALF, whole)), *t)

    def last(self) -> n.Node:
        """A of the last element alone."""
        at, shift = self.at, self.eq.own(f"{self.stem}_shift")
        own, level = self.J[0, 0], self.h[0]
        self.eq.let(at.solved(shift, own, level, at.outer, at.i, at.j))
        return self.added(own, level, shift)
