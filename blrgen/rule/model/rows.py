"""Data that enter only through sums: expectations that are affine in a row's data, put in.

A Gaussian h[n] whose precision P = −2λ₂ does not know n has E[h] = C λ₁ and
E[h hᵀ] = C + E[h]E[h]ᵀ with one C = inv(P) for all n.  With λ₁ affine in the data of row n
every sum over n is then made of sums of data, found once: the step no longer sees the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from blrgen.algebra.indexed.build import (
    add,
    moved,
    multiplied,
    power,
    put,
    rebuilt,
    scaled,
    subtracted,
    summed,
    symbol,
)
from blrgen.algebra.indexed.matrices import inverse
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
from blrgen.expect.blocks.values import Block, Part
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


def without_rows(d: ModelDerivation) -> ModelDerivation:
    """The derivation with points and objective in sums over rows, and these in sums of data.

    `sums` has each C, then each sum of expectations over rows with C λ₁ put in: all to be
    evaluated before the points, at the points' old values.  A derivation without such blocks,
    or in which a sum would still hold what is not data, is given back as it is.
    """
    places: dict[str, Put] = {}
    covariances: list[Equation] = []
    axes: set[str] = set()
    for u in d.updates:
        found = _shared_covariance(u.block)
        if found is not None:
            equation, values = found
            covariances.append(equation)
            places |= values
            axes |= {i.axis for i in _element(u.block)}
    if not covariances:
        return d
    sums = RowSums(frozenset(axes), names_of(d))
    made = replace(
        d,
        points=tuple(in_point(p, sums.of) for p in d.points),
        expected_joint=sums.of(d.expected_joint),
        expected_factors=tuple(map(sums.of, d.expected_factors)),
    )
    filled = [replace(e, value=put(e.value, places)) for e in sums.found.values()]
    left = [*(e.value for e in filled), *expressions(made)]
    if not all(_sums_of_data(e, axes) for e in left):
        return d
    return replace(made, sums=(*covariances, *filled))


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


def expressions(d: ModelDerivation) -> tuple[Expression, ...]:
    """Everything that points and objective evaluate."""
    found = [d.expected_joint]
    for p in d.points:
        found += [e.value for e in p.equations]
        if p.system is not None:
            found += [*p.system.right, *(m for row in p.system.matrix for m in row)]
        if p.stationary is not None:
            found += [*p.stationary.slope, *(m for row in p.stationary.bend for m in row)]
    return tuple(found)


def _element(b: Block) -> Places:
    """The letters of the block's plates."""
    return tuple(i for i in b.parts[0].statistic.places if i.name in b.letters)


def _shared_covariance(b: Block) -> tuple[Equation, dict[str, Put]] | None:
    """(C, what E[T] are in C and λ₁), of a Gaussian whose λ₂ is the same for all elements."""
    if b.kind != "element" or b.given or len(b.parts) != 2 or not b.letters or b.base:
        return None
    first, second = b.parts
    element = _element(b)
    if not _gaussian(first, second, element) or set(element) & set(second.expected.letters):
        return None
    inner = first.statistic.places[len(element) :]
    precision = scaled(second.expected, -2)
    outer = second.statistic.places[len(element) :]
    name = f"Cov{first.statistic.name[1:]}"
    c = Symbol(name, symmetric=len(outer) == 2)
    value = inverse(precision, *outer) if outer else power(precision, -1)

    def mean(at: Places) -> Expression:
        own = dict(zip(element, at[: len(element)], strict=True))
        lam = moved(first.expected, own)
        if not inner:
            return multiplied(symbol(c), lam)
        (i,) = inner
        other = Index(i.axis, f"`{i.name}")
        return summed(multiplied(symbol(c, at[-1], other), moved(lam, {i: other})), other)

    def square(at: Places) -> Expression:
        front, back = at[: len(element)], at[len(element) :]
        if not back:
            return add(symbol(c), power(mean(front), 2))
        i, j = back
        return add(symbol(c, i, j), multiplied(mean((*front, i)), mean((*front, j))))

    values: dict[str, Put] = {first.statistic.name: mean, second.statistic.name: square}
    return Equation(name, outer, value), values


def _gaussian(first: Part, second: Part, element: Places) -> bool:
    """Whether T is (θ, θθᵀ) of an unbounded θ."""
    one, two = first.statistic, second.statistic
    inner, outer = one.places[len(element) :], two.places[len(element) :]
    if len(inner) > 1 or len(outer) != 2 * len(inner):
        return False
    terms = one.value.terms
    if len(terms) != 1 or len(terms[0][0].factors) != 1:
        return False
    atom, p = terms[0][0].factors[0]
    s = atom.symbol
    if s is None or p != 1 or s.one_hot or s.binary or s.lower is not None or s.total is not None:
        return False
    sides = [moved(one.value, dict(zip(inner, (x,), strict=True))) for x in outer]
    squared = multiplied(*sides) if sides else power(one.value, 2)
    return not subtracted(two.value, squared)


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
        stationary = Stationary(stationary.unknowns, stationary.shared, slope, bend)
    return replace(p, equations=equations, system=system, stationary=stationary)


def _sums_of_data(e: Expression, axes: set[str]) -> bool:
    """Whether all that a sum over rows holds of them is data."""
    for term, _ in e.terms:
        rows = {r.index for r in term.bound if r.axis in axes}
        if any(rows & set(a.letters) and not a.known for a, _ in term.factors):
            return False
    return True
