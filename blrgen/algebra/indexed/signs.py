"""What is known of the sign of an expression: from domains, sums of positive terms, bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blrgen.algebra.indexed.values import Atom, Expression, Term

_BOUNDED = ("erf", "tanh")  # between −1 and 1, which they do not reach
_POSITIVE = ("exp", "cosh", "besselk", "bessel_kernel", "gamma")


@dataclass(frozen=True)
class Interval:
    """lower < x < upper, or ≤ where `closed`; None is infinity."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    closed: bool = False

    @property
    def sign(self) -> int:
        """1 or −1 where it is known, else 0."""
        if self.lower is not None and (self.lower > 0 or (self.lower == 0 and not self.closed)):
            return 1
        if self.upper is not None and (self.upper < 0 or (self.upper == 0 and not self.closed)):
            return -1
        return 0


def atom_sign(atom: Atom) -> int:
    """1 or −1 where an atom is known to be positive or negative, else 0."""
    if atom.kind == "symbol":
        assert atom.symbol is not None
        return atom.symbol.sign
    if atom.kind == "size" or (atom.kind == "function" and atom.name in _POSITIVE):
        return 1
    if atom.kind == "sum":
        return sign(atom.arguments[0])
    if atom.kind == "function" and atom.name == "pow":
        return int(sign(atom.arguments[0]) > 0)
    return 0


def sign(e: Expression) -> int:
    """1 or −1 where an expression is known to be positive or negative, else 0."""
    if not e.terms:
        return 0
    signs = {_term_sign(t) * (1 if c > 0 else -1) for t, c in e.terms}
    if len(signs) == 1:
        return signs.pop()
    return _interval(e).sign


def _term_sign(term: Term) -> int:
    found = 1
    for a, p in term.factors:
        if a.kind in ("delta", "guard"):
            return 0
        if p.denominator == 1 and p % 2 == 0 and atom_sign(a):
            continue
        found *= atom_sign(a)
    return found


def _interval(e: Expression) -> Interval:
    """Bounds added term by term; the sum is open where one of its terms is."""
    lower: Fraction | None = Fraction(0)
    upper: Fraction | None = Fraction(0)
    closed = True
    for term, c in e.terms:
        own = _term_interval(term, c)
        closed = closed and own.closed
        lower = None if lower is None or own.lower is None else lower + own.lower
        upper = None if upper is None or own.upper is None else upper + own.upper
    return Interval(lower, upper, closed)


def _term_interval(term: Term, c: Fraction) -> Interval:
    if not term.factors and not term.bound:
        return Interval(c, c, True)
    if len(term.factors) == 1 and not term.bound:
        (atom, p) = term.factors[0]
        if p == 1 and atom.symbol is not None:
            s = atom.symbol
            ends = [None if x is None else c * x for x in (s.lower, s.upper)]
            lower, upper = ends if c > 0 else reversed(ends)
            return Interval(lower, upper, s.closed)
        if p == 1 and atom.kind == "function" and atom.name in _BOUNDED:
            return Interval(-abs(c), abs(c))
    own = _term_sign(term) * (1 if c > 0 else -1)
    return Interval(Fraction(0) if own > 0 else None, Fraction(0) if own < 0 else None)
