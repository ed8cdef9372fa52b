"""Division of a log joint by the span of {1, T} of a block, multiplied back as the proof.

A term is C · D with D all its factors in the block's variables.  Where D is a statistic's
leading monomial at some places, the statistic's coefficient grows by Σ_bound C · Π δ(place,
where it was mapped): these deltas do selection by labels, lags, literals and components.
What the coefficients times the statistics do not give back is the remainder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from blrgen.algebra.indexed.build import add, moved, multiplied, scaled, subtracted, summed
from blrgen.algebra.indexed.moving import move_atom
from blrgen.algebra.indexed.normal import collected, normal
from blrgen.algebra.indexed.rules import delta_atom
from blrgen.algebra.indexed.values import ZERO, Expression, Index, Range, Symbol, Term
from blrgen.expect.blocks.match import Factor, Map, match_factors
from blrgen.expect.blocks.templates import Template, apart, holds, split
from blrgen.expect.blocks.values import Statistic

Shifts = tuple[tuple[str, int | None], ...]
ONCE = Fraction(1)


@dataclass(frozen=True)
class Hit:
    """A template (or two) found in a term: which one, where, and what is left of the term."""

    key: tuple[object, ...]
    statistic: Statistic
    places: tuple[tuple[Index, Index], ...]  # open letter → where it was found
    used: frozenset[Index]  # bound letters of the term that the template sums itself
    divisor: tuple[Factor, ...]
    coefficient: Fraction


@dataclass
class Division:
    """The coefficients found so far, by statistic, and the statistics."""

    templates: tuple[Template, ...]
    names: frozenset[str]
    statistics: dict[tuple[object, ...], Statistic] = field(default_factory=dict)
    terms: dict[tuple[object, ...], list[tuple[Term, Fraction]]] = field(default_factory=dict)

    def find(self, own: list[Factor], rest: list[Factor], bound: tuple[Range, ...]) -> Hit | None:
        """The first statistic that these factors are: longest first, then pairs."""
        by_letter = {r.index: r for r in bound}
        for t in self.templates:
            for found in match_factors(t.own, own, {}):
                used = consumed(t, found, known_left(t, found, rest), by_letter)
                if used is not None:
                    return single(t, found, used)
        return next(self.pairs(own, rest, by_letter), None)

    def pairs(
        self, own: list[Factor], rest: list[Factor], by_letter: dict[Index, Range]
    ) -> Iterator[Hit]:
        """Products of statistics of two elements."""
        for a in self.templates:
            for chosen in combinations(range(len(own)), a.degree):
                near = [own[k] for k in chosen]
                far = [own[k] for k in range(len(own)) if k not in chosen]
                for b in map(apart, self.templates):
                    for m in match_factors(a.own, near, {}):
                        for n in match_factors(b.own, far, {}):
                            left = known_left(b, n, known_left(a, m, rest))
                            used = consumed(a, m, left, by_letter, far)
                            more = consumed(b, n, left, by_letter, near)
                            if used is not None and more is not None:
                                hit = pair(a, b, m, n, used | more)
                                if hit is not None:
                                    yield hit

    def take(self, term: Term, c: Fraction) -> bool:
        """Divide one term; False where no statistic is in it."""
        own, rest = split(term, self.names)
        hit = self.find(own, rest, term.bound)
        if hit is None:
            return False
        self.statistics.setdefault(hit.key, hit.statistic)
        self.terms.setdefault(hit.key, []).extend(quotient(term, c, rest, hit))
        return True


def consumed(
    t: Template, found: Map, rest: list[Factor], by_letter: dict[Index, Range],
    others: list[Factor] | tuple[Factor, ...] = (),
) -> frozenset[Index] | None:  # fmt: skip
    """The term's bound letters that the template sums itself; None where it may not.

    They must be bound over the same range, differ, and stand in nothing else.
    """
    images: list[Index] = []
    for r in t.bound:
        image = found.get(r.index)
        own = by_letter.get(image) if image is not None else None
        if image is None or own is None or (own.low, own.high) != (r.low, r.high):
            return None
        images.append(image)
    outside = {found[i].base for i in t.places if i in found}
    outside |= {i for a, _ in (*rest, *others) for i in a.letters}
    if len(set(images)) < len(images) or outside & set(images):
        return None
    return frozenset(images)


def known_left(t: Template, found: Map, rest: list[Factor]) -> list[Factor]:
    """The term's known factors without those that the template has itself."""
    left = list(rest)
    for a, p in t.rest:
        if (move_atom(a, found), p) in left:
            left.remove((move_atom(a, found), p))
    return left


def single(t: Template, found: Map, used: frozenset[Index]) -> Hit | None:
    """A statistic at the places where it was found."""
    if any(i not in found for i in t.places):
        return None
    places = tuple((i, found[i]) for i in t.places)
    divisor = tuple((move_atom(a, found), p) for a, p in t.rest)
    return Hit((t.nodes, t.position), statistic_of(t), places, used, divisor, t.coefficient)


def pair(a: Template, b: Template, m: Map, n: Map, used: frozenset[Index]) -> Hit | None:
    """Two statistics of two elements: how far apart these are, the later element first."""
    if any(i not in m for i in a.places) or any(i not in n for i in b.places):
        return None
    shifts = relation(a, b, m, n)
    if a.nodes == b.nodes and all(s == 0 for _, s in shifts):
        return None
    moves = {s for _, s in shifts if s}
    turned = next((s > 0 for _, s in shifts if s), _rank(a) > _rank(b))
    if turned or len(moves) > 1:  # the other way round it is found too, under the same letters
        return None
    return _paired(a, b, m, n, shifts, used)


