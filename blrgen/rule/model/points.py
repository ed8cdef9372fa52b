"""The joint argmax of E[L] over points: what is closed in closed form, in an order that decouples.

The stationarity equations are ∂E[L]/∂x = 0.  Points whose equations hold no other unknown
point are solved first (a factor common to all of a system's equations is cancelled); then a
point that is closed given the others is put into E[L] (the profile), and comes after them;
what is left is Newton's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from blrgen.algebra.indexed.build import Put, put
from blrgen.algebra.indexed.calculus import NoDerivative, partial
from blrgen.algebra.indexed.moving import moved
from blrgen.algebra.indexed.values import Expression, Index, Symbol
from blrgen.rule.model.closed import closed
from blrgen.rule.model.linear import linear_system, primed, shared_letters, solved_by_element
from blrgen.rule.model.values import Equation, LinearSystem, PointUpdate, Stationary, Unknown


@dataclass(frozen=True)
class Point:
    """A point: its symbol, the letters of all its places, how many of them are plates'."""

    symbol: Symbol
    places: tuple[Index, ...]
    kind: str  # of its domain: interval, simplex, spd

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def unknown(self) -> Unknown:
        return Unknown(self.name, self.places)


@dataclass
class Search:
    """What is left to solve; points already put in as functions of the others, in order."""

    joint: Expression
    left: dict[str, Point]
    profile: list[dict[str, Put]] = field(default_factory=list)

    def slope(self, p: Point) -> Expression:
        """∂E[L]/∂x with the profiled points put in: their own slope is zero, so no chain rule."""
        g = partial(self.joint, p.name, p.places)
        for values in self.profile:
            g = put(g, values)
        return g

    def level(self) -> Expression:
        """What E[L] has of the points that are left, and of those that follow from them."""
        of = {*self.left, *(x for values in self.profile for x in values)}
        held = ((t, c) for t, c in self.joint.terms if of & set(Expression(((t, c),)).symbols()))
        level = Expression(tuple(held))
        for values in self.profile:
            level = put(level, values)
        return level

    def closed(self, p: Point) -> Expression | None:
        """x from its stationarity equation."""
        try:
            return closed(p.symbol, p.places, p.kind, self.slope(p))
        except NoDerivative:
            return None


def point_updates(points: Sequence[Point], joint: Expression) -> tuple[PointUpdate, ...]:
    """The updates, in the order in which they are made."""
    search = Search(joint, {p.name: p for p in points})
    found: list[PointUpdate] = []
    after: list[PointUpdate] = []
    while search.left:
        step = _apart(search)
        if step is not None:
            found.append(step)
        else:
            step = _given_others(search)
            if step is not None:
                after.insert(0, step)
                search.profile.append(_values(step))
            else:
                step = newton(search)
                found.append(step)
        for name in step.names:
            del search.left[name]
    return (*found, *after)


def _values(step: PointUpdate) -> dict[str, Put]:
    """What stands for the points of closed equations, at any places."""
    return {e.target: _at(e) for e in step.equations}


def _at(e: Equation) -> Put:
    return lambda indices: moved(e.value, dict(zip(e.places, indices, strict=True)))


def _apart(search: Search) -> PointUpdate | None:
    """Points whose equations hold no other unknown one."""
    left = search.left
    if not search.profile:
        for group in _groups(left, search.joint):
            system = linear_system(group, search.joint, frozenset(left))
            if system is not None:
                return _of_system(system)
    for p in left.values():
        others = frozenset(left) - {p.name}
        value = search.closed(p)
        if value is not None and not others & set(value.symbols()):
            return _of_value(p, value)
    return None


def _given_others(search: Search) -> PointUpdate | None:
    """A point that is closed given the others, to be put into their equations."""
    if len(search.left) == 1:
        return None
    for p in sorted(search.left.values(), key=lambda p: len(p.places)):
        value = search.closed(p)
        if value is not None:
            return _of_value(p, value)
    return None


def _of_value(p: Point, value: Expression) -> PointUpdate:
    return PointUpdate((p.name,), "closed", (Equation(p.name, p.places, value),),
                       because="its stationarity equation is solved")  # fmt: skip


def _of_system(system: LinearSystem) -> PointUpdate:
    names = tuple(u.name for u in system.unknowns)
    value = solved_by_element(system)
    if value is not None:
        (u,) = system.unknowns
        return PointUpdate(names, "closed", (Equation(u.name, u.places, value),),
                           because="its equation is linear at each element")  # fmt: skip
    return PointUpdate(names, "linear", (), system, because="E[L] is quadratic in them")


def _groups(left: dict[str, Point], joint: Expression) -> list[list[Point]]:
    """Real points in groups: those that stand together in terms, then each by itself."""
    real = [p for p in left.values() if p.kind == "interval" and not p.symbol.sign
            and p.symbol.lower is None and p.symbol.upper is None]  # fmt: skip
    symbols = [Expression(((t, Fraction(1)),)).symbols() for t, _ in joint.terms]
    groups: list[list[Point]] = []
    for p in real:
        with_p = [s for s in symbols if p.name in s]
        near = {name for s in with_p for name in s}
        touching = [g for g in groups if any(q.name in near for q in g)]
        joined = [q for g in touching for q in g] + [p]
        groups = [g for g in groups if g not in touching] + [joined]
    return groups


def newton(search: Search) -> PointUpdate:
    """Slopes and their derivatives, for what has no closed solution."""
    points = list(search.left.values())
    slopes = tuple(search.slope(p) for p in points)
    bends = [[partial(g, q.name, primed(q.places)) for q in points] for g in slopes]
    shared, bends = shared_letters(bends, [p.places for p in points])
    names = tuple(p.name for p in points)
    unknowns = tuple(p.unknown for p in points)
    stationary = Stationary(unknowns, shared, slopes, tuple(map(tuple, bends)), search.level())
    return PointUpdate(names, "newton", (), None, stationary,
                       because="the equations have no closed solution here")  # fmt: skip
