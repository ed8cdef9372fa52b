"""Points whose equations couple them: Newton's method on all at once, halved until E[L] rises.

    for r: y = x + ρ δ, inside of its domain
           if f(y) ≥ f(x): x = y, δ = −H⁻¹ g at y, ρ = min(1, 4/|δ|);  else ρ = ρ/2
    until |ρ δ| < 10⁻¹³

|δ| is the largest part of 1 + |x| in all elements: where f is all but flat Newton's step is too
long to be halved to what it should be.

f is what E[L] has of the points, g its slope and H the slope of that, all at y, so that a turn
is one pass over the data.  Where −H⁻¹ g does not lead uphill, as where −H is not definite,
g (1 + |x|)/(1 + |g|) does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from blrgen.algebra.indexed import Index
from blrgen.algebra.indexed.build import scaled
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, Reader
from blrgen.program.model.member import named
from blrgen.program.model.newton import MOST, RESTS, apart, no_programs, within
from blrgen.program.model.solved import Solving
from blrgen.program.model.values import REAL, Array
from blrgen.rule.model.values import LinearSystem, Stationary, Unknown

DIGITS = n.Const.of(10**12)  # of f, that rounding leaves as they are
HALF = n.Const(Fraction(1, 2))
FAR = n.Const.of(4)  # sizes of a point that it is first moved by at most


@dataclass(frozen=True)
class _Point:
    """An unknown: where it is tried and kept, its direction; slope and Newton's step by letters."""

    array: Array
    letters: tuple[str, ...]  # of all its places, in their order
    shared: tuple[str, ...]  # those that the equations do not couple
    tried: str
    best: str
    way: str
    slope: a.Ref
    step: a.Ref

    @property
    def own(self) -> tuple[str, ...]:
        return tuple(x for x in self.letters if x not in self.shared)


def coupled(
    s: Stationary, arrays: Mapping[str, Array], readers: dict[str, Reader], eq: Equations
) -> Iterator[tuple[str, a.Let]]:
    """The equations of the points, in which f rests."""
    if any(len(u.places) > len(s.shared) + 1 for u in s.unknowns):
        raise no_programs(s, "they are coupled along two letters of one point")
    yield from _Coupled(s, arrays, readers, eq).found()


