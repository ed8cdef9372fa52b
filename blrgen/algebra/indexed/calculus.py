"""One differential: ∂x_i/∂x_j = δ_ij, for numbers, vectors and matrices alike.

d inv(M)_ij = −Σ_ab inv_ia dM_ab inv_bj and d logdet M = Σ_ab inv_ab dM_ab are the only
rules of matrices.  A symmetric variable moves symmetrically.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from blrgen.algebra.indexed.build import (
    add,
    moved,
    multiplied,
    number,
    of_atom,
    power,
    scaled,
    summed,
)
from blrgen.algebra.indexed.functions import log, plain
from blrgen.algebra.indexed.matrices import inverse
from blrgen.algebra.indexed.moving import opened
from blrgen.algebra.indexed.normal import collected, normal
from blrgen.algebra.indexed.rules import delta_atom
from blrgen.algebra.indexed.scalars import slope_of
from blrgen.algebra.indexed.values import COLUMN, ROW, ZERO, Atom, Expression, Index, Term

Places = tuple[Index, ...]


class NoDerivative(Exception):
    """A function whose derivative has no name here."""


def partial(e: Expression, name: str, places: Places) -> Expression:
    """∂e/∂name[places]; the letters of the places are free in it."""
    if name not in e.symbols():
        return ZERO
    return add(*[scaled(_term(t, name, places), c) for t, c in e.terms], ZERO)


def _term(term: Term, name: str, places: Places) -> Expression:
    """The product rule under the sums of a term."""
    taken = {i.name for i in places} | {i.name for i in term.letters}
    factors, bound = opened(term.factors, term.bound, taken)
    found = []
    for k, (atom, p) in enumerate(factors):
        slope = _atom(atom, name, places)
        if not slope:
            continue
        rest = [f for j, f in enumerate(factors) if j != k]
        if p != 1:
            rest.append((atom, p - 1))
        kept = Expression(((Term(tuple(rest)), p),))
        outside = collected(pair for t, c in kept.terms for pair in normal(c, t.factors, ()))
        product = multiplied(outside, slope)
        for r in bound:
            product = summed(product, r.index, r.low, r.high)
        found.append(product)
    return add(*found, ZERO)


def _atom(atom: Atom, name: str, places: Places) -> Expression:
    if atom.kind == "symbol":
        return _symbol(atom, places) if atom.name == name else ZERO
    if not atom.arguments or not any(name in a.symbols() for a in atom.arguments):
        return ZERO
    if atom.kind == "sum":
        return partial(atom.arguments[0], name, places)
    if atom.kind == "matrix":
        return _matrix(atom, name, places)
    slopes = [partial(a, name, places) for a in atom.arguments]
    return add(*[
        multiplied(_outer(atom, k), s) for k, s in enumerate(slopes) if s
    ], ZERO)  # fmt: skip


def _symbol(atom: Atom, places: Places) -> Expression:
    """Π δ(own place, place); of a symmetric symbol the mean of both orders of the last two."""
    one = _deltas(atom.indices, places)
    if atom.symbol is None or not atom.symbol.symmetric:
        return one
    turned = (*places[:-2], places[-1], places[-2])
    return scaled(add(one, _deltas(atom.indices, turned)), Fraction(1, 2))


def _deltas(own: Places, places: Places) -> Expression:
    pairs = zip(own, places, strict=True)
    return collected(normal(Fraction(1), [(delta_atom(i, j), Fraction(1)) for i, j in pairs], ()))


def _matrix(atom: Atom, name: str, places: Places) -> Expression:
    """Of inv(M)[i,j] and of logdet(M)."""
    (m,) = atom.arguments
    axis = next(i.axis for i in m.letters if i.name == ROW)
    row, column = Index(axis, ROW), Index(axis, COLUMN)
    a, b = Index(axis, "`a"), Index(axis, "`b")
    slope = moved(partial(m, name, places), {row: a, column: b})
    inv = inverse(m, row, column)

    def at(i: Index, j: Index) -> Expression:
        return moved(inv, {row: i, column: j})

    if atom.name == "logdet":
        return summed(summed(multiplied(at(b, a), slope), a), b)
    i, j = atom.indices
    inner = multiplied(at(i, a), slope, at(b, j))
    return scaled(summed(summed(inner, a), b), -1)


def _outer(atom: Atom, k: int) -> Expression:
    """The derivative of a function by its k-th argument."""
    args = atom.arguments
    if atom.name == "pow":
        base, exponent = args
        if k == 1:
            return multiplied(of_atom(atom), log(base))
        return multiplied(exponent, of_atom(atom), power(base, -1))
    rule = _RULES.get(atom.name)
    if rule is not None:
        return rule(args[0])
    found = slope_of(atom.name, args, k)
    if found is None:
        raise NoDerivative(atom.name)
    return found


_RULES: dict[str, Callable[[Expression], Expression]] = {
    "log": lambda x: power(x, -1),
    "exp": lambda x: plain("exp", x),
    "lgamma": lambda x: plain("digamma", x),
    "digamma": lambda x: plain("polygamma", number(1), x),
}
