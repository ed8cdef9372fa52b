"""Points in which E[L] is quadratic: a linear system, its common factors cancelled.

b = ∂E[L]/∂x at x = 0 and M = −∂²E[L]/∂x∂x.  A positive factor of all equations cancels, and
so does a positive definite matrix that multiplies all of them along one axis: A(Mx − b) = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blrgen.algebra.indexed.build import (
    divided,
    multiplied,
    power,
    put,
    scaled,
    shared_atoms,
    summed,
)
from blrgen.algebra.indexed.calculus import NoDerivative, partial
from blrgen.algebra.indexed.matrices import inverse
from blrgen.algebra.indexed.moving import moved
from blrgen.algebra.indexed.rules import delta_atom
from blrgen.algebra.indexed.signs import atom_sign
from blrgen.algebra.indexed.values import ZERO, Atom, Expression, Index
from blrgen.rule.model.values import LinearSystem, Unknown

if TYPE_CHECKING:
    from blrgen.rule.model.points import Point

Matrix = list[list[Expression]]


def linear_system(
    points: Sequence[Point], joint: Expression, unknown: frozenset[str]
) -> LinearSystem | None:
    """The system of some points, free of all other unknown ones; None where there is none."""
    names = frozenset(p.name for p in points)
    try:
        slopes = [partial(joint, p.name, p.places) for p in points]
        matrix = [
            [scaled(partial(g, q.name, primed(q.places)), -1) for q in points] for g in slopes
        ]
    except NoDerivative:
        return None
    if any(names & set(m.symbols()) for row in matrix for m in row):
        return None
    right = [put(g, {n: lambda _: ZERO for n in names}) for g in slopes]
    places = [p.places for p in points]
    right, matrix = _without_factors(right, matrix, places)
    others = unknown - names
    right, matrix = _without_matrix(right, matrix, places, others)
    if any(others & set(e.symbols()) for e in (*right, *(m for row in matrix for m in row))):
        return None
    shared, matrix = shared_letters(matrix, places)
    unknowns = tuple(Unknown(p.name, p.places) for p in points)
    return LinearSystem(unknowns, shared, tuple(right), tuple(map(tuple, matrix)))


def primed(places: tuple[Index, ...]) -> tuple[Index, ...]:
    """The same places under other letters."""
    return tuple(Index(i.axis, i.name + "'") for i in places)


def _entries(right: list[Expression], matrix: Matrix) -> list[Expression]:
    return [e for e in (*right, *(m for row in matrix for m in row)) if e]


def _without_factors(
    right: list[Expression], matrix: Matrix, places: Sequence[tuple[Index, ...]]
) -> tuple[list[Expression], Matrix]:
    """Divided by the positive atoms that all entries share at letters that all unknowns have."""
    common = set(places[0]).intersection(*map(set, places[1:]))
    while True:
        entries = _entries(right, matrix)
        if not entries:
            return right, matrix
        shared = dict(shared_atoms(entries[0]))
        for e in entries[1:]:
            other = dict(shared_atoms(e))
            shared = {a: p for a, p in shared.items() if other.get(a) == p}
        found = [(a, p) for a, p in shared.items() if atom_sign(a) > 0 and set(a.letters) <= common]
        if not found:
            return right, matrix
        right = [divided(e, found) for e in right]
        matrix = [[divided(m, found) for m in row] for row in matrix]


def _without_matrix(
    right: list[Expression], matrix: Matrix, places: Sequence[tuple[Index, ...]],
    others: frozenset[str],
) -> tuple[list[Expression], Matrix]:  # fmt: skip
    """A symmetric matrix along a letter of all unknowns cancelled, if that frees the system.

    It is free of other unknowns, or couples fewer letters: of a whole matrix one row by itself.
    """
    held = any(others & set(e.symbols()) for e in _entries(right, matrix))
    joined = _coupled(matrix, places)
    if not held and joined < 2:
        return right, matrix
    for letter in places[0]:
        if not all(letter in p for p in places):
            continue
        for atom in _candidates(matrix[0][0], letter):
            undo = _undoing(atom, letter)
            new_right = [undo(e) for e in right]
            new = [[undo(m) for m in row] for row in matrix]
            free = not any(others & set(e.symbols()) for e in _entries(new_right, new))
            if free and (held or _coupled(new, places) < joined):
                return new_right, new
    return right, matrix


def _coupled(matrix: Matrix, places: Sequence[tuple[Index, ...]]) -> int:
    """How many letters of one unknown the system couples, at most."""
    shared, _ = shared_letters(matrix, places)
    return max(len(p) - len(shared) for p in places)


def _candidates(e: Expression, letter: Index) -> list[Atom]:
    """Symmetric matrices with the letter as one of their last two places."""
    found: dict[Atom, None] = {}
    for term, _ in e.terms:
        for a, p in term.factors:
            square = len(a.indices) > 1 and a.indices[-1].axis == a.indices[-2].axis
            symmetric = a.symmetric or (a.symbol is not None and a.symbol.symmetric)
            if square and symmetric and p == 1 and letter in a.indices[-2:]:
                found[a] = None
    return list(found)


def _undoing(atom: Atom, letter: Index):  # type: ignore[no-untyped-def]
    """e ↦ Σ_i inv(A)[l, i] e[i], l then written i."""
    row, column = Index(letter.axis, "`r"), Index(letter.axis, "`s")
    *front, _, _ = atom.indices
    own = Atom(atom.kind, atom.name, (*front, row, column), atom.arguments, atom.symbol,
               symmetric=atom.symmetric)  # fmt: skip
    from blrgen.algebra.indexed.build import of_atom

    inv = inverse(of_atom(own), row, column)

    def undo(e: Expression) -> Expression:
        product = multiplied(moved(inv, {column: letter}), e)
        return moved(summed(product, letter), {row: letter})

    return undo


def shared_letters(
    matrix: Matrix, places: Sequence[tuple[Index, ...]]
) -> tuple[tuple[Index, ...], Matrix]:
    """The letters on which all of the matrix is diagonal, summed out of its columns."""
    shared = []
    for letter in places[0]:
        other = Index(letter.axis, letter.name + "'")
        delta = delta_atom(letter, other)
        if all(letter in p for p in places) and all(
            any(a == delta for a, _ in t.factors) for row in matrix for m in row for t, _ in m.terms
        ):  # fmt: skip
            shared.append(letter)
            matrix = [[summed(m, other) for m in row] for row in matrix]
    return tuple(shared), matrix


def solved_by_element(system: LinearSystem) -> Expression | None:
    """b / M where the system couples nothing."""
    if len(system.unknowns) > 1 or set(system.unknowns[0].places) != set(system.shared):
        return None
    return multiplied(system.right[0], power(system.matrix[0][0], -1))
