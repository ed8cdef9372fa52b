"""Points at which two values may differ: random ones, and those that code singles out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

from blrgen.decide.domain import Range, names_in_bounds, range_at, range_of
from blrgen.decide.equal import sample
from blrgen.validate.reading.graph import Node, reachable

Expr = Any
POOL = [Fraction(x) for x in (0, 1, -1, 2, 40, -40, 10**6, -(10**6))] + [
    Fraction(1, 2), Fraction(-1, 2), Fraction(1, 1000), Fraction(10**9), Fraction(-(10**9)),
]  # fmt: skip
MANY, TRIES = 48, 600


def contains(r: Range, x: Fraction) -> bool:
    """Whether a number is in a range, its ends included where they belong to it."""
    if r.points:
        return x in r.points
    if r.integer and x.denominator != 1:
        return False
    low, high = r.closed
    above = r.lower is None or x > r.lower or (low and x == r.lower)
    below = r.upper is None or x < r.upper or (high and x == r.upper)
    return above and below


class Points:
    """Points in the domains of the symbols, with the numbers of the file among them."""

    def __init__(
        self, symbols: Sequence[Expr], domains: Mapping[Any, str], numbers: Sequence[Fraction]
    ) -> None:
        self.symbols, self.domains = list(symbols), domains
        self.by_name = {s.name: s for s in symbols}
        self.ranges = {s: range_of(s, domains) for s in symbols}
        wide = [y for x in numbers for y in (x, -x, 2 * x, x + 1, x - 1, x / 2)]
        pool = list(dict.fromkeys([*POOL, *wide[:120]]))
        self.pools = {
            s: [x for x in (*pool, *_ends(r)) if contains(r, x)]
            for s, r in self.ranges.items()
        }  # fmt: skip
        ends = {s: names_in_bounds(s, domains) & set(self.by_name) for s in symbols}
        self.bound = {s for s, names in ends.items() if names}
        self.ends = {self.by_name[x] for names in ends.values() for x in names}

    def draw(self, random: Random, wild: float) -> dict[str, Fraction]:
        """One point; `wild` is how often a symbol is one of the singled out numbers."""
        plain = sample(self.symbols, self.domains, random)
        out = {}
        for s in self.symbols:
            free = s not in self.bound and self.pools[s]
            if free and random.random() < wild:
                out[s.name] = random.choice(self.pools[s])
            elif self.ranges[s].integer and free:
                out[s.name] = (
                    Fraction(random.randint(1, 12))
                    if contains(self.ranges[s], Fraction(1))
                    else plain[s]
                )
            else:
                out[s.name] = plain[s]
        return self.within(out, random, wild) if self.ends else out

    def within(
        self, point: dict[str, Fraction], random: Random, wild: float = 0.0
    ) -> dict[str, Fraction]:
        """The point with those symbols drawn again whose domains end at others: (-delta, oo)."""
        for s in (s for s in self.symbols if s in self.bound):
            r = self.range_at(s, point)
            pool = [x for x in POOL if contains(r, x)]
            singled = pool and random.random() < wild
            point = {**point, s.name: random.choice(pool) if singled else r.sample(random)}
        return point

    def range_at(self, s: Expr, point: Mapping[str, Fraction]) -> Range:
        """The range of a symbol at a point."""
        if s not in self.bound:
            return self.ranges[s]
        return range_at(s, self.domains, {self.by_name[n]: x for n, x in point.items()})

    def put(
        self, point: dict[str, Fraction], s: Expr, x: Fraction, random: Random
    ) -> dict[str, Fraction]:
        """The point with one symbol at a number."""
        moved = {**point, s.name: x}
        return self.within(moved, random) if s in self.ends else moved

    def directed(self, roots: Sequence[Node], random: Random) -> Iterator[dict[str, Fraction]]:
        """Points on, above and below each number that a symbol is compared with."""
        for n in reachable(roots):
            if n.op not in ("lt", "le", "eq", "ne", "max", "min"):
                continue
            for a, b in (n.args, n.args[::-1]):
                if a.op != "symbol" or a.data not in self.by_name:
                    continue
                s = self.by_name[a.data]
                for _ in range(2):
                    base = self.draw(random, 0.2)
                    at = (
                        b.number
                        if b.number is not None
                        else base.get(b.data)
                        if b.op == "symbol"
                        else None
                    )
                    if at is None:
                        continue
                    r = self.range_at(s, base)
                    for x in (at, at + 1, at - 1, at / 2, at * 2):
                        if contains(r, x):
                            yield self.put(base, s, x, random)

    def singled(self, names: set[str], random: Random) -> Iterator[dict[str, Fraction]]:
        """Points with some of these symbols at 0, at an end, at a number of the file."""
        chosen = [s for s in self.symbols if s.name in names and s not in self.bound]
        for s in chosen:
            for x in self.pools[s]:
                yield self.put(self.draw(random, 0.0), s, x, random)
        for _ in range(MANY):
            point = self.draw(random, 0.1)
            for s in chosen:
                if self.pools[s] and random.random() < 0.7:
                    point = self.put(point, s, random.choice(self.pools[s]), random)
            yield point

    def many(
        self, roots: Sequence[Node], random: Random, count: int = MANY
    ) -> Iterator[dict[str, Fraction]]:
        """Directed points, then random ones, tame and wild in turn."""
        yield from self.directed(roots, random)
        for k in range(count):
            yield self.draw(random, (0.0, 0.25, 0.6)[k % 3])


def _ends(r: Range) -> list[Fraction]:
    """Ends that belong to a range, and points near those that do not."""
    near = Fraction(1, 10**9)
    out = []
    if r.lower is not None:
        out += [r.lower, r.lower + near]
    if r.upper is not None:
        out += [r.upper, r.upper - near]
    return out
