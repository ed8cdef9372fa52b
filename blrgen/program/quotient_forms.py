"""eˡ/Πdᵠ and its logarithm, for sums d of exponentials, finite far out.

With d = 1 + c eᵇ and l = pb + rest:   eˡ/dᵠ = c⁻ᵖ σ(b + log c)ᵖ σ(−b − log c)^(q−p) e^rest,
with d = Σ c_j e^{b_j} and l = b_k + rest:   1/c_k σ(−log Σ_{j≠k} (c_j/c_k) e^{b_j − b_k}).
Exponents are subtracted exactly before a number is made of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blrgen.program import nodes as n
from blrgen.program.sums import (
    Exponent,
    Letters,
    Plain,
    Sum,
    divided,
    moving,
    place,
    plus,
    ratio,
    scaled,
)

Below = tuple[tuple[Plain, Fraction], ...]


@dataclass(frozen=True)
class Shape:
    """c · eˡ / Π dᵠ; a negative q stands for a factor above."""

    letters: Letters
    c: Fraction
    exponent: Exponent
    below: Below


def product(letters: Letters, top: Sum, below: Below) -> n.Node | None:
    """The sum above over its divisors: a sum of products of numbers between 0 and 1."""
    turned, top, below = _tanhs(letters, top, below)
    common = _common(top)
    terms: list[tuple[int, n.Node]] = []
    for (e, m), c in sorted(top.items(), key=lambda t: (place(t[0][0]), t[0][1])):
        parts = _term(Shape(letters, abs(c), e, below))
        if parts is None:
            return None
        own = {k: p - common.get(k, 0) for k, p in m}
        terms.append((1 if c > 0 else -1, _with_atoms(letters, own, parts)))
    return outside(letters, common, [total(terms), *turned])


def outside(letters: Letters, common: dict[int, int], parts: list[n.Node]) -> n.Node:
    """The parts with what all of them share, a sign in front."""
    minus = sum(isinstance(x, n.Neg) for x in parts) % 2
    plain = [x.arg if isinstance(x, n.Neg) else x for x in parts]
    made = _with_atoms(letters, common, plain)
    return n.neg(made) if minus else made


def _tanhs(letters: Letters, top: Sum, below: Below) -> tuple[list[n.Node], Sum, Below]:
    """(eᵇ − 1)/(eᵇ + 1) = tanh(b/2), taken out as often as it divides."""
    left, found = dict(below), list[n.Node]()
    for d, _ in below:
        if len(d) != 2 or d[1][1] != 1:
            continue
        b = d[1][0]
        while len(top) > 1 and left[d] >= 1:
            less = divided(top, (((), Fraction(-1)), (b, Fraction(1))))
            if less is None:
                break
            top = less
            left[d] -= 1
            found.append(n.Call("tanh", (letters.node(scaled(b, Fraction(1, 2))),)))
    alike: list[n.Node] = [
        n.Pow(x, found.count(x)) if found.count(x) > 1 else x for x in dict.fromkeys(found)
    ]
    return alike, top, tuple((d, q) for d, q in left.items() if q)


def _common(top: Sum) -> dict[int, int]:
    """The powers of atoms that every term has."""
    every = [dict(m) for _, m in top]
    return {k: p for k, p in every[0].items() if all(x.get(k) == p for x in every)}


def _with_atoms(letters: Letters, powers: dict[int, int], parts: list[n.Node]) -> n.Node:
    """The parts times powers of atoms."""

    def one(k: int, p: int) -> n.Node:
        return letters.atoms[k] if p == 1 else n.Pow(letters.atoms[k], p)

    above = [one(k, p) for k, p in sorted(powers.items()) if p > 0]
    below = [one(k, -p) for k, p in sorted(powers.items()) if p < 0]
    numbers = [x for x in parts if isinstance(x, n.Const)]
    others = [x for x in parts if not isinstance(x, n.Const)]
    whole = n.mul(*numbers, *above, *others)
    return n.div(whole, n.mul(*below)) if below else whole


def _term(shape: Shape) -> list[n.Node] | None:
    """c · eˡ/Πdᵠ as its factors; None where a divisor is left above."""
    c, rest, made = shape.c, shape.exponent, list[n.Node]()
    for d, q in shape.below:
        if q < 0:
            return None
        if len(d) == 2:
            p = _share(rest, d[1][0], q)
            rest = plus(rest, d[1][0], -p)
            if p.denominator == q.denominator == 1:
                c *= d[1][1] ** -int(p)
                made += _two(shape.letters, d, int(p), int(q - p))
            else:
                made.append(n.Call("exp", (_log_of_two(shape.letters, d, q, p, -1),)))
                made += [_power_of(d[1][1], -p)] if p and d[1][1] != 1 else []
            continue
        found = _vertices(shape.letters, d, q, rest)
        if found is None:
            made.append(n.Call("exp", (_log_of_many(shape.letters, d, -q, scaled(rest, 1 / q)),)))
            rest = ()
            continue
        inverse, rest, nodes = found
        c, made = c * inverse, [*made, *nodes]
    if rest:
        made.insert(0, n.Call("exp", (shape.letters.node(rest),)))
    return [*([n.Const(c)] if c != 1 or not made else []), *made]


def _power_of(c: Fraction, p: Fraction) -> n.Node:
    """cᵖ of a positive number."""
    return n.Call("exp", (n.mul(n.Const(p), n.Call("log", (n.Const(c),))),))


def _share(e: Exponent, b: Exponent, q: Fraction) -> Fraction:
    """p with 0 ≤ p ≤ q that leaves the least of e − pb."""
    e, b = moving(e), moving(b)
    t = ratio(e, b) if e and b else Fraction(0)
    if t is not None:
        return min(max(t, Fraction(0)), q)
    options = [Fraction(k) for k in range(int(q) + 1)]
    return min(options, key=lambda p: _length(plus(e, b, -p)))


def _length(e: Exponent) -> Fraction:
    return sum((abs(c) for _, c in moving(e)), start=Fraction(0))


def _two(letters: Letters, d: Plain, p: int, r: int) -> list[n.Node]:
    """σ(x)ᵖ σ(−x)ʳ with x = b + log c."""
    x = _level(letters, *d[1])
    y = _level(letters, scaled(d[1][0], Fraction(-1)), 1 / d[1][1])
    return [
        call if k == 1 else n.Pow(call, k)
        for call, k in ((n.Call("logistic", (x,)), p), (n.Call("logistic", (y,)), r))
        if k
    ]


def _level(letters: Letters, b: Exponent, c: Fraction) -> n.Node:
    """b + log c."""
    at = letters.node(b)
    if c == 1:
        return at
    size = n.Call("log", (n.Const(max(c, 1 / c)),))
    if not b:
        return size if c > 1 else n.neg(size)
    return n.add(at, size) if c > 1 else n.Sub(at, size)


def _vertices(
    letters: Letters, d: Plain, q: Fraction, rest: Exponent
) -> tuple[Fraction, Exponent, list[n.Node]] | None:
    """q of the terms of d, whose exponents add up to the one above; None where none do."""
    if q.denominator != 1:
        return None
    c, nodes = Fraction(1), list[n.Node]()
    for _ in range(int(q)):
        b, own = min(d, key=lambda t: _length(plus(rest, t[0], Fraction(-1))))
        rest = plus(rest, b, Fraction(-1))
        c /= own
        others = [(plus(f, b, Fraction(-1)), v / own) for f, v in d if f != b]
        nodes.append(n.Call("logistic", (n.neg(_log_sum(letters, others)),)))
    return None if moving(rest) else (c, rest, nodes)


def _log_sum(letters: Letters, terms: list[tuple[Exponent, Fraction]]) -> n.Node:
    """log Σ c eᵇ, a 1 among the terms kept to the last."""
    one = any(not b and c == 1 for b, c in terms)
    levels = [_level(letters, b, c) for b, c in terms if b or c != 1]
    whole = levels[0]
    for x in levels[1:]:
        whole = n.Call("logaddexp", (whole, x))
    return n.Call("softplus", (whole,)) if one else whole


def logarithm(shape: Shape) -> n.Node | None:
    """log(c eˡ/Πdᵠ); None where there is no divisor."""
    if not shape.below:
        return None
    rest, made = shape.exponent, list[tuple[int, n.Node]]()
    many = [(d, q) for d, q in shape.below if len(d) > 2]
    for d, q in shape.below:
        if len(d) > 2:
            continue
        sign = 1 if q > 0 else -1
        p = _share(scaled(rest, Fraction(sign)), d[1][0], abs(q))
        rest = plus(rest, d[1][0], -sign * p)
        made.append((1, _log_of_two(shape.letters, d, abs(q), p, -sign)))
        if p and d[1][1] != 1:
            made.append((-sign, n.mul(n.Const(p), n.Call("log", (n.Const(d[1][1]),)))))
    for d, q in many:
        made.append((1, _log_of_many(shape.letters, d, -q, scaled(rest, 1 / q))))
        rest = ()
    if rest:
        made.append((1, shape.letters.node(rest)))
    if shape.c != 1:
        made.append((1, _level(shape.letters, (), shape.c)))
    return total(made)


def _log_of_two(letters: Letters, d: Plain, q: Fraction, p: Fraction, sign: int) -> n.Node:
    """±(p log(1 + e⁻ˣ) + (q−p) log(1 + eˣ)), x = b + log c."""
    b, c = d[1]
    x, y = _level(letters, b, c), _level(letters, scaled(b, Fraction(-1)), 1 / c)
    parts = [(p, n.Call("softplus", (y,))), (q - p, n.Call("softplus", (x,)))]
    if 2 * p == q and c == 1:
        parts = [(q, n.Call("logcosh2", (letters.node(scaled(b, Fraction(1, 2))),)))]
    return total([(sign, n.mul(n.Const(k), call)) for k, call in parts if k])


def _log_of_many(letters: Letters, d: Plain, q: Fraction, shift: Exponent) -> n.Node:
    """q · log Σ c e^{b − shift}."""
    moved = [(plus(b, shift, Fraction(-1)), c) for b, c in d]
    whole = n.mul(n.Const(abs(q)), _log_sum(letters, moved))
    return whole if q > 0 else n.neg(whole)


def total(terms: list[tuple[int, n.Node]]) -> n.Node:
    """The sum, written with as few signs as it needs."""
    signed = [(-s, x.arg) if isinstance(x, n.Neg) else (s, x) for s, x in terms if x != n.ZERO]
    high = n.add(*[x for s, x in signed if s > 0])
    low = n.add(*[x for s, x in signed if s < 0])
    return high if low == n.ZERO else n.neg(low) if high == n.ZERO else n.Sub(high, low)
