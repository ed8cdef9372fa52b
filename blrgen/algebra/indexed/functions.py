"""Functions, opened where they are made: log, exp, powers, log-gamma; the rest are atoms.

log splits only factors whose sign is known; what all terms of a sum share comes out first.
exp(c log x + r) = x^c exp(r) for a rational c.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import factorial

from blrgen.algebra.indexed.build import (
    add,
    content,
    multiplied,
    number,
    of_atom,
    power,
    scaled,
    summed,
)
from blrgen.algebra.indexed.primes import prime_powers
from blrgen.algebra.indexed.remembered import remembered
from blrgen.algebra.indexed.signs import atom_sign, sign
from blrgen.algebra.indexed.values import ONE, ZERO, Atom, Expression, Index, Symbol, Term

PI = Symbol("pi#", known=True, lower=Fraction(3), upper=Fraction(4))


def pi() -> Expression:
    """The number π, under a name that no text can have."""
    return of_atom(Atom("symbol", PI.name, symbol=PI))


def plain(name: str, *arguments: Expression) -> Expression:
    """A function as an atom, unopened."""
    return of_atom(Atom("function", name, (), arguments))


@remembered(20_000)
def log(e: Expression) -> Expression:
    """log e: a sum of logarithms of what is known to be positive (or negative, with its sign)."""
    q = e.number
    if q is not None:
        if q <= 0:
            raise ZeroDivisionError(f"log of {q}")
        parts = [scaled(plain("log", number(p)), k) for p, k in prime_powers(q)]
        return add(ZERO, *parts)
    c, outer, inner = content(e, signed=False)
    found = [log(number(abs(c)))]
    found += [scaled(_log_atom(a), p) for a, p in outer]
    return add(*found, _log_rest(scaled(inner, 1 if c > 0 else -1)))


def _log_rest(e: Expression) -> Expression:
    """log of what shares no positive factor: signs of a single product, else an atom."""
    if e == ONE:
        return ZERO
    if len(e.terms) > 1:
        return plain("log", e)
    (term, c) = e.terms[0]
    if term.bound:
        return _log_sums(term, c, e)
    signed = [(a, p) for a, p in term.factors if atom_sign(a) < 0 and p.denominator == 1]
    if not signed:
        return plain("log", e)
    flips = sum(int(p) for _, p in signed)
    rest = e
    for a, p in signed:
        rest = multiplied(rest, of_atom(a, -p))
    logs = [scaled(plain("log", scaled(of_atom(a), -1)), p) for a, p in signed]
    rest = scaled(rest, -1 if flips % 2 else 1)
    return add(*logs, log(rest) if rest.number is not None else plain("log", rest))


def _log_sums(term: Term, c: Fraction, e: Expression) -> Expression:
    """log Σ_ij f_i g_j eʰ: h + log Σ_i f_i + log Σ_j g_j, each sum by itself."""
    parts: list[tuple[frozenset[Index], Expression]] = []
    for a, p in term.factors:
        whole = a.kind == "function" and a.name == "exp"
        pieces = [scaled(Expression((t,)), p) for t in a.arguments[0].terms] if whole else []
        for piece in pieces or [of_atom(a, p)]:
            own = frozenset(r.index for r in term.bound) & frozenset(piece.letters)
            parts.append((own, plain("exp", piece) if pieces else piece))
    groups: list[tuple[frozenset[Index], list[Expression]]] = []
    for own, piece in parts:
        near = [g for g in groups if g[0] & own]
        groups = [g for g in groups if not g[0] & own]
        letters = own.union(*(g[0] for g in near))
        groups.append((letters, [x for g in near for x in g[1]] + [piece]))
    free = [x for letters, pieces in groups if not letters for x in pieces]
    sums = [g for g in groups if g[0]]
    idle = {r.index for r in term.bound} - {i for letters, _ in sums for i in letters}
    outside = [x.terms[0][0].factors[0][0] for x in free]
    if idle or c <= 0 or any(a.name != "exp" for a in outside) or (len(sums) < 2 and not free):
        return plain("log", e)
    found = [log(number(c)), *(a.arguments[0] for a in outside)]
    for letters, pieces in sums:
        total = multiplied(*(_exponentials(pieces)))
        for r in (r for r in term.bound if r.index in letters):
            total = summed(total, r.index, r.low, r.high)
        found.append(log(total))
    return add(*found)


def _exponentials(pieces: list[Expression]) -> list[Expression]:
    """The factors, with one exponential for all."""
    powers = [x for x in pieces if x.terms[0][0].factors[0][0].name == "exp"]
    levels = [x.terms[0][0].factors[0][0].arguments[0] for x in powers]
    return [x for x in pieces if x not in powers] + ([exp(add(*levels))] if levels else [])


def _log_atom(a: Atom) -> Expression:
    """log of one positive atom."""
    if a.kind == "function" and a.name == "exp":
        return a.arguments[0]
    if a.kind == "function" and a.name == "pow":
        return multiplied(a.arguments[1], log(a.arguments[0]))
    if a.kind == "sum":
        return (
            plain("log", a.arguments[0]) if a.arguments[0].number is None else log(a.arguments[0])
        )
    return plain("log", of_atom(a))


@remembered(20_000)
def exp(e: Expression) -> Expression:
    """exp e, with x^c for every c log x in the sum."""
    rest: list[Expression] = []
    found = ONE
    for term, c in e.terms:
        one = Expression(((term, c),))
        base = _of_log(one)
        if base is None:
            rest.append(one)
        else:
            found = multiplied(found, power(base, c))
    left = add(*rest) if rest else ZERO
    return multiplied(found, plain("exp", left)) if left else found


def _of_log(e: Expression) -> Expression | None:
    """x where e is c log x."""
    (term, _) = e.terms[0]
    if term.bound or len(term.factors) != 1:
        return None
    atom, p = term.factors[0]
    return atom.arguments[0] if atom.name == "log" and atom.kind == "function" and p == 1 else None


def lgamma(e: Expression) -> Expression:
    """log Γ, a number where it is of a whole one or a half."""
    q = e.number
    if q is not None and q > 0:
        if q.denominator == 1 and q < 100:
            return log(number(factorial(int(q) - 1)))
        if q == Fraction(1, 2):
            return scaled(log(pi()), Fraction(1, 2))
    return plain("lgamma", e)


def raised(base: Expression, exponent: Expression) -> Expression:
    """base^exponent; one whose exponent is no number is an atom."""
    q = exponent.number
    if q is not None:
        return power(base, q)
    if base == ONE:
        return ONE
    return plain("pow", base, exponent)


def absolute(e: Expression) -> Expression:
    """|e|, without bars where the sign is known."""
    s = sign(e)
    return scaled(e, s) if s else plain("abs", e)


_OPENED: dict[str, Callable[..., Expression]] = {
    "log": log, "exp": exp, "lgamma": lgamma, "pow": raised, "abs": absolute,
}  # fmt: skip


def applied(name: str, *arguments: Expression) -> Expression:
    """A function by its name, opened where it opens."""
    make = _OPENED.get(name)
    return plain(name, *arguments) if make is None else make(*arguments)
