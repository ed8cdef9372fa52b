"""Sums of exponentials as polynomials: Σ c · m · eˡ with exact numbers c.

l is a combination of cores (whatever stands in an exponent) with rational coefficients, m a
product of powers of atoms, what is no exponential.  Cores and atoms are numbers of places in
a `Letters`, in the order in which they are met, so that what is made of them has one order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, isqrt, lcm

from blrgen.program import nodes as n

Exponent = tuple[tuple[int, Fraction], ...]  # (core, coefficient), by core
Atoms = tuple[tuple[int, int], ...]  # (atom, power), by atom
Sum = dict[tuple[Exponent, Atoms], Fraction]
Plain = tuple[tuple[Exponent, Fraction], ...]  # a sum without atoms, by exponent
MOST = 48  # terms of a sum, beyond which nothing is looked for
WIDTH = 16  # cores of an expression, beyond which nothing is looked for
CONSTANT = WIDTH  # the place of the core 1, behind all others
_DIVISORS = 10_000  # the largest coefficient whose divisors are tried as roots


class TooMuch(Exception):
    """More cores or terms than are worth looking at."""


@dataclass
class Letters:
    """The cores and atoms of one expression, each in the form in which it was met first."""

    cores: list[n.Node] = field(default_factory=list)
    keys: dict[object, int] = field(default_factory=dict)
    atoms: list[n.Node] = field(default_factory=list)

    def exponent(self, node: n.Node) -> Exponent:
        """A combination of cores; the core 1 stands for constants."""
        found: dict[int, Fraction] = {}
        for c, core in _terms(node):
            k = self._core(core)
            found[k] = found.get(k, Fraction(0)) + c
        return tuple(sorted((k, c) for k, c in found.items() if c))

    def _core(self, node: n.Node) -> int:
        if node == n.ONE:
            return CONSTANT
        parts = node.args if isinstance(node, n.Mul) else (node,)
        key = frozenset(Counter(parts).items())  # the order of factors does not matter
        if key not in self.keys:
            if len(self.cores) == WIDTH:
                raise TooMuch
            self.keys[key] = len(self.cores)
            self.cores.append(node)
        return self.keys[key]

    def atom(self, node: n.Node) -> Sum:
        """The sum of this one thing."""
        if isinstance(node, n.Const):
            return {((), ()): node.value} if node.value else {}
        if node not in self.atoms:
            self.atoms.append(node)
        return {((), ((self.atoms.index(node), 1),)): Fraction(1)}

    def node(self, e: Exponent) -> n.Node:
        """The combination, written out."""
        above, below = list[n.Node](), list[n.Node]()
        for k, c in e:
            core = n.ONE if k == CONSTANT else self.cores[k]
            (above if c > 0 else below).append(n.mul(n.Const(abs(c)), core))
        high, low = n.add(*above), n.add(*below)
        return high if not below else n.neg(low) if not above else n.Sub(high, low)


def _terms(node: n.Node) -> list[tuple[Fraction, n.Node]]:
    """(c, core) with node = Σ c · core."""
    if isinstance(node, n.Const):
        return [(node.value, n.ONE)]
    if isinstance(node, n.Add):
        return [t for a in node.args for t in _terms(a)]
    if isinstance(node, n.Sub):
        return [*_terms(node.left), *((-c, x) for c, x in _terms(node.right))]
    if isinstance(node, n.Neg):
        return [(-c, x) for c, x in _terms(node.arg)]
    if isinstance(node, n.Div) and isinstance(node.bottom, n.Const):
        return [(c / node.bottom.value, x) for c, x in _terms(node.top)]
    if isinstance(node, n.Mul):
        numbers = [a.value for a in node.args if isinstance(a, n.Const)]
        signs = [a for a in node.args if isinstance(a, n.Neg)]
        rest = [a.arg if isinstance(a, n.Neg) else a for a in node.args]
        rest = [a for a in rest if not isinstance(a, n.Const)]
        c = Fraction(-1) ** len(signs)
        for v in numbers:
            c *= v
        inner = n.mul(*rest)
        if isinstance(inner, n.Mul):
            return [(c, inner)]
        return [(c * d, x) for d, x in _terms(inner)]
    return [(Fraction(1), node)]


def place(e: Exponent) -> tuple[Fraction, ...]:
    """Where the exponent stands in the order in which −l < 0 < l for one sign of each l."""
    found = dict(e)
    return tuple(found.get(k, Fraction(0)) for k in range(WIDTH + 1))


def moving(e: Exponent) -> Exponent:
    """The exponent without its constant, which is only a number in front."""
    return tuple(t for t in e if t[0] != CONSTANT)


def plus(a: Exponent, b: Exponent, times: Fraction = Fraction(1)) -> Exponent:
    """A + times·b."""
    found = dict(a)
    for k, c in b:
        found[k] = found.get(k, Fraction(0)) + times * c
    return tuple(sorted((k, c) for k, c in found.items() if c))


def scaled(a: Exponent, c: Fraction) -> Exponent:
    """C·a."""
    return tuple((k, c * x) for k, x in a) if c else ()


def ratio(a: Exponent, b: Exponent) -> Fraction | None:
    """C with a = c·b, None where there is none; b is not 0."""
    c = dict(a).get(b[0][0], Fraction(0)) / b[0][1]
    return c if scaled(b, c) == a else None


def add(a: Sum, b: Sum, times: Fraction = Fraction(1)) -> Sum:
    """A + times·b."""
    found = dict(a)
    for k, c in b.items():
        found[k] = found.get(k, Fraction(0)) + times * c
    return {k: c for k, c in found.items() if c}


def mul(a: Sum, b: Sum) -> Sum:
    """A·b."""
    found: Sum = {}
    for (e, m), c in a.items():
        for (f, k), d in b.items():
            at = plus(e, f), _product(m, k)
            found[at] = found.get(at, Fraction(0)) + c * d
    if len(found) > MOST:
        raise TooMuch
    return {k: c for k, c in found.items() if c}


def _product(a: Atoms, b: Atoms) -> Atoms:
    found = dict(a)
    for k, p in b:
        found[k] = found.get(k, 0) + p
    return tuple(sorted((k, p) for k, p in found.items() if p))


def power(a: Sum, k: int) -> Sum:
    """Aᵏ for k ≥ 0."""
    found: Sum = {((), ()): Fraction(1)}
    for _ in range(k):
        found = mul(found, a)
    return found


def inverse_atoms(m: Atoms) -> Atoms:
    """1/m."""
    return tuple((k, -p) for k, p in m)


def of_plain(d: Plain) -> Sum:
    """A sum without atoms as a `Sum`."""
    return {(e, ()): c for e, c in d}


def monic(a: Sum) -> tuple[Sum, Plain] | None:
    """A = one term times a sum that starts with 1; None where a sign or an atom is in the way."""
    kinds = {m for _, m in a}
    signs = {c > 0 for c in a.values()}
    if len(kinds) != 1 or len(signs) != 1:
        return None
    (m,) = kinds
    first = min((e for e, _ in a), key=place)
    c = a[first, m]
    return {(first, m): c}, ordered(
        (plus(e, first, Fraction(-1)), v / c) for (e, _), v in a.items()
    )


def ordered(terms: Iterable[tuple[Exponent, Fraction]]) -> Plain:
    """The terms by the places of their exponents."""
    return tuple(sorted(terms, key=lambda t: place(t[0])))


def divided(a: Sum, d: Plain) -> Sum | None:
    """A/d where that leaves nothing over."""
    lead, top = d[-1]
    least = min((place(e) for e, _ in a), default=place(()))
    rest, quotient = dict(a), Sum()
    for _ in range(MOST):
        if not rest:
            return quotient
        (e, m), c = max(rest.items(), key=lambda t: (place(t[0][0]), t[0][1]))
        at = plus(e, lead, Fraction(-1))
        if place(at) < least:
            return None
        term: Sum = {(at, m): c / top}
        quotient = add(quotient, term)
        rest = add(rest, mul(term, of_plain(d)), Fraction(-1))
    return None


def split(d: Plain) -> dict[Plain, int]:
    """The sum as a product of 1 + c·eˡ, as far as its roots are rational, and what is left."""
    if len(d) < 3:
        return {d: 1}
    line = _on_a_line(d)
    if line is None:
        return {d: 1}
    unit, coefficients = line
    found: dict[Plain, int] = {}
    while len(coefficients) > 1:
        c = _root(coefficients)
        if c is None:
            break
        coefficients = _less(coefficients, c)
        if any(v < 0 for v in coefficients):
            return {d: 1}
        factor: Plain = (((), Fraction(1)), (unit, c))
        found[factor] = found.get(factor, 0) + 1
    if len(coefficients) > 1:
        rest = tuple((scaled(unit, Fraction(k)), v) for k, v in enumerate(coefficients) if v)
        found[rest] = found.get(rest, 0) + 1
    return found


def _on_a_line(d: Plain) -> tuple[Exponent, list[Fraction]] | None:
    """(l, [p₀, p₁, …]) with d = Σ p_k e^{kl}, where the exponents allow it."""
    direction = next(e for e, _ in d if e)
    steps = {}
    for e, c in d:
        t = ratio(e, direction)
        if t is None:
            return None
        steps[t] = c
    if min(steps) < 0:
        return None
    grain = Fraction(gcd(*(t.numerator for t in steps)), lcm(*(t.denominator for t in steps)))
    most = int(max(steps) / grain)
    if most > 12:
        return None
    return scaled(direction, grain), [steps.get(k * grain, Fraction(0)) for k in range(most + 1)]


def _root(p: list[Fraction]) -> Fraction | None:
    """C with 1 + c z in a polynomial with p(0) = 1, c > 0 rational."""
    common = lcm(*(v.denominator for v in p))
    low, high = int(p[0] * common), int(p[-1] * common)
    if max(abs(low), abs(high)) > _DIVISORS:
        return None
    for a in _divisors(abs(high)):
        for b in _divisors(abs(low)):
            z = Fraction(-b, a)
            if sum(v * z**k for k, v in enumerate(p)) == 0:
                return Fraction(a, b)
    return None


def _divisors(x: int) -> list[int]:
    small = [k for k in range(1, isqrt(x) + 1) if x % k == 0]
    return [*small, *(x // k for k in reversed(small) if k * k != x)]


def _less(p: list[Fraction], c: Fraction) -> list[Fraction]:
    """P/(1 + c z)."""
    found = []
    carried = Fraction(0)
    for v in p[:-1]:
        carried = v - c * carried
        found.append(carried)
    return found
