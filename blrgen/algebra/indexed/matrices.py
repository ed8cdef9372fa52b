"""inv(M) and logdet(M) of a matrix given by its elements: scalars out, diagonals element-wise.

A matrix is an expression with two open letters, its row and its column.  Under `inv` and
`logdet` these are the reserved @r and @c.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from blrgen.algebra.indexed.build import (
    add,
    delta,
    divided,
    moved,
    multiplied,
    of_atom,
    power,
    scaled,
    shared_atoms,
    size,
    summed,
)
from blrgen.algebra.indexed.functions import log
from blrgen.algebra.indexed.signs import atom_sign
from blrgen.algebra.indexed.values import COLUMN, ONE, ROW, ZERO, Atom, Expression, Index, Term


def inverse(m: Expression, row: Index, column: Index) -> Expression:
    """inv(M) with the same two letters open."""
    scalar, rest = _scalar(m, row, column)
    outside = power(scalar, -1)
    diagonal = _diagonal(rest, row, column)
    if diagonal is not None:
        return multiplied(outside, power(diagonal, -1), delta(row, column))
    undone = _undone(rest, row, column)
    if undone is None:
        undone = of_atom(_atom("inv", rest, row, column, (row, column)))
    return multiplied(outside, undone)


def logdet(m: Expression, row: Index, column: Index) -> Expression:
    """log det M of a positive definite M."""
    scalar, rest = _scalar(m, row, column)
    outside = multiplied(size(row.axis), log(scalar)) if scalar != ONE else ZERO
    diagonal = _diagonal(rest, row, column)
    if diagonal is not None:
        return add(outside, summed(log(diagonal), row))
    undone = _undone(rest, row, column)
    if undone is not None:
        return add(outside, scaled(logdet(undone, row, column), -1))
    return add(outside, of_atom(_atom("logdet", rest, row, column, ())))


def _atom(
    name: str, m: Expression, row: Index, column: Index, indices: tuple[Index, ...]
) -> Atom:  # fmt: skip
    """The function as an atom, its argument under the reserved letters."""
    r, c = Index(row.axis, ROW), Index(row.axis, COLUMN)
    inner = moved(m, {row: r, column: c})
    symmetric = name == "inv" and inner == moved(inner, {r: c, c: r})
    return Atom("matrix", name, indices, (inner,), symmetric=symmetric)


def _scalar(m: Expression, row: Index, column: Index) -> tuple[Expression, Expression]:
    """(s, rest) with M = s · rest: the scalars that all terms share.

    Only what is positive comes out of a sum; of one term everything that has neither letter.
    """
    scalar = ONE
    ends = {row.base, column.base}
    while True:
        shared = [
            (a, p) for a, p in shared_atoms(m)
            if not ends & set(a.letters) and (len(m.terms) == 1 or atom_sign(a) > 0)
        ]  # fmt: skip
        if not shared:
            break
        for a, p in shared:
            scalar = multiplied(scalar, of_atom(a, p))
        m = divided(m, shared)
    if len(m.terms) == 1:
        c = m.terms[0][1]
        return scaled(scalar, c), scaled(m, 1 / c)
    return scalar, m


def _diagonal(m: Expression, row: Index, column: Index) -> Expression | None:
    """v where M_ij = v_i δ_ij."""
    found = []
    for term, c in m.terms:
        own = [(a, p) for a, p in term.factors if a.kind != "delta" or set(a.indices) !=
               {row, column}]  # fmt: skip
        if len(own) == len(term.factors):
            return None
        found.append((replace_factors(term, own), c))
    value = add(*[Expression(((t, c),)) for t, c in found])
    return moved(value, {column: row})


def replace_factors(term: Term, factors: list[tuple[Atom, Fraction]]) -> Term:
    """The term with other factors."""
    return replace(term, factors=tuple(factors))


def _undone(m: Expression, row: Index, column: Index) -> Expression | None:
    """X where M is inv(X)."""
    if len(m.terms) != 1:
        return None
    (term, c) = m.terms[0]
    if c != 1 or term.bound or len(term.factors) != 1 or term.factors[0][1] != 1:
        return None
    atom = term.factors[0][0]
    if atom.kind != "matrix" or atom.name != "inv" or set(atom.indices) != {row, column}:
        return None
    i, j = atom.indices
    r, c2 = Index(row.axis, ROW), Index(row.axis, COLUMN)
    return moved(atom.arguments[0], {r: i, c2: j})
