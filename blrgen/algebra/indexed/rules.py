"""The rewritings of the normal form, one at a time: deltas, guards, one-hot, inverses, exp."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.algebra.indexed.moving import move_atom, oriented
from blrgen.algebra.indexed.values import (
    COLUMN,
    LAST,
    NUMBER,
    ROW,
    Atom,
    Index,
    Range,
)

if TYPE_CHECKING:
    from blrgen.algebra.indexed.normal import Work


class Outside(Exception):
    """A sum reads before the first or behind the last place of an axis."""

    def __init__(self, axis: str, low: int, high: int) -> None:
        super().__init__(f"an index over {axis} leaves it: range cut by {low} and {high}")
        self.axis = axis


def simplified(work: Work) -> bool:
    """One rewriting, if any applies."""
    return any(
        rule(work) for rule in (_delta, _guard, _root, _idempotent, _one_hot, _inverse, _exp)
    )


def delta_atom(i: Index, j: Index) -> Atom:
    """δ(i, j), a shift common to both left out."""
    least = min(i.shift, j.shift)
    if i.literal or j.literal or i.shift == j.shift == 0:
        least = 0
    if i.literal != j.literal:  # δ(t − 1, 1) is δ(t, 2)
        letter, place = (j, i) if i.literal else (i, j)
        return oriented(Atom("delta", "", (letter.base, place.moved(-letter.shift))))
    return oriented(Atom("delta", "", (i.moved(-least), j.moved(-least))))


def _replace(work: Work, moves: dict[Index, Index], without: Atom | None = None) -> None:
    """All atoms but one with their indices moved, merged anew."""
    powers = [(a, p) for a, p in work.powers.items() if a != without]
    work.powers = {}
    for a, p in powers:
        _merge(work, move_atom(a, moves), p)


def _merge(work: Work, atom: Atom, power: Fraction) -> None:
    if atom.kind == "delta":
        atom = delta_atom(*atom.indices)
    if atom.kind in ("delta", "guard"):  # 0 or 1: powers do not matter
        work.powers[atom] = Fraction(1)
        return
    atom = oriented(atom)
    total = work.powers.get(atom, Fraction(0)) + power
    work.powers[atom] = total
    if not total:
        del work.powers[atom]


def _delta(work: Work) -> bool:
    """δ(i,i) = 1; two places that differ give 0; else one letter takes the other's place."""
    for atom in [a for a in work.powers if a.kind == "delta"]:
        i, j = delta_atom(*atom.indices).indices
        if i.base == j.base or (i.literal and j.literal):
            same = _same(i, j)
            if same is None:
                continue
            del work.powers[atom]
            work.coefficient *= same
            return True
        letter, target = _direction(work, i, j)
        bound = work.ranges.pop(letter.name, None)
        moves = {letter.base: target.moved(-letter.shift)}
        if bound is None and not any(
            letter.base in a.letters for a in work.powers if a != atom
        ):  # fmt: skip
            continue
        _replace(work, moves, atom)
        if bound is None:
            work.powers[delta_atom(i, j)] = Fraction(1)
        else:
            place = target.moved(-letter.shift)
            _merge(work, place_guard(place, bound.low, bound.high), Fraction(1))
        return True
    return False


def _same(i: Index, j: Index) -> int | None:
    """Whether two places on one letter, or two literals, are the same: None if not known."""
    if i.name == j.name:
        return int(i.shift == j.shift)
    if i.axis.isdigit():
        return int(literal_place(i) == literal_place(j))
    return None


def literal_place(i: Index) -> int:
    """A literal on an axis whose size is a number, counted from 1."""
    return i.shift if i.name == NUMBER else int(i.axis) + i.shift


def _direction(work: Work, i: Index, j: Index) -> tuple[Index, Index]:
    """(the letter that goes, what stands there): bound ones go first, literals never."""

    def rank(x: Index) -> tuple[int, str]:
        return (0 if x.literal else 2 if x.name in work.ranges else 1, x.name)

    return (i, j) if rank(i) > rank(j) else (j, i)


def place_guard(place: Index, low: int, high: int) -> Atom:
    """[low < place ≤ size − high], on the letter itself."""
    if place.literal:
        return Atom("guard", "", (place,), cut=(low, high))
    return Atom("guard", "", (place.base,), cut=(low - place.shift, high + place.shift))