def _rank(t: Template) -> tuple[tuple[str, ...], int]:
    return t.nodes, t.position


def _paired(
    a: Template, b: Template, m: Map, n: Map, shifts: Shifts, used: frozenset[Index]
) -> Hit:  # fmt: skip
    """The second element's letters are the first's, moved, or its own."""
    tied: Map = {}
    own_letters = {_plain(i): i for i in a.element}
    for i in b.element:
        shift = dict(shifts).get(_plain(i))
        if shift is not None:
            tied[i] = own_letters[_plain(i)].moved(shift)
    free = tuple(i for i in b.places if i not in tied)
    value = multiplied(a.value, moved(b.value, tied))
    places = (*((i, m[i]) for i in a.places), *((i, n[i]) for i in free))
    divisor = (
        *((move_atom(x, m), p) for x, p in a.rest), *((move_atom(x, n), p) for x, p in b.rest),
    )  # fmt: skip
    nodes = tuple(dict.fromkeys((*a.nodes, *b.nodes)))
    statistic = named(nodes, (*a.places, *free), value, (a.position, b.position), shifts)
    key = (_key(a), _key(b), shifts)
    return Hit(key, statistic, places, used, divisor, a.coefficient * b.coefficient)


def _key(t: Template) -> tuple[tuple[str, ...], int]:
    return t.nodes, t.position


def _plain(i: Index) -> str:
    """A letter of the second element under the name that it has in the first."""
    return i.name.rstrip("'")


def relation(a: Template, b: Template, m: Map, n: Map) -> Shifts:
    """For each plate of the second element how far it is from the first; None is anywhere."""
    near = {_plain(i): m[i] for i in a.element}
    found = []
    for i in b.element:
        one, two = near.get(_plain(i)), n[i]
        same = one is not None and one.base == two.base
        if one is not None and one.literal and two.literal and one.name == two.name:
            same = True
        found.append((_plain(i), two.shift - one.shift if one is not None and same else None))
    return tuple(found)


def statistic_of(t: Template) -> Statistic:
    """E[T] of one element."""
    return named(t.nodes, t.places, t.value, (t.position,), ())


def named(
    nodes: tuple[str, ...], places: tuple[Index, ...], value: Expression,
    positions: tuple[int, ...], shifts: Shifts,
) -> Statistic:  # fmt: skip
    """The symbol of an expectation: its name is what it is the expectation of."""
    from blrgen.algebra.indexed.signs import sign
    from blrgen.text.indexed import written

    name = f"E[{written(value)}]"
    s = sign(value)
    alone = value.terms[0][0].factors
    symbol = alone[0][0].symbol if len(alone) == 1 and len(value.terms) == 1 else None
    total = symbol.total if symbol is not None and alone[0][1] == 1 else None
    s = s or int(symbol is not None and (symbol.one_hot or symbol.binary))  # a probability
    made = Symbol(
        name, symmetric=len(places) > 1 and swapped(value, places) == value,
        lower=Fraction(0) if s > 0 else None, upper=Fraction(0) if s < 0 else None, total=total,
    )  # fmt: skip
    return Statistic(name, nodes, places, value, positions, made, shifts)


def swapped(e: Expression, places: tuple[Index, ...]) -> Expression:
    """The expression with its last two places exchanged."""
    i, j = places[-2:]
    return moved(e, {i: j, j: i}) if i.axis == j.axis else ZERO


def quotient(
    term: Term, c: Fraction, rest: list[Factor], hit: Hit
) -> list[tuple[Term, Fraction]]:  # fmt: skip
    """Σ_bound C · Π δ(place, where it was found) / the template's own factors."""
    deltas = [(delta_atom(i, j), ONCE) for i, j in hit.places]
    below = [(a, -p) for a, p in hit.divisor]
    ranges = [r for r in term.bound if r.index not in hit.used]
    return normal(c / hit.coefficient, (*rest, *deltas, *below), ranges)


def divided(e: Expression, division: Division) -> dict[tuple[object, ...], Expression]:
    """The coefficients of a log joint on the statistics, symmetrised where these are."""
    for term, c in e.terms:
        if any(holds(a, division.names) for a, _ in term.factors):
            division.take(term, c)
    found = {}
    for key, terms in division.terms.items():
        statistic = division.statistics[key]
        value = collected(terms)
        if statistic.symbol.symmetric:
            value = scaled(add(value, swapped(value, statistic.places)), Fraction(1, 2))
        found[key] = value
    return {k: v for k, v in found.items() if v}


def multiplied_back(
    coefficients: dict[tuple[object, ...], Expression],
    statistics: dict[tuple[object, ...], Statistic],
) -> Expression:
    """Σ_j Σ_places c_j T_j."""
    parts = []
    for key, c in coefficients.items():
        e = multiplied(c, statistics[key].value)
        for i in statistics[key].places:
            e = summed(e, i)
        parts.append(e)
    return add(*parts)


def remainder(e: Expression, back: Expression, names: frozenset[str]) -> Expression:
    """What multiplying back does not give: terms with the block's variables alone."""
    rest = subtracted(e, back)
    return Expression(
        tuple((t, c) for t, c in rest.terms if any(holds(a, names) for a, _ in t.factors))
    )
