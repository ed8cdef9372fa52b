"""Making expressions: symbols, deltas, sums, products, powers.  All of them in normal form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import gcd, lcm

from blrgen.algebra.indexed.moving import moved, opened
from blrgen.algebra.indexed.normal import collected, distributed, normal, product, size_of
from blrgen.algebra.indexed.primes import prime_powers
from blrgen.algebra.indexed.remembered import remembered
from blrgen.algebra.indexed.rules import delta_atom, place_guard
from blrgen.algebra.indexed.values import (
    COLUMN,
    ONE,
    ROW,
    ZERO,
    Atom,
    Expression,
    Index,
    Range,
    Symbol,
    Term,
)

Rational = Fraction | int
Put = Callable[[tuple[Index, ...]], Expression]  # what stands for a symbol at its places


def number(q: Rational) -> Expression:
    """A rational number."""
    return Expression(((Term(), Fraction(q)),)) if q else ZERO


def size(axis: str) -> Expression:
    """How many places an axis has."""
    return size_of(axis)


def of_atom(atom: Atom, power: Rational = 1) -> Expression:
    """An atom to a power, in normal form."""
    return collected(normal(Fraction(1), [(atom, Fraction(power))], ()))


def symbol(s: Symbol, *indices: Index) -> Expression:
    """s[i, j, …]."""
    return of_atom(Atom("symbol", s.name, indices, symbol=s))


def delta(i: Index, j: Index) -> Expression:
    """1 where i and j are the same place, else 0."""
    return of_atom(delta_atom(i, j))


def guard(i: Index, low: int, high: int = 0) -> Expression:
    """1 where low < i ≤ size − high, else 0."""
    return of_atom(place_guard(i, low, high))


def add(*terms: Expression) -> Expression:
    """The sum."""
    return collected(pair for e in terms for pair in e.terms)


def scaled(e: Expression, c: Rational) -> Expression:
    """c e."""
    return Expression(tuple((t, c * q) for t, q in e.terms)) if c else ZERO


def subtracted(a: Expression, b: Expression) -> Expression:
    """a − b."""
    return add(a, scaled(b, -1))


def multiplied(*factors: Expression) -> Expression:
    """The product."""
    found = ONE
    for f in factors:
        found = f if found == ONE else _product(found, f)
    return found


@remembered(50_000)
def _product(a: Expression, b: Expression) -> Expression:
    if b.number is not None:
        return scaled(a, b.number)
    if a.number is not None:
        return scaled(b, a.number)
    return product(a, b)


def summed(e: Expression, index: Index, low: int = 0, high: int = 0) -> Expression:
    """Σ e over low < index ≤ size − high."""
    found = []
    for term, c in e.terms:
        factors, bound = opened(term.factors, term.bound, {index.name})
        found += normal(c, factors, (*bound, Range(index.axis, index.name, low, high)))
    return collected(found)


def summed_all(e: Expression, indices: tuple[Index, ...]) -> Expression:
    """Σ e over several letters, each over all of its axis."""
    for i in indices:
        e = summed(e, i)
    return e


def headed(e: Expression, index: Index, last: Index) -> Expression:
    """Σ e over all places of an index but the last: the whole sum less that one."""
    return subtracted(summed(e, index), moved(e, {index: last}))


def power(e: Expression, q: Rational) -> Expression:
    """e^q for a rational q; what is no single product is kept as it is, its content outside."""
    q = Fraction(q)
    if q == 0:
        return ONE
    if q > 0 and q.denominator == 1:
        found = e
        for _ in range(int(q) - 1):
            found = _product(found, e)
        return found
    if not e:
        if q > 0:
            return ZERO
        raise ZeroDivisionError("a power of zero")
    return _power(e, q)


@remembered(20_000)
def _power(e: Expression, q: Fraction) -> Expression:
    if e.number is not None:
        return _number_power(e.number, q)
    c, outer, inner = content(e, signed=q.denominator == 1)
    found = _number_power(c, q)
    for atom, p in outer:
        found = multiplied(found, of_atom(atom, p * q))
    if inner != ONE:
        found = multiplied(found, of_atom(Atom("sum", "", (), (inner,)), q))
    return found


def _number_power(c: Fraction, q: Fraction) -> Expression:
    """c^q: whole powers of primes are numbers, the rest stays under the root."""
    if q.denominator == 1:
        return number(c ** int(q))
    if c < 0:
        return of_atom(Atom("sum", "", (), (number(c),)), q)
    found, outside = ONE, Fraction(1)
    for p, k in prime_powers(c):
        whole = (k * q).__floor__()
        outside *= Fraction(p) ** whole
        if k * q != whole:
            root = Atom("sum", "", (), (number(p),))
            found = multiplied(found, of_atom(root, k * q - whole))
    return scaled(found, outside)


def content(
    e: Expression, *, signed: bool
) -> tuple[Fraction, tuple[tuple[Atom, Fraction], ...], Expression]:
    """(c, atoms, rest) with e = c · Π atoms · rest: what all terms share, negative powers too.

    With `signed` any atom comes out, and the sign, so that the rest is positive (its last term,
    where that is not known); else only what is positive.
    """
    from blrgen.algebra.indexed.signs import atom_sign, sign

    outer: list[tuple[Atom, Fraction]] = []
    while True:
        shared = [
            (a, p) for a, p in shared_atoms(e)
            if signed or atom_sign(a) > 0
        ]  # fmt: skip
        if not shared:
            break
        outer += shared
        e = divided(e, shared)
    coefficients = [c for _, c in e.terms]
    c = Fraction(
        gcd(*(x.numerator for x in coefficients)), lcm(*(x.denominator for x in coefficients))
    )
    if signed and (sign(e) or (1 if coefficients[-1] > 0 else -1)) < 0:
        c = -c
    return c, tuple(outer), scaled(e, 1 / c)


def divided(e: Expression, atoms: list[tuple[Atom, Fraction]]) -> Expression:
    """e · Π atoms^−p, term by term; bound indices of e do not stand in these atoms."""
    found = []
    taken = {i.name for a, _ in atoms for i in a.letters}
    for term, c in e.terms:
        factors, bound = opened(term.factors, term.bound, taken)
        found += normal(c, (*factors, *((a, -p) for a, p in atoms)), bound)
    return collected(found)


def shared_atoms(e: Expression) -> list[tuple[Atom, Fraction]]:
    """Atoms in every term with the least power they have; one with a negative power counts."""
    least: dict[Atom, Fraction] = {}
    seen: dict[Atom, int] = {}
    for term, _ in e.terms:
        bound = {r.name for r in term.bound}
        for a, p in term.factors:
            if a.kind in ("delta", "guard") or bound & {i.name for i in a.letters}:
                continue
            seen[a] = seen.get(a, 0) + 1
            least[a] = min(p, least.get(a, p))
    count = len(e.terms)
    found = [(a, p if seen[a] == count else min(p, Fraction(0))) for a, p in least.items()]
    return [(a, p) for a, p in found if p]


def put(e: Expression, places: Mapping[str, Put]) -> Expression:
    """The expression with symbols replaced by expressions in their indices."""
    return _put(e, places, {}) if set(e.symbols()) & set(places) else e


def _put(e: Expression, places: Mapping[str, Put], done: dict[Atom, Expression]) -> Expression:
    found = []
    for term, c in e.terms:
        kept = []
        new = ONE
        for atom, p in term.factors:
            value = _put_atom(atom, places, done)
            if value is None:
                kept.append((atom, p))
            else:
                new = multiplied(new, power(value, p))
        found += distributed(c, dict(kept), {r.name: r for r in term.bound}, new)
    return collected(found)


def _put_atom(
    atom: Atom, places: Mapping[str, Put], done: dict[Atom, Expression]
) -> Expression | None:
    """What stands for an atom; None where it stays."""
    if atom.kind == "symbol":
        make = places.get(atom.name)
        return None if make is None else make(atom.indices)
    if not atom.arguments or not any(set(a.symbols()) & set(places) for a in atom.arguments):
        return None
    if atom not in done:
        inner = tuple(put(a, places) for a in atom.arguments)
        done[atom] = rebuilt(atom, inner)
    return done[atom]


def rebuilt(atom: Atom, arguments: tuple[Expression, ...]) -> Expression:
    """The function of new arguments, opened where it opens."""
    from blrgen.algebra.indexed.functions import applied
    from blrgen.algebra.indexed.matrices import inverse, logdet

    if atom.kind == "sum":
        return arguments[0]
    if atom.kind == "function":
        return applied(atom.name, *arguments)
    axis = next(i.axis for i in atom.arguments[0].letters if i.name == ROW)
    row, column = Index(axis, ROW), Index(axis, COLUMN)
    if atom.name == "logdet":
        return logdet(arguments[0], row, column)
    i, j = atom.indices
    return moved(inverse(arguments[0], row, column), {row: i, column: j})


def fresh(e: Expression, axis: str, letter: str) -> Index:
    """A letter on an axis that does not stand free in e."""
    taken = {i.name for i in e.letters}
    name, k = letter, 1
    while name in taken:
        k += 1
        name = f"{letter}{k}"
    return Index(axis, name)


__all__ = [
    "add", "collected", "content", "delta", "divided", "fresh", "guard", "headed", 
    "moved", "multiplied", "number", "of_atom", "power", "put", "scaled", "size",
    "subtracted", "summed", "summed_all", "symbol",
]  # fmt: skip
