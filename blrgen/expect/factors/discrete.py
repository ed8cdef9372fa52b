"""Functions of discrete unknowns, opened: f(Σ_k z_k a_k) = Σ_k z_k f(a_k).

For a one-hot z[L, ·] inside a function every z[L, k] becomes δ(k, κ), times z[L, κ], summed
over κ; for s that is 0 or 1 the function is (1 − s) f(0) + s f(1).  Afterwards the log joint
is a polynomial in them, whatever their parents' links are.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from blrgen.algebra.indexed.build import (
    add,
    delta,
    multiplied,
    number,
    of_atom,
    power,
    put,
    subtracted,
    summed,
    symbol,
)
from blrgen.algebra.indexed.moving import opened
from blrgen.algebra.indexed.values import ONE, ZERO, Atom, Expression, Index, Symbol, Term

Places = tuple[Index, ...]


def discrete_opened(e: Expression) -> Expression:
    """No function of a discrete unknown is left."""
    while True:
        found = [_term(t, c) for t, c in e.terms]
        if all(changed is None for changed in found):
            return e
        kept = [
            Expression(((t, c),)) if changed is None else changed
            for (t, c), changed in zip(e.terms, found, strict=True)
        ]
        e = add(*kept, ZERO)


def _term(term: Term, c: Fraction) -> Expression | None:
    """A term with one of its functions opened; None where there is nothing to open."""
    for k, (atom, p) in enumerate(term.factors):
        inner = _discrete(atom)
        if inner is None:
            continue
        taken = {i.name for i in term.letters}
        factors, bound = opened(term.factors, term.bound, taken)
        atom, p = factors[k]
        inner = _discrete(atom)
        assert inner is not None
        rest = [of_atom(a, q) for j, (a, q) in enumerate(factors) if j != k]
        found = multiplied(number(c), *rest, _by_cases(atom, p, inner))
        for r in bound:
            found = summed(found, r.index, r.low, r.high)
        return found
    return None


def _discrete(atom: Atom) -> Atom | None:
    """A discrete unknown inside a function, at places that the function leaves open."""
    if not atom.arguments:
        return None
    outside = set(atom.letters)
    for a in _symbols(atom.arguments):
        s = a.symbol
        assert s is not None
        if not (s.one_hot or s.binary) or s.known:
            continue
        leading = a.indices[:-1] if s.one_hot else a.indices
        if all(i.literal or i.base in outside for i in leading):
            return a
    return None


def _symbols(arguments: Iterable[Expression]) -> Iterable[Atom]:
    for e in arguments:
        for term, _ in e.terms:
            for a, _ in term.factors:
                if a.symbol is not None:
                    yield a
                yield from _symbols(a.arguments)


def _by_cases(atom: Atom, p: Fraction, z: Atom) -> Expression:
    """atom^p as a sum over the values of z."""
    s = z.symbol
    assert s is not None
    e = of_atom(atom)
    if s.binary and not s.one_hot:
        one, zero = (power(_at(e, s, z.indices, number(v)), p) for v in (1, 0))
        x = symbol(s, *z.indices)
        return add(multiplied(x, one), multiplied(subtracted(ONE, x), zero))
    last = z.indices[-1]
    k = Index(last.axis, "`z")
    case = power(_chosen(e, s, z.indices[:-1], k), p)
    return summed(multiplied(symbol(s, *z.indices[:-1], k), case), k)


def _at(e: Expression, s: Symbol, places: Places, value: Expression) -> Expression:
    """e with s[places] a number."""
    return put(e, {s.name: lambda i: value if i == places else symbol(s, *i)})


def _chosen(e: Expression, s: Symbol, leading: Places, k: Index) -> Expression:
    """e with z[leading, ·] the k-th unit vector."""
    return put(
        e,
        {s.name: lambda i: delta(i[-1], k) if i[:-1] == leading else symbol(s, *i)},
    )
