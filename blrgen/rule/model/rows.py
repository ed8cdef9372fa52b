"""Sums over rows by names of their own: what of the rows a step of online EM averages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from blrgen.algebra.indexed.build import (
    multiplied,
    power,
    rebuilt,
)
from blrgen.algebra.indexed.moving import move_atom
from blrgen.algebra.indexed.normal import collected, distributed, normal
from blrgen.algebra.indexed.values import (
    ONE,
    Atom,
    Expression,
    Index,
    Range,
    Symbol,
    Term,
)
from blrgen.expect.factors.names import axis_of
from blrgen.read.model.values import Model
from blrgen.rule.model.values import (
    Equation,
    LinearSystem,
    ModelDerivation,
    PointUpdate,
    Stationary,
)

Places = tuple[Index, ...]
Put = Callable[[Places], Expression]


@dataclass
class RowSums:
    """Sums over rows as names of their own: Σ_n x[n,i] E[h[n,j]] is one array over i and j."""

    axes: frozenset[str]
    taken: frozenset[str] = frozenset()  # names of the model
    found: dict[str, Equation] = field(default_factory=dict)  # by the text of the sum

    def of(self, e: Expression) -> Expression:
        """The expression with every sum over rows by its name, inside functions too."""
        terms: list[tuple[Term, Fraction]] = []
        for term, c in e.terms:
            factors, inner = self.inside(list(term.factors))
            ranges = list(term.bound)
            for group in self.joined(factors, ranges):
                letters = {r.index for r in group}
                own = [f for f in factors if letters & set(f[0].letters)]
                if any(letters & set(x.letters) for x in inner):
                    continue
                factors = [f for f in factors if f not in own]
                factors.append((self.named(own, group), Fraction(1)))
                ranges = [r for r in ranges if r not in group]
            rest = multiplied(*inner) if inner else ONE
            terms += distributed(c, dict(factors), {r.name: r for r in ranges}, rest)
        return collected(terms)

    def inside(
        self, factors: list[tuple[Atom, Fraction]]
    ) -> tuple[list[tuple[Atom, Fraction]], list[Expression]]:
        """(factors as they are, functions whose arguments held sums over rows)."""
        kept, changed = [], []
        for a, p in factors:
            arguments = tuple(map(self.of, a.arguments))
            if arguments == a.arguments:
                kept.append((a, p))
            else:
                changed.append(power(rebuilt(a, arguments), p))
        return kept, changed

    def joined(
        self, factors: list[tuple[Atom, Fraction]], ranges: list[Range]
    ) -> Iterator[list[Range]]:
        """Ranges over rows, those that stand in a factor together in one group."""
        left = [r for r in ranges if r.axis in self.axes]
        while left:
            group = [left.pop(0)]
            while True:
                letters = {r.index for r in group}
                near = {i for a, _ in factors if letters & set(a.letters) for i in a.letters}
                more = [r for r in left if r.index in near]
                if not more:
                    break
                group += more
                left = [r for r in left if r not in more]
            yield group

    def named(self, own: list[tuple[Atom, Fraction]], over: list[Range]) -> Atom:
        """The symbol of one sum."""
        bound = {r.index for r in over}
        found = (i for a, _ in own for i in a.letters if i not in bound)
        letters = tuple(dict.fromkeys(found))
        plain = tuple(Index(i.axis, f"i{k}") for k, i in enumerate(letters, 1))
        moves = dict(zip(letters, plain, strict=True))
        value = collected(normal(Fraction(1), [(move_atom(a, moves), p) for a, p in own], over))
        if value.key not in self.found:
            self.found[value.key] = Equation(self.fresh(), plain, value)
        name = self.found[value.key].target
        return Atom("symbol", name, letters, symbol=Symbol(name))

    def fresh(self) -> str:
        """s1, s2, …: the next that no name of the model is."""
        used = self.taken | {e.target for e in self.found.values()}
        return next(x for k in count(1) if (x := f"s{k}") not in used)


def names_of(d: ModelDerivation) -> frozenset[str]:
    """Every name of the model."""
    found = [c.name for c in d.model.constants] + [x for n in d.model.nodes for x in n.names]
    return frozenset((*found, *d.model.sizes))


def expected_statistics(d: ModelDerivation, axis: str) -> ModelDerivation:
    """The points in sums over rows, which online EM averages over its steps.

    `sums` has each of them, in expectations and data of the rows.
    """
    sums = RowSums(frozenset({axis, *inside_rows(d.model, axis)}), names_of(d))
    points = tuple(in_point(p, sums.of) for p in d.points)
    return replace(d, points=points, sums=tuple(sums.found.values()))


def inside_rows(model: Model, axis: str) -> set[str]:
    """The ragged axes of what stands inside of a row."""
    return {axis_of(p.size) for p in model.plates
            if any(axis_of(model.plate(x).size) == axis for x in p.outer)}  # fmt: skip


def sums_by_name(d: ModelDerivation) -> RowSums:
    """What puts the names of `d.sums` in their places; a sum that is none gets a new name."""
    axes = frozenset({d.batch, *inside_rows(d.model, d.batch)})
    return RowSums(axes, names_of(d), {e.value.key: e for e in d.sums})


def in_point(p: PointUpdate, of: Callable[[Expression], Expression]) -> PointUpdate:
    """A point's update with sums by their names."""
    equations = tuple(replace(e, value=of(e.value)) for e in p.equations)
    system, stationary = p.system, p.stationary
    if system is not None:
        right = tuple(of(e) for e in system.right)
        matrix = tuple(tuple(of(m) for m in row) for row in system.matrix)
        system = LinearSystem(system.unknowns, system.shared, right, matrix)
    if stationary is not None:
        slope = tuple(of(e) for e in stationary.slope)
        bend = tuple(tuple(of(m) for m in row) for row in stationary.bend)
        level = of(stationary.level)
        stationary = Stationary(stationary.unknowns, stationary.shared, slope, bend, level)
    return replace(p, equations=equations, system=system, stationary=stationary)
