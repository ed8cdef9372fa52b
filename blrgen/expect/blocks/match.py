"""Matching a term against a template: which letters of the template stand for which places.

Atoms are matched one to one, symmetric places in both orders, arguments of functions term
by term.  A match is a map from the template's letters to indices of the term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from blrgen.algebra.indexed.values import Atom, Expression, Index, Term

Map = dict[Index, Index]
Factor = tuple[Atom, Fraction]


def unrolled(factors: Sequence[Factor]) -> list[Factor]:
    """Whole positive powers of symbols as so many factors."""
    found: list[Factor] = []
    for a, p in factors:
        if a.kind == "symbol" and p > 1 and p.denominator == 1:
            found += [(a, Fraction(1))] * int(p)
        else:
            found.append((a, p))
    return found


def match_factors(
    template: Sequence[Factor], term: Sequence[Factor], known: Map
) -> Iterator[Map]:  # fmt: skip
    """All maps under which the factors of the template are those of the term, in some order."""
    if len(template) != len(term):
        return
    if not template:
        yield known
        return
    (atom, p), *rest = template
    tried = set()
    for k, (other, q) in enumerate(term):
        if p != q or other in tried:
            continue
        tried.add(other)
        for found in match_atoms(atom, other, known):
            yield from match_factors(rest, [*term[:k], *term[k + 1 :]], found)


def match_atoms(a: Atom, b: Atom, known: Map) -> Iterator[Map]:
    """The maps under which one atom is the other."""
    same = a.kind == b.kind and a.name == b.name and a.cut == b.cut
    if not same or len(a.indices) != len(b.indices) or len(a.arguments) != len(b.arguments):
        return
    orders = [b.indices]
    symmetric = b.symmetric or (b.symbol is not None and b.symbol.symmetric) or b.kind == "delta"
    if symmetric and len(b.indices) > 1 and b.indices[-1] != b.indices[-2]:
        orders.append((*b.indices[:-2], b.indices[-1], b.indices[-2]))
    for order in orders:
        found = _match_places(a.indices, order, known)
        if found is not None:
            yield from _match_arguments(a.arguments, b.arguments, found)


def _match_places(
    template: Sequence[Index], term: Sequence[Index], known: Map
) -> Map | None:  # fmt: skip
    found = dict(known)
    for i, j in zip(template, term, strict=True):
        if i.axis != j.axis:
            return None
        if i.literal or i.name.startswith("@"):
            if i != j:
                return None
            continue
        wanted = j.moved(-i.shift)
        if found.setdefault(i.base, wanted) != wanted:
            return None
    return found


def _match_arguments(
    template: Sequence[Expression], term: Sequence[Expression], known: Map
) -> Iterator[Map]:  # fmt: skip
    if not template:
        yield known
        return
    for found in match_expressions(template[0], term[0], known):
        yield from _match_arguments(template[1:], term[1:], found)


def match_expressions(e: Expression, f: Expression, known: Map) -> Iterator[Map]:
    """The maps under which one expression is the other, term by term."""
    yield from _match_terms(e.terms, f.terms, known)


def _match_terms(
    template: Sequence[tuple[Term, Fraction]], terms: Sequence[tuple[Term, Fraction]], known: Map
) -> Iterator[Map]:  # fmt: skip
    if len(template) != len(terms):
        return
    if not template:
        yield known
        return
    (s, c), *rest = template
    for k, (t, d) in enumerate(terms):
        if c != d or len(s.bound) != len(t.bound) or len(s.factors) != len(t.factors):
            continue
        for found in match_factors(s.factors, t.factors, known):
            kept = _closed(s, t, found, known)
            if kept is not None:
                yield from _match_terms(rest, [*terms[:k], *terms[k + 1 :]], kept)


def _closed(s: Term, t: Term, found: Map, known: Map) -> Map | None:
    """The map without the inner bound letters, which must be one to one and of equal ranges."""
    inner = {r.index: r for r in t.bound}
    images = set()
    for r in s.bound:
        other = inner.get(found.get(r.index, r.index))
        if other is None or (r.low, r.high) != (other.low, other.high):
            return None
        images.add(other)
    if len(images) < len(s.bound):
        return None
    names = {r.index for r in s.bound}
    kept = {k: v for k, v in found.items() if k not in names}
    if any(v.base in inner for k, v in kept.items() if k not in known):
        return None
    return kept