def _guard(work: Work) -> bool:
    """A guard that always holds goes, one that never does gives 0, a bound one is a range."""
    guards = [a for a in work.powers if a.kind == "guard"]
    for atom in guards:
        (i,), (low, high) = atom.indices, atom.cut
        if i.literal:
            holds = _holds(i, low, high)
            if holds is None:
                continue
            del work.powers[atom]
            work.coefficient *= holds
            return True
        r = work.ranges.get(i.name)
        if r is not None or (low <= 0 and high <= 0):
            del work.powers[atom]
            if r is not None:
                cut = max(r.low, low), max(r.high, high)
                work.ranges[i.name] = Range(r.axis, r.name, *cut)
            return True
        if low < 0 or high < 0:
            del work.powers[atom]
            work.powers[replace(atom, cut=(max(low, 0), max(high, 0)))] = Fraction(1)
            return True
        other = next((b for b in guards if b is not atom and b.indices == atom.indices), None)
        if other is not None:
            del work.powers[atom], work.powers[other]
            cut = max(low, other.cut[0]), max(high, other.cut[1])
            work.powers[replace(atom, cut=cut)] = Fraction(1)
            return True
    return False


def _holds(i: Index, low: int, high: int) -> int | None:
    """Whether low < i ≤ size − high for a literal: the axis has at least that place."""
    if i.axis.isdigit():
        return int(low < literal_place(i) <= int(i.axis) - high)
    if i.name == NUMBER:
        if i.shift <= low:
            return 0
        return 1 if high <= 0 else None
    assert i.name == LAST, i
    if i.shift > -high:
        return 0
    return 1 if low <= 0 else None


def _root(work: Work) -> bool:
    """2^(3/2) = 2 · 2^(1/2): a number keeps a power between 0 and 1 only."""
    for a, p in work.powers.items():
        q = a.arguments[0].number if a.kind == "sum" else None
        if q is not None and not 0 < p < 1:
            whole = p.__floor__()
            work.coefficient *= q**whole
            del work.powers[a]
            if p != whole:
                work.powers[a] = p - whole
            return True
    return False


def _idempotent(work: Work) -> bool:
    """z² = z where z is 0 or 1."""
    for a, p in work.powers.items():
        if a.symbol is not None and (a.symbol.one_hot or a.symbol.binary) and p > 1:
            work.powers[a] = Fraction(1)
            return True
    return False


def _one_hot(work: Work) -> bool:
    """z_k z_l = δ_kl z_k."""
    first: dict[tuple[str, tuple[Index, ...]], Atom] = {}
    for a in work.powers:
        if a.symbol is None or not a.symbol.one_hot:
            continue
        other = first.setdefault((a.name, a.indices[:-1]), a)
        if other is not a:
            del work.powers[a]
            work.powers[delta_atom(other.indices[-1], a.indices[-1])] = Fraction(1)
            return True
    return False


def _inverse(work: Work) -> bool:
    """Σ_j inv(M)_ij M_jk = δ_ik, j in nothing else; from either side of a symmetric one."""
    for atom, p in list(work.powers.items()):
        if atom.kind != "matrix" or atom.name != "inv" or p != 1:
            continue
        for near, j in enumerate(atom.indices):
            i = atom.indices[1 - near]
            r = work.ranges.get(j.name)
            if r is None or r.low or r.high or j.shift or i == j:
                continue
            holders = [a for a in work.powers if a is not atom and j.base in a.letters]
            if len(holders) != 1 or work.powers[holders[0]] != 1:
                continue
            k = _other_end(atom, holders[0], j, near)
            if k is None:
                continue
            del work.powers[atom], work.powers[holders[0]], work.ranges[j.name]
            work.powers[delta_atom(i, k)] = Fraction(1)
            return True
    return False


def _other_end(inverse: Atom, atom: Atom, j: Index, near: int) -> Index | None:
    """k, where the atom is M_jk (near = 1) or M_kj (near = 0) of the M that is inverted."""
    (m,) = inverse.arguments
    if len(m.terms) != 1:
        return None
    (term, c) = m.terms[0]
    if c != 1 or term.bound or len(term.factors) != 1 or term.factors[0][1] != 1:
        return None
    base = term.factors[0][0]
    if base.kind != atom.kind or base.name != atom.name or base.arguments != atom.arguments:
        return None
    ends = (ROW, COLUMN) if near else (COLUMN, ROW)
    for k in atom.indices:
        if k == j:
            continue
        axes = {i.name: i.axis for i in base.indices}
        if ends[0] not in axes or ends[1] not in axes:
            return None
        moves = {Index(axes[ends[0]], ends[0]): j, Index(axes[ends[1]], ends[1]): k}
        if oriented(move_atom(base, moves)) == atom:
            return k
    return None


def _exp(work: Work) -> bool:
    """exp(a)^p exp(b)^q = exp(pa + qb)."""
    found = [(a, p) for a, p in work.powers.items() if a.kind == "function" and a.name == "exp"]
    if len(found) < 2 and all(p == 1 for _, p in found):
        return False
    from blrgen.algebra.indexed.build import add, scaled

    for a, _ in found:
        del work.powers[a]
    total = add(*[scaled(a.arguments[0], p) for a, p in found])
    if total:
        work.powers[Atom("function", "exp", (), (total,))] = Fraction(1)
    return True
