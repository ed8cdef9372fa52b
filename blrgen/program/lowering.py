"""SymPy expressions → nodes, by a method a class of SymPy.

A sum is ordered for reading (what is kept first, what is taken off last); a product becomes
coefficient · numerator / denominator.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.averages import AverageLowering
from blrgen.program.axes.nodes import Extent
from blrgen.program.expectations import with_covariances
from blrgen.program.exponentials import logs_of_totals
from blrgen.program.sizes import Count
from blrgen.program.special import CALLS as SPECIAL
from blrgen.program.special import special_forms
from blrgen.program.types import SCALAR, Type
from blrgen.program.words import Words, is_negative

Expr = Any

_CALLS = {
    "exp": "exp", "log": "log", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh", "sin": "sin",
    "cos": "cos", "atanh": "atanh", "Abs": "abs", "sign": "sign", "Max": "max", "Min": "min",
    "floor": "floor", "log1p": "log1p", "expm1": "expm1",
}  # fmt: skip
_RELATIONS = {
    "StrictLessThan": "<", "LessThan": "<=", "StrictGreaterThan": ">", "GreaterThan": ">=",
    "Equality": "==", "Unequality": "!=",
}  # fmt: skip


class Lowering(Words, AverageLowering):
    """SymPy → entries, by a method a class; `types` says what the known names are."""

    def __init__(self, types: dict[str, Type], counts: Mapping[Expr, Count] | None = None) -> None:
        self.types = types
        self.counts = counts or {}  # sizes of vectors, as what counts them
        self.where = ""
        self.inner = []
        self.expectations = []
        self.binomial_means = []
        self.meanings = {}
        self._named = {}
        self._prepared: dict[Expr, Expr] = {}

    def share(self, other: Lowering) -> None:
        """Read on from what another one has met."""
        self.expectations, self.binomial_means = other.expectations, other.binomial_means
        self.meanings, self._named, self.first = other.meanings, other._named, other.first
        self._prepared = other._prepared

    def lower(self, x: Expr, where: str = "") -> n.Node:
        """The entry of an expression, at letters of its own axes; `where` is for messages."""
        self.where = where or self.where
        x = self.prepared(x)
        return self.entry(x, self.own(self.type_of(x)))

    def prepared(self, x: Expr) -> Expr:
        """An expression in the forms that are read: without overflow, and with digits kept."""
        if x not in self._prepared:
            opened = logs_of_totals(with_covariances(sp.sympify(x, strict=True)))
            self._prepared[x] = special_forms(opened)
        return self._prepared[x]

    def visit(self, x: Expr) -> n.Node:
        if x.is_commutative is False:
            return self.visit_word(x)
        for cls in type(x).__mro__:
            method = getattr(self, f"visit_{cls.__name__}", None)
            if method is not None:
                return method(x)  # type: ignore[no-any-return]
        name = type(x).__name__
        if name in _CALLS:
            return n.Call(_CALLS[name], tuple(self.visit(a) for a in self.ordered(x)))
        if name in SPECIAL:
            return n.Call(SPECIAL[name], tuple(self.visit(a) for a in x.args))
        if name in _RELATIONS:
            return n.Compare(_RELATIONS[name], self.visit(x.lhs), self.visit(x.rhs))
        raise UserError(
            f"no target can compute {name} in {x}",
            where=self.where,
            how="known functions: " + ", ".join(sorted({*_CALLS, *SPECIAL, "polygamma"})),
        )

    def number(self, x: Expr) -> n.Node:
        """What a matrix is multiplied by."""
        return self.visit(special_forms(x))

    def ordered(self, x: Expr) -> list[Expr]:
        """Arguments in an order that does not depend on the hash seed."""
        if isinstance(x, sp.Max | sp.Min):
            return sorted(x.args, key=sp.default_sort_key)
        return list(x.args)

    def visit_total(self, x: Expr) -> n.Node:
        """Σ_k over the arrays' elements."""
        if not self.type_of(x.args[0]).shape:
            raise UserError(
                f"{x} is a sum over components that the rule keeps nowhere",
                where=self.where,
                why="emitted code has vectors where a state or an input is one",
                how="`blrgen derive` has the rule, also as JSON that SymPy reads",
            )
        return self.over_axis("sum", x.args[0])

    def visit_together(self, x: Expr) -> n.Node:
        """What stays one thing until here."""
        return self.visit(x.args[0])

    def visit_Symbol(self, x: Expr) -> n.Node:
        return self.counted(self.counts[x]) if x in self.counts else self.visit_symbol(x)

    def counted(self, count: Count) -> n.Node:
        """The size of a vector by the length of an array."""
        return n.add(Extent(count.array), n.Const.of(count.more))

    def visit_Rational(self, x: Expr) -> n.Node:
        return n.Const(Fraction(int(x.p), int(x.q)))

    def visit_Float(self, x: Expr) -> n.Node:
        return n.Const(Fraction(str(x)))

    def visit_Pi(self, x: Expr) -> n.Node:
        return n.Named("pi")

    def visit_Exp1(self, x: Expr) -> n.Node:
        return n.Named("e")

    def visit_Infinity(self, x: Expr) -> n.Node:
        return n.Named("inf")

    def visit_NegativeInfinity(self, x: Expr) -> n.Node:
        return n.Neg(n.Named("inf"))

    def visit_Add(self, x: Expr) -> n.Node:
        return self.signed(x, self.visit)

    def reading_order(self, x: Expr) -> tuple[Any, ...]:
        above = any(self.types.get(s.name, SCALAR) != SCALAR for s in x.free_symbols)
        return (is_negative(x), not above, sp.count_ops(x), sp.default_sort_key(x))

    def visit_Mul(self, x: Expr) -> n.Node:
        """Coefficient · numerator / denominator, the sign outside.

        A rational coefficient is a factor where it is exact in binary, otherwise
        its denominator divides: x/3 is rounded once, 0.333…·x twice.
        """
        if is_negative(x):
            return n.neg(self.visit(-x))
        coefficient, rest = x.as_coeff_Mul()
        top, bottom = [], []
        for a in sorted(sp.Mul.make_args(rest), key=self.factor_order):
            if is_root_of_inverse(a):
                bottom.append(n.sqrt(self.visit(a.base.base ** (-a.base.exp))))
            elif a.is_Pow and is_negative(a.exp):
                bottom.append(self.visit(a.base ** (-a.exp)))
            else:
                top.append(self.visit(a))
        binary = coefficient.is_Rational and not bottom and coefficient.q & (coefficient.q - 1) == 0
        if binary or not coefficient.is_Rational:
            top.insert(0, self.visit(coefficient))
        else:
            top.insert(0, n.Const.of(int(coefficient.p)))
            bottom.insert(0, n.Const.of(int(coefficient.q)))
        return n.div(n.mul(*top), n.mul(*bottom))

    def factor_order(self, x: Expr) -> tuple[Any, ...]:
        above = any(self.types.get(s.name, SCALAR) != SCALAR for s in x.free_symbols)
        return (above, not x.is_number, sp.count_ops(x), sp.default_sort_key(x))

    def visit_Pow(self, x: Expr) -> n.Node:
        base, exponent = x.base, x.exp
        if is_negative(exponent):
            return n.div(n.ONE, self.visit(base ** (-exponent)))
        if is_root_of_inverse(x):
            return n.div(n.ONE, n.sqrt(self.visit(base.base ** (-base.exp))))
        if exponent == sp.Rational(1, 2):
            return n.sqrt(self.visit(base))
        if exponent.is_Integer:
            turned = exponent.is_even and base.is_Add and base.as_coeff_Add()[0] == -1
            return n.Pow(self.visit(-base if turned else base), int(exponent))  # (1 − β)²
        if exponent.is_Rational and exponent.q == 2:
            whole = self.visit(base ** (exponent - sp.Rational(1, 2)))
            return n.mul(whole, n.sqrt(self.visit(base)))
        return n.Call("pow", (self.visit(base), self.visit(exponent)))

    def visit_Piecewise(self, x: Expr) -> n.Node:
        (first, condition), *rest = x.args
        if condition == sp.true:
            return self.visit(first)
        if not rest:
            raise UserError(f"{x} has no value where {condition} fails", where=self.where)
        return n.Select(self.visit(condition), self.visit(first), self.visit(x.func(*rest)))

    def visit_polygamma(self, x: Expr) -> n.Node:
        """ψ and its derivatives, of a whole order."""
        order, argument = x.args
        if not order.is_Integer or order < 0 or order > 20:
            raise UserError(f"no target can compute {x}", where=self.where, why=f"order {order}")
        name = {0: "digamma", 1: "trigamma"}.get(int(order), f"polygamma_{order}")
        return n.Call(name, (self.visit(argument),))

    def visit_multipolygamma(self, x: Expr) -> n.Node:
        """ψ_d and its derivatives, of a whole order; the size is known at run time."""
        order, *rest = x.args
        if not order.is_Integer or order < 0 or order > 20:
            raise UserError(f"no target can compute {x}", where=self.where, why=f"order {order}")
        return n.Call(f"multipolygamma_{order}", tuple(self.visit(a) for a in rest))

    def visit_log_total(self, x: Expr) -> n.Node:
        """log(Σ exp(f) + exp(c))."""
        level, _, *more = x.args
        return self.over_axis("lse", level, *map(self.visit, more))

    def over_axis(self, op: str, x: Expr, more: n.Node | None = None) -> n.Node:
        """A number made of all entries of an expression."""
        return self.reduced(op, self.type_of(x).shape[0], lambda: self.visit(x), more)

    def visit_bessel_ratio(self, x: Expr) -> n.Node:
        return self._at_root("bessel_quotient", x)

    def visit_bessel_drop(self, x: Expr) -> n.Node:
        return self._at_root("bessel_bend", x)

    def visit_bessel_slope_of(self, x: Expr) -> n.Node:
        return self._at_root("bessel_slope", x)

    def _at_root(self, name: str, x: Expr) -> n.Node:
        """A function of s = κ² as one of κ."""
        order, s = x.args
        return n.Call(name, (self.visit(order), self.visit(sp.sqrt(s))))

    def visit_steadier(self, x: Expr) -> n.Node:
        """Two forms of one number; the one with the smaller terms."""
        new, plain, size, before = (self.visit(a) for a in x.args)
        return n.Select(n.Compare("<", size, before), new, plain, same=True)

    def visit_trigamma_gap(self, x: Expr) -> n.Node:
        """x − 1/ψ′(x) as x (ψ′(x) − 1/x)/ψ′(x)."""
        a = self.visit(x.args[0])
        above = n.mul(a, n.Call("trigamma_rest", (a,)))
        return n.div(above, n.Call("trigamma", (a,)))

    def visit_uniform_cumulant(self, x: Expr) -> n.Node:
        """The derivatives of log((eˣ − 1)/x), each a function of its own."""
        order, argument = x.args
        if not order.is_Integer or order > 9:
            raise UserError(f"no target can compute {x}", where=self.where, why=f"order {order}")
        return n.Call(f"uniform_cumulant_{order}", (self.visit(argument),))

    def visit_Heaviside(self, x: Expr) -> n.Node:
        return n.Select(n.Compare(">", self.visit(x.args[0]), n.ZERO), n.ONE, n.ZERO)


def is_root_of_inverse(x: Expr) -> bool:
    """√(1/y), which is written 1/√y: the same wherever either is real."""
    half = x.is_Pow and x.exp == sp.Rational(1, 2)
    return bool(half and x.base.is_Pow and x.base.exp == -1)