class _Coupled:
    def __init__(
        self, s: Stationary, arrays: Mapping[str, Array], readers: dict[str, Reader], eq: Equations
    ) -> None:
        self.s, self.eq = s, eq
        self.r = eq.own("_turn")
        eq.letters[self.r] = a.Letter(self.r, MOST)
        self.scale, self.top, self.small = eq.own("part"), eq.own("top"), eq.own("small")
        self.reach, self.uphill, self.far = eq.own("reach"), eq.own("uphill"), eq.own("far")
        tried = {u.name: eq.own(f"{arrays[u.name].name}_try") for u in s.unknowns}
        before = dict(readers)
        readers |= {x: named(y) for x, y in tried.items()}
        start = len(eq.body)
        self.level = eq.equation(eq.own("level"), (), s.level)
        matrix = tuple(tuple(scaled(e, -1) for e in row) for row in s.bend)
        solving = Solving(LinearSystem(s.unknowns, s.shared, s.slope, matrix), eq)
        slopes = [x.ref for x in solving.right]
        steps = {name: a.ref(made.name, *made.letters) for name, made in solving.unknowns()}
        readers.update(before)
        self.points = [
            self.point(u, arrays[u.name], tried[u.name], solving, g, steps[u.name])
            for u, g in zip(s.unknowns, slopes, strict=True)
        ]
        self.inside = eq.body[start:]
        del eq.body[start:]

    def point(
        self, u: Unknown, array: Array, tried: str, solving: Solving, slope: a.Ref, step: a.Ref
    ) -> _Point:
        own = [i for i in u.places if i not in self.s.shared]
        row = solving.rows[self.s.unknowns.index(u)]
        places: dict[Index, str] = dict(
            zip((*self.s.shared, *own), (*solving.shared, *row), strict=True)
        )
        best, way = self.eq.own(f"{array.name}_best"), self.eq.own(f"{array.name}_way")
        letters = tuple(places[i] for i in u.places)
        return _Point(array, letters, solving.shared, tried, best, way, slope, step)

    # -- values of a turn ----------------------------------------------------------------
    def now(self, x: str | a.Ref, letters: tuple[str, ...] = ()) -> a.Ref:
        """An array at this turn."""
        index = x.index if isinstance(x, a.Ref) else tuple(map(a.Ix, letters))
        return a.Ref(x.name if isinstance(x, a.Ref) else x, (a.Ix(self.r), *index))

    def last(self, x: str, letters: tuple[str, ...] = ()) -> a.Ref:
        """An array at the turn before."""
        return a.Ref(x, (a.Lag(self.r, -1), *map(a.Ix, letters)))

    def let(self, name: str, letters: tuple[str, ...], e: n.Node, init: n.Node) -> a.Let:
        return a.Let(name, (self.r, *letters), e, init=init)

    def reached(self) -> a.Let:
        """f, and what rounding may have taken from it."""
        level = self.now(self.level.name)
        slack = n.div(n.add(n.ONE, n.Call("abs", (level,))), DIGITS)
        return a.Let(self.reach, (self.r,), n.add(level, slack))

    def risen(self, new: n.Node, old: n.Node) -> n.Node:
        """One where f is no lower than at the best point so far, the other where it is."""
        return n.Select(n.Compare(">=", self.now(self.reach), self.last(self.top)), new, old)

    # -- the recurrence ------------------------------------------------------------------
    def found(self) -> Iterator[tuple[str, a.Let]]:
        tries = [x for p in self.points for x in self.tried(p)]
        outside, turning, at_turn = apart(self.inside, {p.tried for p in self.points}, self.r)
        after = [self.reached(), a.Let(self.uphill, (self.r, *self.points[0].shared), self.rise())]
        after += [x for p in self.points for x in self.after(p)]
        less, level = n.mul(HALF, self.last(self.scale)), self.now(self.level.name)
        far = self.now(self.far)
        first = n.div(FAR, n.Call("max", (far, FAR)))
        rests = n.Compare("<", n.mul(self.now(self.scale), far), n.Const(RESTS))
        after += [
            a.Let(self.far, (self.r,), self.farthest()),
            self.let(self.scale, (), self.risen(first, less), n.ONE),
            self.let(self.top, (), self.risen(level, self.last(self.top)), n.neg(n.Named("inf"))),
            a.Let(self.small, (self.r,), rests),
        ]
        body = (*tries, *turning, *map(at_turn, after))
        self.eq.body += [*outside, a.Seq(self.r, body, self.small)]
        for u, p in zip(self.s.unknowns, self.points, strict=True):
            value = a.Ref(p.best, (a.Last(self.r), *map(a.Ix, p.letters)))
            made = a.Let(self.eq.own(f"{p.array.name}_found"), p.letters, value)
            self.eq.let(made)
            yield u.name, made

    def tried(self, p: _Point) -> Iterator[a.Let]:
        """x + ρ δ, or halfway to the end that it would be beyond."""
        before = self.last(p.best, p.letters)
        new = n.add(before, n.mul(self.last(self.scale), self.last(p.way, p.letters)))
        if p.array.domain == REAL:
            yield a.Let(p.tried, (self.r, *p.letters), new)
            return
        name = self.eq.own(f"{p.array.name}_new")
        yield a.Let(name, (self.r, *p.letters), new)
        inside = within(p.array.domain, before, self.now(name, p.letters))
        yield a.Let(p.tried, (self.r, *p.letters), inside)

    def rise(self) -> n.Node:
        """gᵀ δ by Newton's step: how steep it is."""
        return n.add(*(
            a.Red("sum", p.own, product) if p.own else product
            for p in self.points
            for product in [n.mul(self.now(p.slope), self.now(p.step))]
        ))  # fmt: skip

    def after(self, p: _Point) -> Iterator[a.Let]:
        """The best point so far, and where to go from it."""
        x, g = self.now(p.tried, p.letters), self.now(p.slope)
        size = n.add(n.ONE, n.Call("abs", (x,)))
        plain = n.div(n.mul(g, size), n.add(n.ONE, n.Call("abs", (g,))))
        steep = n.Compare(">=", self.now(self.uphill, p.shared), n.ZERO)
        start = a.Ref(p.array.name, tuple(map(a.Ix, p.letters)))
        best = self.risen(x, self.last(p.best, p.letters))
        yield self.let(p.best, p.letters, best, start)
        way = n.Select(steep, self.now(p.step), plain)
        going = self.risen(way, self.last(p.way, p.letters))
        yield self.let(p.way, p.letters, going, n.ZERO)

    def farthest(self) -> n.Node:
        """The largest part of its size by which δ moves an element."""
        found: n.Node = n.ZERO
        for p in self.points:
            whole = n.add(n.ONE, n.Call("abs", (self.now(p.best, p.letters),)))
            part = n.div(n.Call("abs", (self.now(p.way, p.letters),)), whole)
            most = a.Red("max", p.letters, part) if p.letters else part
            found = most if found == n.ZERO else n.Call("max", (found, most))
        return found
