"""Quotients of sums of exponentials that neither overflow nor cancel.

    eˡ / (Σ c e^b)^q   →  products of σ(−log Σ …), every factor between 0 and 1
    log of such        →  sums of softplus and logaddexp
    (eˣ − 1)/(eˣ + 1)  →  tanh(x/2)

A term of a sum is brought over one divisor with those that have the same other factors, so
that 1 − 1/(1+e⁻ˣ), σ − σ² and (1+tanh x)/2 cancel exactly before a number is computed.
Divisors are factored into 1 + c eˡ where their roots are rational: expanded squares too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from blrgen.program import nodes as n
from blrgen.program.quotient_forms import Shape, logarithm, product, total
from blrgen.program.sums import (
    Letters,
    Plain,
    Sum,
    TooMuch,
    add,
    divided,
    inverse_atoms,
    monic,
    mul,
    of_plain,
    power,
    split,
)

_EXPONENTIAL = frozenset({"exp", "tanh", "cosh", "sinh", "logistic", "expm1"})
_ONE: Sum = {((), ()): Fraction(1)}


@dataclass(frozen=True)
class _Quotient:
    """top / Π dᵠ, no divisor of which divides the top."""

    top: Sum
    below: tuple[tuple[Plain, Fraction], ...] = ()


def without_overflow(node: n.Node, named: Mapping[n.Node, n.Node]) -> n.Node:
    """The expression with its quotients of sums of exponentials rewritten; as it is elsewhere."""
    return _Rewriting(named).rewrite(node)


class _Rewriting:
    """One expression; `named` are the names that stand for a tanh."""

    def __init__(self, named: Mapping[n.Node, n.Node]) -> None:
        self.named = named
        self.done: dict[n.Node, n.Node] = {}

    def rewrite(self, node: n.Node) -> n.Node:
        """From the root down: a whole quotient before its parts."""
        if not self.exponential(node):
            return node
        if node not in self.done:
            try:
                found = self.written(node)
            except TooMuch:
                found = None
            self.done[node] = node.rebuilt(self.rewrite) if found is None else found
        return self.done[node]

    def exponential(self, node: n.Node) -> bool:
        """Whether an exponential stands anywhere in it."""
        return any(
            (isinstance(x, n.Call) and x.name in _EXPONENTIAL) or x in self.named
            for x in n.walk(node)
        )

    def written(self, node: n.Node) -> n.Node | None:
        """The node in a better form, None where it has none of its own."""
        letters = Letters()
        if isinstance(node, n.Call) and node.name == "log":
            if isinstance(node.args[0], n.Call):
                return None
            return self.log_of(node.args[0], letters)
        if isinstance(node, (n.Add, n.Sub)):
            return self.sum_of(node, letters)
        if isinstance(node, (n.Mul, n.Div)):
            return self.product_of(node, letters)
        if isinstance(node, n.Call) and node.name == "sqrt":
            found = self.quotient(node, letters)
            return self.shown(found, letters) if found and _positive(found) else None
        return None

    def log_of(self, arg: n.Node, letters: Letters) -> n.Node | None:
        found = self.quotient(arg, letters)
        if found is None or not _positive(found) or any(m for _, m in found.top):
            return None
        whole = monic(found.top)
        if whole is None:
            return None
        (((e, _), c),) = whole[0].items()
        below = dict(found.below)
        for d, k in split(whole[1]).items() if len(whole[1]) > 1 else ():
            below[d] = below.get(d, Fraction(0)) - k
        return logarithm(Shape(letters, c, e, tuple(below.items())))

    def product_of(self, node: n.Mul | n.Div, letters: Letters) -> n.Node | None:
        """The exponentials among the factors together; what is none is left outside."""
        top, bottom = _spread(node)
        inside = [self.exponential(x) for x in top], [self.exponential(x) for x in bottom]
        if sum(map(sum, inside)) == 1 and not any(inside[1]):
            return None
        within = n.div(
            n.mul(*[x for x, on in zip(top, inside[0], strict=True) if on]),
            n.mul(*[x for x, on in zip(bottom, inside[1], strict=True) if on]),
        )
        found = self.quotient(within, letters)
        if found is None or not found.below or not _positive(found):
            return None
        if not any(inside[0]) and all(len(d) > 2 for d, _ in found.below):
            return None  # a number over what may overflow is 0 where it does
        made = self.shown(found, letters)
        if made is None:
            return None
        above = [x for x, on in zip(top, inside[0], strict=True) if not on]
        below = [x for x, on in zip(bottom, inside[1], strict=True) if not on]
        return _over(above, made, below)

    def sum_of(self, node: n.Node, letters: Letters) -> n.Node | None:
        """Terms over one divisor, where that makes fewer of them; the others as they are."""
        terms = _addends(node)
        found = [self.quotient(n.neg(x) if s < 0 else x, letters) for s, x in terms]
        if sum(q is not None and bool(q.below) for q in found) == 0:
            return None
        groups: dict[object, list[int]] = {}
        for k, q in enumerate(found):
            kinds = {m for _, m in q.top} if q is not None else set()
            if len(kinds) == 1:
                groups.setdefault(next(iter(kinds)), []).append(k)
        pieces: list[n.Node | None] = [None] * len(terms)
        gone: set[int] = set()
        for members in groups.values():
            made = self.together([found[k] for k in members], letters)
            if made is not None:
                pieces[members[0]] = made
                gone |= set(members)
        if not gone:
            return None
        kept = [
            (1, piece) if piece is not None else (s, self.rewrite(x))
            for k, ((s, x), piece) in enumerate(zip(terms, pieces, strict=True))
            if piece is not None or k not in gone
        ]
        return total(kept)

    def together(self, parts: list[_Quotient | None], letters: Letters) -> n.Node | None:
        """The parts over one divisor, None where that is no shorter or nothing was divided."""
        known = [q for q in parts if q is not None]
        if len(known) < 2 or not any(q.below for q in known):
            return None
        if not all(_positive(q) for q in known):
            return None
        divisors = [{d for d, _ in q.below} for q in known]
        if set().union(*divisors) not in divisors:
            return None
        whole = _sum(known)
        if len(whole.top) > sum(len(q.top) for q in known):
            return None
        return self.shown(whole, letters)

    def shown(self, q: _Quotient, letters: Letters) -> n.Node | None:
        if not q.top:
            return n.ZERO
        return product(letters, q.top, q.below)

    def quotient(self, node: n.Node, letters: Letters) -> _Quotient | None:
        """The node as a quotient of sums, what is no exponential as an atom."""
        if node in self.named:
            return self.quotient(self.named[node], letters)
        if not self.exponential(node):
            return self.plain(node, letters)
        if isinstance(node, n.Neg):
            inner = self.quotient(node.arg, letters)
            return inner and _Quotient({k: -c for k, c in inner.top.items()}, inner.below)
        if isinstance(node, (n.Add, n.Sub)):
            return self.of_sum(node, letters)
        if isinstance(node, n.Mul):
            return self.of_product(node.args, letters)
        if isinstance(node, n.Pow):
            return self.of_product((node.base,) * node.exponent, letters)
        if isinstance(node, n.Div):
            top, bottom = (self.quotient(x, letters) for x in (node.top, node.bottom))
            under = bottom and _inverse(bottom)
            return _times(top, under) if top and under else self.atom(node, letters)
        if isinstance(node, n.Call):
            return self.call(node, letters) or self.atom(node, letters)
        return self.atom(node, letters)

    def plain(self, node: n.Node, letters: Letters) -> _Quotient:
        """Products and numbers opened, everything else an atom."""
        if isinstance(node, n.Neg):
            inner = self.plain(node.arg, letters)
            return _Quotient({k: -c for k, c in inner.top.items()})
        found = _ONE
        for x in node.args if isinstance(node, n.Mul) else (node,):
            base, k = (x.base, x.exponent) if isinstance(x, n.Pow) else (x, 1)
            found = mul(found, power(letters.atom(base), k))
        return _Quotient(found)

    def atom(self, node: n.Node, letters: Letters) -> _Quotient:
        return _Quotient(letters.atom(node.rebuilt(self.rewrite)))

    def of_sum(self, node: n.Node, letters: Letters) -> _Quotient | None:
        parts = [self.quotient(n.neg(x) if s < 0 else x, letters) for s, x in _addends(node)]
        known = [q for q in parts if q is not None]
        if len(known) < len(parts):
            return self.atom(node, letters)
        kinds = {m for q in known for _, m in q.top}
        if any(q.below for q in known) and len(kinds) != 1:
            return _Quotient(letters.atom(self.rewrite(node)))
        return _sum(known)

    def of_product(self, parts: tuple[n.Node, ...], letters: Letters) -> _Quotient | None:
        found: _Quotient | None = _Quotient(_ONE)
        for x in parts:
            q = self.quotient(x, letters)
            found = _times(found, q) if found and q else None
        return found

    def call(self, node: n.Call, letters: Letters) -> _Quotient | None:
        """Exponentials and what is made of them."""
        x = node.args[0]
        if node.name == "sqrt":
            inner = self.quotient(x, letters)
            return None if inner is None else _root(inner)
        if node.name not in _EXPONENTIAL or self.exponential(x):
            return None
        e = letters.exponent(x)
        rise: Sum = {(e, ()): Fraction(1)}
        fall: Sum = {(tuple((k, -c) for k, c in e), ()): Fraction(1)}
        half = {k: c / 2 for k, c in rise.items()}
        if node.name == "exp":
            return _Quotient(rise)
        if node.name == "expm1":
            return _Quotient(add(rise, _ONE, Fraction(-1)))
        if node.name == "cosh":
            return _Quotient(add(half, fall, Fraction(1, 2)))
        if node.name == "sinh":
            return _Quotient(add(half, fall, Fraction(-1, 2)))
        above = rise if node.name == "logistic" else add(rise, fall, Fraction(-1))
        below = add(rise, _ONE if node.name == "logistic" else fall)
        under = _inverse(_Quotient(below))
        return None if under is None else _times(_Quotient(above), under)


def _positive(q: _Quotient) -> bool:
    """Whether nothing is left of what could only be a factor above."""
    return all(k > 0 for _, k in q.below)


def _spread(node: n.Node) -> tuple[list[n.Node], list[n.Node]]:
    """Factors above and below, quotients in quotients opened."""
    if isinstance(node, n.Mul):
        pairs = [_spread(a) for a in node.args]
        return [x for a, _ in pairs for x in a], [x for _, b in pairs for x in b]
    if isinstance(node, n.Div):
        (a, b), (c, d) = _spread(node.top), _spread(node.bottom)
        return [*a, *d], [*b, *c]
    return [node], []


def _over(above: list[n.Node], made: n.Node, below: list[n.Node]) -> n.Node:
    """above · made / below, a sign in front."""
    inner = made.arg if isinstance(made, n.Neg) else made
    whole = n.mul(*[x for x in above if x != n.ONE], inner)
    whole = n.div(whole, n.mul(*below)) if below else whole
    return n.neg(whole) if isinstance(made, n.Neg) else whole


def _addends(node: n.Node) -> list[tuple[int, n.Node]]:
    """(sign, term) of a sum."""
    if isinstance(node, n.Add):
        return [t for a in node.args for t in _addends(a)]
    if isinstance(node, n.Sub):
        return [*_addends(node.left), *((-s, x) for s, x in _addends(node.right))]
    if isinstance(node, n.Neg):
        return [(-s, x) for s, x in _addends(node.arg)]
    return [(1, node)]


def _times(a: _Quotient | None, b: _Quotient | None) -> _Quotient | None:
    if a is None or b is None:
        return None
    below = dict(a.below)
    for d, k in b.below:
        below[d] = below.get(d, Fraction(0)) + k
    return _reduced(mul(a.top, b.top), below)


def _inverse(q: _Quotient) -> _Quotient | None:
    """1/q, where q is a sum of terms of one sign (or a single term) over divisors."""
    whole = monic(q.top) if q.top else None
    if whole is None:
        return None
    (((e, m), c),) = whole[0].items()
    top: Sum = {(tuple((k, -v) for k, v in e), inverse_atoms(m)): 1 / c}
    below = {d: -k for d, k in q.below}
    for d, k in split(whole[1]).items() if len(whole[1]) > 1 else ():
        below[d] = below.get(d, Fraction(0)) + k
    return _reduced(top, below)


def _root(q: _Quotient) -> _Quotient | None:
    """√q, where q is a single exponential over divisors, or a sum of them."""
    whole = monic(q.top) if q.top else None
    if whole is None:
        return None
    (((e, m), c),) = whole[0].items()
    if m or c != 1:
        return None
    below = {d: k / 2 for d, k in q.below}
    for d, k in split(whole[1]).items() if len(whole[1]) > 1 else ():
        below[d] = below.get(d, Fraction(0)) - Fraction(k, 2)
    return _reduced({(tuple((k, v / 2) for k, v in e), ()): Fraction(1)}, below)


def _reduced(top: Sum, below: Mapping[Plain, Fraction]) -> _Quotient:
    """What divides above and below taken away; whole powers above multiplied out."""
    left: dict[Plain, Fraction] = {}
    for d, k in below.items():
        while k > 0:
            less = divided(top, d)
            if less is None:
                break
            top, k = less, k - 1
        if k < 0:
            whole = -k // 1
            top, k = mul(top, power(of_plain(d), whole)), k + whole
        if k:
            left[d] = k
    return _Quotient(top, tuple(left.items()))


def _sum(parts: list[_Quotient]) -> _Quotient:
    """The sum over one divisor."""
    most: dict[Plain, Fraction] = {}
    for q in parts:
        for d, k in q.below:
            most[d] = max(most.get(d, Fraction(0)), k)
    top: Sum = {}
    for q in parts:
        mine = q.top
        for d, k in most.items():
            lacking = k - dict(q.below).get(d, Fraction(0))
            if lacking.denominator != 1:
                raise TooMuch
            mine = mul(mine, power(of_plain(d), int(lacking)))
        top = add(top, mine)
    return _reduced(top, most)
