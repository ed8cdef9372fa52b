"""SymPy expressions into `layout` nodes, in reading order."""

from __future__ import annotations

from math import prod
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from blrgen.algebra.binomial import binomial_mean
from blrgen.algebra.components import Component, Head, Last, total
from blrgen.algebra.nodes import Numeric
from blrgen.algebra.ranks import T, Vec, trace
from blrgen.errors import InternalError
from blrgen.text.layout import (
    Call,
    Cases,
    Compare,
    Constant,
    Group,
    Indexed,
    Inner,
    Name,
    Node,
    Number,
    Power,
    Product,
    Reading,
    Real,
    Root,
    Sum,
    Total,
    Transpose,
    Unit,
)
from blrgen.text.plain import Plain

Expr = Any
INDEX = "kilm" + "n" * 40
PLAIN = Plain()  # its text settles the order of what is otherwise equal
FREE, WEIGHTED, CONSTANT, NUMBER = range(4)  # x, ρx, ρ, 1: the order of terms in a sum
_CONSTANTS = {
    sp.S.Pi: "pi", sp.S.Exp1: "E", sp.S.Infinity: "oo", sp.S.ImaginaryUnit: "I", sp.S.NaN: "nan",
    sp.S.EulerGamma: "EulerGamma", sp.S.Catalan: "Catalan", sp.S.GoldenRatio: "GoldenRatio",
    sp.S.ComplexInfinity: "zoo", sp.true: "True", sp.false: "False",
}  # fmt: skip
_RELATIONS = {"==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class Arranger:
    """Chooses the order of terms and factors and names divisions and roots."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.depth = 0  # of sums over components

    def node(self, e: Expr, first: str = "") -> Node:
        """Any expression; in a sum the terms in nothing but the name `first` come first."""
        if e.is_Add:
            return self._sum(e, first)
        sign, body = self._signed(e)
        return body if sign > 0 else Sum(((-1, body),))

    def identity(self, e: Expr) -> Node:
        """The scalar e as that multiple of the identity matrix."""
        sign, body = self._signed(e)
        scaled = self._with_unit(body)
        return scaled if sign > 0 else Sum(((-1, scaled),))

    def _signed(self, e: Expr) -> tuple[int, Node]:
        if e.is_Number or e.is_NumberSymbol or e in _CONSTANTS or e == -sp.oo:
            return self._number(e)
        if e.is_Mul:
            return self._product(e.args)
        if e.is_Pow:
            return self._product((e,)) if e.is_commutative else (1, self._word_factor(e))
        if e.is_Add:
            return 1, self._sum(e)
        return 1, self._atom(e)

    def _number(self, e: Expr) -> tuple[int, Node]:
        if e in (sp.oo, -sp.oo):
            return (1 if e == sp.oo else -1), Constant("oo")
        if e in _CONSTANTS:
            return 1, Constant(_CONSTANTS[e])
        sign = -1 if e.is_negative else 1
        if e.is_Rational:
            return sign, Number(abs(int(e.p)), int(e.q))
        return sign, Real(_digits(abs(e)))

    def _atom(self, e: Expr) -> Node:
        if isinstance(e, Component):
            return Indexed(e.name, INDEX[self.depth], isinstance(e, Head))
        if isinstance(e, Last):
            return Name(f"{e.name}_K")
        if isinstance(e, sp.Symbol):
            return Name(e.name)
        if isinstance(e, total):
            return self._total(e)
        if isinstance(e, T):
            return Transpose(self.node(e.args[0]))
        if isinstance(e, trace):
            return self._trace(e.args[0])
        if isinstance(e, Relational):
            return Compare(_RELATIONS[e.rel_op], self.node(e.lhs), self.node(e.rhs))
        if isinstance(e, binomial_mean):
            return Call("E_binomial", tuple(self.node(a) for a in e.args))
        if hasattr(e, "plain"):  # a function of this package that has a formula
            return self.node(e.plain())
        if isinstance(e, sp.Piecewise):
            arms = [(self.node(v), None if c == sp.true else self.node(c)) for v, c in e.args]
            return Cases(tuple(arms))
        if isinstance(e, (sp.And, sp.Or, sp.Not)):
            return Call(type(e).__name__, self._in_order(e.args))
        if isinstance(e, (sp.Max, sp.Min)):
            return Call(type(e).__name__, self._in_order(e.args))
        if isinstance(e, sp.Tuple):
            return Group(tuple(self.node(a) for a in e.args))
        if isinstance(e, (sp.Derivative, sp.Integral, sp.Sum)):
            variables = [v if isinstance(v, sp.Tuple) else sp.Tuple(v) for v in e.args[1:]]
            return Call(type(e).__name__, tuple(self.node(a) for a in (e.args[0], *variables)))
        if isinstance(e, Numeric):
            return self._numeric(e)
        if isinstance(e, sp.Function):
            return Call(e.func.__name__, tuple(self.node(a) for a in e.args))
        raise InternalError(f"cannot show a {type(e).__name__}: {e}")

    def _numeric(self, e: Numeric) -> Node:
        """A(λ), and 𝔼_q[f], at other parameters than the family's own 𝔼[f](λ)."""
        at = tuple(self.node(a) for a in e.args)
        if e.integrand is None:
            return Call("A", at)
        charted = {p.symbol for p in (*e.family.working, *e.family.fixed)}
        name = "E_q" if e.own or (e.family.working and e.free_symbols <= charted) else "E_at"
        return Call(name, (self.node(e.integrand), *at))

    def _total(self, e: Expr) -> Node:
        """Σ_i f_i, with an index of its own."""
        upto = self.node(e.args[1])
        self.depth += 1
        found = Total(self.node(e.args[0]), INDEX[self.depth], upto)
        self.depth -= 1
        return found

    def _in_order(self, args: tuple[Expr, ...]) -> tuple[Node, ...]:
        return tuple(sorted((self.node(a) for a in args), key=PLAIN.text))

    def _trace(self, x: Expr) -> Node:
        word = list(x.args) if x.is_Mul else [x]
        if len(word) > 1 and _is_row(word[0]):
            return Inner(tuple(self._word_factor(a) for a in word))
        return Call("trace", (self.node(x),))

    # products

    def _product(self, args: tuple[Expr, ...]) -> tuple[int, Node]:
        """Numbers, then the commuting factors as a fraction, then the matrix word."""
        coefficient, factors, word = sp.Integer(1), [], []
        for a in _flat(args):
            if a.is_Rational:
                coefficient *= a
            elif a.is_commutative:
                factors.append(a)
            else:
                word.append(a)
        top, bottom = self._fraction(factors)
        turned = [self._positive(node) for node in top]
        top = [node for _, node in turned]
        sign = (-1 if coefficient < 0 else 1) * prod(s for s, _ in turned)
        if sign < 0:
            sign, top, bottom = self._turned(top, bottom)
        p, q = abs(int(coefficient.p)), int(coefficient.q)
        if p != 1:
            top.insert(0, Number(p))
        if q != 1:
            bottom.insert(0, Number(q))
        written = tuple(self._word_factor(a) for a in word)
        if word and _is_row(word[0]) and isinstance(word[-1], Vec):
            top, written = [*top, Inner(written)], ()
        if not bottom and not written and len(top) == 1:
            return sign, top[0]
        if not bottom and not top and len(written) == 1:
            return sign, written[0]
        if not bottom and not written and not top:
            return sign, Number(1)
        return sign, Product(tuple(top), tuple(bottom), written)

    @staticmethod
    def _positive(node: Node) -> tuple[int, Node]:
        """(−a − b)x as −(a + b)x: a factor whose terms are all negative gives its sign away."""
        if isinstance(node, Sum) and len(node.terms) > 1 and all(s < 0 for s, _ in node.terms):
            return -1, Sum(tuple((1, term) for _, term in node.terms))
        return 1, node

    @staticmethod
    def _turned(top: list[Node], bottom: list[Node]) -> tuple[int, list[Node], list[Node]]:
        """−p/(p − 1) as p/(1 − p): a sum that begins with a number takes the sign."""
        for group in (bottom, top):
            for k, node in enumerate(group):
                terms = node.terms if isinstance(node, Sum) else ()
                lows = [t for s, t in terms if s < 0]
                if len(lows) == 1 and isinstance(lows[0], Number) and len(terms) > 1:
                    rest = tuple((-1, t) for s, t in terms if s > 0)
                    turned = Sum(((1, lows[0]), *rest))
                    changed = [*group[:k], turned, *group[k + 1 :]]
                    return (1, top, changed) if group is bottom else (1, changed, bottom)
        return -1, top, bottom

    def _fraction(self, factors: list[Expr]) -> tuple[list[Node], list[Node]]:
        above, below, roots, root_divisors = [], [], [], []
        for f in factors:
            base, exponent = (f.base, f.exp) if f.is_Pow else (f, sp.Integer(1))
            if exponent == sp.Rational(1, 2):
                roots.append(base)
            elif exponent == sp.Rational(-1, 2):
                root_divisors.append(base)
            elif f.is_Pow and _is_negative(exponent):
                below.append((base, -exponent))
            else:
                above.append((base, exponent))
        top = [(self._power(b, x), b) for b, x in above] + self._roots(roots)
        bottom = [(self._power(b, x), b) for b, x in below] + self._roots(root_divisors)
        return self._sorted_factors(top), self._sorted_factors(bottom)

    def _roots(self, radicands: list[Expr]) -> list[tuple[Node, Expr]]:
        """√a √b as √(ab), which is the same number unless two of them may be negative."""
        if len(radicands) > 1 and sum(not r.is_nonnegative for r in radicands) <= 1:
            sign, inside = self._product(tuple(radicands))
            if sign > 0:
                return [(Root(inside), sp.Tuple(*radicands))]
        return [(Root(self.node(r)), r) for r in radicands]

    def _power(self, base: Expr, exponent: Expr) -> Node:
        if exponent == 1:
            return self.node(base)
        inside = self.node(base)
        if isinstance(inside, Sum) and exponent.is_even:
            inside = self._flipped(inside)
        return Power(inside, self.node(exponent))

    def _flipped(self, node: Sum) -> Sum:
        """(β − 1)² as (1 − β)²: in an even power the number 1 is written with a plus."""
        numbers = [sign for sign, term in node.terms if isinstance(term, Number)]
        weights = all(self._is_weight(t) or isinstance(t, Number) for _, t in node.terms)
        if not weights or numbers != [-1]:
            return node
        turned = [(-sign, term) for sign, term in node.terms]
        return Sum(tuple(sorted(turned, key=lambda t: not isinstance(t[1], Number))))

    def _word_factor(self, a: Expr) -> Node:
        if a.is_Pow:
            return Power(self.node(a.base), self.node(a.exp))
        if a.is_Add and all(_is_row(b.as_coeff_Mul()[1]) for b in a.args):  # aᵀ − bᵀ reads (a − b)ᵀ
            return Transpose(self.node(T(a)))
        return self.node(a)

    def _sorted_factors(self, pairs: list[tuple[Node, Expr]]) -> list[Node]:
        return [node for node, _ in sorted(pairs, key=lambda pair: self._factor_key(*pair))]

    def _factor_key(self, node: Node, e: Expr) -> tuple[Any, ...]:
        names = sorted(s.name for s in e.free_symbols)
        text = PLAIN.text(node)
        if isinstance(node, Name) and node.name.endswith("_"):
            return (9, (), False, (False, False), text)  # ∂f/∂x, behind what weighs it
        variables = [n for n in names if not self.reading.is_hyper(n)]
        inner = node.base if isinstance(node, Power) else node
        call, compound = isinstance(inner, Call), isinstance(inner, (Sum, Product))
        if not variables:
            late = isinstance(inner, (Sum, Root))
            plain = isinstance(node, (Name, Constant))
            guest = plain and not all(Reading().is_hyper(n) for n in names)
            return (2 * call, (), late, (not plain, guest), text.swapcase())
        first = min(self.reading.place(n) for n in variables)
        return (1 + call, first[:2], compound, (False, False), text)

    # sums

    def _sum(self, e: Expr, first: str = "") -> Node:
        terms = [(a, *self._signed(a)) for a in e.args]
        if not e.is_commutative and not all(_is_number(a) for a, _, _ in terms):
            terms = self._identity_terms(terms)
        keyed = [(self._term_key(a, node, first), sign, node) for a, sign, node in terms]
        keyed.sort(key=lambda term: term[0])
        kinds = {key[0] for key, _, _ in keyed}
        if NUMBER in kinds and FREE not in kinds:  # 1 − ρ + ρx, not ρx − ρ + 1
            keyed.sort(key=lambda term: (-term[0][0], term[0]))
        front = next((k for k, (_, sign, _) in enumerate(keyed) if sign > 0), 0)
        keyed.insert(0, keyed.pop(front))
        return Sum(tuple((sign, node) for _, sign, node in keyed))

    def _identity_terms(self, terms: list[tuple[Expr, int, Node]]) -> list[tuple[Expr, int, Node]]:
        """In a sum of matrices the scalar terms together are one multiple of the identity."""
        scalars = [t for t in terms if t[0].is_commutative]
        matrices = [t for t in terms if not t[0].is_commutative]
        if len(scalars) > 1:
            total = sp.Add(*[a for a, _, _ in scalars], evaluate=False)
            scalars = [(total, 1, self._sum(total))]
        return matrices + [(a, sign, self._with_unit(node)) for a, sign, node in scalars]

    @staticmethod
    def _with_unit(node: Node) -> Node:
        if node == Number(1):
            return Unit()
        if isinstance(node, Product) and not node.word:
            return Product(node.top, node.bottom, (Unit(),))
        if isinstance(node, Number) and node.q != 1:
            return Product((Number(node.p),) if node.p != 1 else (), (Number(node.q),), (Unit(),))
        return Product((node,), (), (Unit(),))

    def _term_key(self, e: Expr, node: Node, first: str) -> tuple[Any, ...]:
        """The kind of term, then simple before complicated, then old before new."""
        names = sorted(s.name for s in e.free_symbols)
        text = PLAIN.text(node)
        if isinstance(node, Name) and node.name.endswith("_"):
            return (9, (), False, (False, False), text)  # ∂f/∂x, behind what weighs it
        variables = [n for n in names if not self.reading.is_hyper(n)]
        if not variables:
            return (CONSTANT if names else NUMBER, text)
        parts = node.top if isinstance(node, Product) else (node,)
        kind = WEIGHTED if any(self._is_weight(p) for p in parts) else FREE
        kind = FREE if variables == [first] else kind
        quotient = isinstance(node, Product) and any(isinstance(b, Sum) for b in node.bottom)
        latest = sorted((self.reading.place(n)[:2] for n in variables), reverse=True)
        length = len(node.word) if isinstance(node, Product) else 0
        degree = sum(_degree(p) for p in parts)
        return (kind, quotient, latest, length, variables, -degree, text)

    def _is_weight(self, node: Node) -> bool:
        """True for a factor made of hyperparameters only, such as rho or (1 - rho)."""
        names = _names(node)
        return bool(names) and all(self.reading.is_hyper(n) for n in names)


def _names(node: Any) -> list[str]:
    if isinstance(node, Name):
        return [node.name]
    if isinstance(node, tuple):
        return [n for item in node for n in _names(item)]
    if isinstance(node, Node):
        return [n for value in vars(node).values() for n in _names(value)]
    return []


def _degree(node: Node) -> int:
    power = isinstance(node, Power) and isinstance(node.exponent, Number)
    return node.exponent.p if power else 0  # type: ignore[attr-defined]


def _flat(args: tuple[Expr, ...]) -> list[Expr]:
    return [b for a in args for b in (_flat(a.args) if a.is_Mul else [a])]


def _is_negative(exponent: Expr) -> bool:
    return bool(exponent.as_coeff_Mul(rational=True)[0] < 0)


def _is_row(x: Expr) -> bool:
    return isinstance(x, T) and isinstance(x.args[0], Vec)


def _is_number(x: Expr) -> bool:
    """True for a scalar, also one written as a row times a column."""
    if x.is_commutative:
        return True
    word = x.args_cnc()[1] if x.is_Mul else [x]
    return bool(len(word) > 1 and _is_row(word[0]) and isinstance(word[-1], Vec))


def _digits(x: Expr) -> str:
    """The shortest decimal digits that give this double back."""
    return repr(float(x)) if x._prec <= 53 else str(x)
