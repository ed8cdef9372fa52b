"""Indices put in place of others: in an atom, a term, an expression.

Capture is avoided: where a new free index has the name of a bound one, the bound one is
renamed first.  A guard moves its range with the index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from blrgen.algebra.indexed.remembered import remembered
from blrgen.algebra.indexed.values import COLUMN, ROW, Atom, Expression, Index, Range, Term

Moves = Mapping[Index, Index]  # a letter without shift → what stands there instead


def move_index(index: Index, moves: Moves) -> Index:
    """j + s for a letter i + s and i → j."""
    target = moves.get(index.base)
    return index if target is None else target.moved(index.shift)


def move_atom(atom: Atom, moves: Moves) -> Atom:
    """The atom with its free indices replaced; symmetric places in the order of their texts."""
    indices = tuple(move_index(i, moves) for i in atom.indices)
    arguments = atom.arguments
    if arguments:
        hidden = (ROW, COLUMN) if atom.kind == "matrix" else ()
        own = {k: v for k, v in moves.items() if k.name not in hidden}
        arguments = tuple(moved(a, own) for a in arguments)
    if atom.kind == "guard":
        return _move_guard(atom, indices[0])
    return oriented(replace(atom, indices=indices, arguments=arguments))


def _move_guard(atom: Atom, index: Index) -> Atom:
    """low < j + s ≤ size − high is low − s < j ≤ size − high − s."""
    if index.literal:
        return replace(atom, indices=(index,))
    low, high = atom.cut
    cut = (low - index.shift, high + index.shift)
    return replace(atom, indices=(index.base,), cut=cut)


def oriented(atom: Atom) -> Atom:
    """The places that may be swapped, in order."""
    swaps = atom.kind == "delta" or atom.symmetric or (atom.symbol and atom.symbol.symmetric)
    if not swaps or len(atom.indices) < 2:
        return atom
    *front, i, j = atom.indices
    if _place(i) <= _place(j):
        return atom
    return replace(atom, indices=(*front, j, i))


def _place(i: Index) -> tuple[bool, str, int]:
    return (not i.literal, i.name, i.shift)


def moved(e: Expression, moves: Moves) -> Expression:
    """The expression with its free letters replaced, in normal form."""
    letters = set(e.letters)
    own = tuple(sorted((k, v) for k, v in moves.items() if k in letters and k != v))
    return _moved(e, own) if own else e


@remembered(50_000)
def _moved(e: Expression, moves: tuple[tuple[Index, Index], ...]) -> Expression:
    from blrgen.algebra.indexed.normal import collected, normal

    target = dict(moves)
    taken = {i.name for i in target.values()} | {i.name for i in e.letters}
    found = []
    for term, c in e.terms:
        factors, ranges = opened(term.factors, term.bound, taken)
        there = [(a, move_atom(a, target), p) for a, p in factors]
        closed = [(b, p) for a, b, p in there if _closes(a, b)]
        rest = normal(c, [(b, p) for a, b, p in there if not _closes(a, b)], ranges)
        found += _times(rest, closed) if closed else rest
    return collected(found)


def _closes(before: Atom, after: Atom) -> bool:
    """Whether an argument of a function is a number now: exp(f_i − f_j) at i = j."""
    pairs = zip(before.arguments, after.arguments, strict=True)
    return after.kind == "function" and any(
        y.number is not None and x.number is None for x, y in pairs
    )


def _times(
    terms: list[tuple[Term, Fraction]], closed: list[tuple[Atom, Fraction]]
) -> list[tuple[Term, Fraction]]:
    """The terms times functions of numbers, opened."""
    from blrgen.algebra.indexed.build import multiplied, power, rebuilt

    values = [power(rebuilt(a, a.arguments), p) for a, p in closed]
    return list(multiplied(Expression(tuple(terms)), *values).terms)


def opened(
    factors: tuple[tuple[Atom, Fraction], ...], bound: tuple[Range, ...], taken: set[str]
) -> tuple[tuple[tuple[Atom, Fraction], ...], tuple[Range, ...]]:
    """The factors and ranges of a term, its bound indices under names that are not taken."""
    clash = [r for r in bound if r.name in taken]
    if not clash:
        return factors, bound
    used = taken | {r.name for r in bound} | {i.name for a, _ in factors for i in a.letters}
    fresh: dict[str, str] = {}
    for r in clash:
        k = 1
        while f"_{k}~" in used:
            k += 1
        fresh[r.name] = f"_{k}~"
        used.add(f"_{k}~")
    moves = {r.index: Index(r.axis, fresh[r.name]) for r in clash}
    return (
        tuple((move_atom(a, moves), p) for a, p in factors),
        tuple(replace(r, name=fresh.get(r.name, r.name)) for r in bound),
    )
