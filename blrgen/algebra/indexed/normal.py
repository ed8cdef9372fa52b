"""The normal form of a term: equal atoms merged, deltas used up, bound indices named.

To a fixed point, then names (`naming`):
1. equal atoms merge; a sum to a positive whole power is multiplied out;
2. Σ_i δ(i,j) f(i) = f(j), the range of i becoming one on j (a guard where j is free);
3. a guard on a bound index is its range; the least shift of a bound index is 0;
4. one-hot: z_k z_l = δ_kl z_k; 0/1: s² = s; Σ_k z_k is what z sums to, where z stands alone;
5. Σ_j inv(M)_ij M_jk = δ_ik where j stands in nothing else;
6. exp(a)^p exp(b)^q = exp(pa + qb);
7. a bound index that stands in no atom gives the size of its range.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from blrgen.algebra.indexed.moving import move_atom, moved, opened, oriented
from blrgen.algebra.indexed.naming import named
from blrgen.algebra.indexed.rules import Outside, simplified
from blrgen.algebra.indexed.values import Atom, Expression, Index, Range, Term

Terms = list[tuple[Term, Fraction]]
Factors = Iterable[tuple[Atom, Fraction]]

__all__ = ["Outside", "collected", "normal", "product"]


@dataclass
class Work:
    """A term on its way: coefficient, powers of atoms, ranges of bound indices."""

    coefficient: Fraction
    powers: dict[Atom, Fraction]
    ranges: dict[str, Range]


def collected(terms: Iterable[tuple[Term, Fraction]]) -> Expression:
    """Equal terms added, zeros left out, in the order of their texts."""
    found: dict[Term, Fraction] = {}
    for term, c in terms:
        found[term] = found.get(term, Fraction(0)) + c
    kept = [(t, c) for t, c in found.items() if c]
    return Expression(tuple(sorted(kept, key=lambda pair: pair[0].key)))


def product(left: Expression, right: Expression) -> Expression:
    """All terms of one times all of the other, bound indices kept apart."""
    found: Terms = []
    for a, c in left.terms:
        for b, d in right.terms:
            found += times(a, b, c * d)
    return collected(found)


def times(a: Term, b: Term, c: Fraction) -> Terms:
    """c·a·b."""
    free = {i.name for i in (*a.letters, *b.letters)}
    f, r = opened(a.factors, a.bound, free | {x.name for x in b.bound})
    g, s = opened(b.factors, b.bound, free | {x.name for x in r})
    return normal(c, (*f, *g), (*r, *s))


def normal(coefficient: Fraction, factors: Factors, ranges: Iterable[Range]) -> Terms:
    """The normal form of a product summed over ranges: several terms where sums open."""
    work = Work(coefficient, {}, {r.name: r for r in ranges})
    for atom, p in factors:
        merge(work, atom, p)
    while True:
        if not work.coefficient:
            return []
        expanded = _expanded(work)
        if expanded is not None:
            return expanded
        if not simplified(work):
            break
    return _finished(work)


def merge(work: Work, atom: Atom, power: Fraction) -> None:
    """The atom times the rest; symmetric places are put in order first."""
    atom = oriented(atom)
    total = work.powers.get(atom, Fraction(0)) + power
    if total:
        work.powers[atom] = total
    else:
        work.powers.pop(atom, None)


def _expanded(work: Work) -> Terms | None:
    """A sum to a positive whole power, multiplied out; None where there is none."""
    for atom, p in work.powers.items():
        if atom.kind == "sum" and p >= 1 and p.denominator == 1:
            rest = {a: q for a, q in work.powers.items() if a is not atom}
            if p > 1:
                rest[atom] = p - 1
            return distributed(work.coefficient, rest, work.ranges, atom.arguments[0])
    return None


def distributed(
    c: Fraction, powers: dict[Atom, Fraction], ranges: dict[str, Range], e: Expression
) -> Terms:
    """c Π powers · e under the ranges, term by term of e."""
    taken = set(ranges) | {i.name for a in powers for i in a.letters}
    taken |= {i.name for i in e.letters}
    found: Terms = []
    for term, d in e.terms:
        factors, bound = opened(term.factors, term.bound, taken)
        found += normal(c * d, (*powers.items(), *factors), (*ranges.values(), *bound))
    return found


def _finished(work: Work) -> Terms:
    """Constraints and sizes that open sums; then the least shift made 0, and names."""
    total = _standing_alone(work)
    if total is not None:
        return total
    for name, r in list(work.ranges.items()):
        if not any(i.name == name for a in work.powers for i in a.letters):
            rest = {k: v for k, v in work.ranges.items() if k != name}
            return distributed(work.coefficient, work.powers, rest, places_of(r))
    _settle_shifts(work)
    factors, bound = named(list(work.powers.items()), work.ranges)
    return [(Term(tuple(factors), bound), work.coefficient)]


def _standing_alone(work: Work) -> Terms | None:
    """Σ_k z_k where k runs over all of its axis and stands in nothing else."""
    for atom, p in work.powers.items():
        if p != 1 or atom.symbol is None or atom.symbol.total is None or not atom.indices:
            continue
        last = atom.indices[-1]
        r = work.ranges.get(last.name)
        if r is None or r.low or r.high or last.shift:
            continue
        holders = [a for a in work.powers if last.base in a.letters]
        if len(holders) > 1 or sum(i.name == last.name for i in atom.indices) > 1:
            continue
        rest = {a: q for a, q in work.powers.items() if a != atom}
        ranges = {k: v for k, v in work.ranges.items() if k != last.name}
        places = {f"@{k}": i for k, i in enumerate(atom.indices[:-1], 1)}
        total = atom.symbol.total
        moves = {i: places[i.name] for i in total.letters if i.name in places}
        return distributed(work.coefficient, rest, ranges, moved(total, moves))
    return None


_SIZE = re.compile(r"(?P<whole>\d+)|(?P<name>\w+)(?:\s*(?P<number>[+-]\s*\d+))?")


def places_of(r: Range) -> Expression:
    """How many places a range has: #K − low − high, a number where the axis is one."""
    return size_of(r.axis, -r.low - r.high)


def size_of(axis: str, more: int = 0) -> Expression:
    """The size of an axis plus a number; "K - 1" and "3" are sizes of their own kind."""
    match = _SIZE.fullmatch(axis)
    assert match, axis
    number = int((match["whole"] or match["number"] or "0").replace(" ", "")) + more
    found: Terms = [(Term(), Fraction(number))]
    if match["name"]:
        atom = Atom("size", match["name"])
        found.append((Term(((atom, Fraction(1)),)), Fraction(1)))
    return collected(found)


def _settle_shifts(work: Work) -> None:
    """Each bound index moved so that its least shift is 0; a read outside is refused."""
    for name, r in list(work.ranges.items()):
        shifts = [i.shift for a in work.powers for i in a.places if i.name == name]
        least = min(shifts)
        if least:
            moves = {r.index: Index(r.axis, name, -least)}
            powers = [(move_atom(a, moves), p) for a, p in work.powers.items()]
            work.powers = {}
            for a, p in powers:
                merge(work, a, p)
            r = replace(r, low=r.low + least, high=r.high - least)
        if r.low < 0 or r.high < max(shifts) - least:
            raise Outside(r.axis, r.low, r.high)
        work.ranges[name] = r
