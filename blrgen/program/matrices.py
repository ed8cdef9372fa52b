"""Products of non-commuting symbols → vectors and matrices whole.

A word is read from the right: A S⁻¹ v is A · solve(S, v), so that no inverse is
ever formed.  A bare scalar in a sum of square matrices is that multiple of the
identity.  S^(−1/2) stands for L⁻ᵀ and S^(1/2) for L, where S = L Lᵀ.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.ranks import DIM, T, rank_of, shape_of
from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program import wholes
from blrgen.program.types import Type, infer

Expr = Any


class MatrixLowering:
    """The part of the visitor that handles words; `visit` is the commuting part."""

    types: dict[str, Type]
    where: str

    def visit(self, x: Expr) -> n.Node:
        raise NotImplementedError

    def number(self, x: Expr) -> n.Node:
        raise NotImplementedError

    def reading_order(self, x: Expr) -> tuple[Any, ...]:
        raise NotImplementedError

    def visit_word(self, x: Expr) -> n.Node:
        """A non-commuting expression."""
        if x.is_Add:
            return self._sum(x)
        if x.is_Mul:
            return self._product(x)
        if x.is_Pow and x.exp.is_Integer and int(x.exp) > 1:
            return self._columns([x.base] * int(x.exp))
        if x.is_Pow:
            return self._columns([x])
        if isinstance(x, T):
            return wholes.Transpose(self.visit(x.args[0]))
        if isinstance(x, sp.Symbol):
            return self.visit_symbol(x)
        raise UserError(f"no target can compute {type(x).__name__} in {x}", where=self.where)

    def visit_symbol(self, x: Expr) -> n.Node:
        if x.name not in self.types:
            raise UserError(
                f"unknown name {x.name} in an expression",
                where=self.where,
                why="known names: " + ", ".join(self.types),
            )
        return n.Ref(x.name)

    def visit_trace(self, x: Expr) -> n.Node:
        """A scalar aᵀ … b as a sum, any other trace as it is."""
        word = self._unrolled(x.args[0])
        if isinstance(word[0], T) and rank_of(word[0]) == "row" and rank_of(word[-1]) == "vector":
            return _inner(self.visit(word[0].args[0]), self._columns(word[1:]))
        return wholes.Trace(self._columns(word))

    def _sum(self, x: Expr) -> n.Node:
        terms = sorted(x.args, key=self.reading_order)
        plus = [self._term(a, x) for a in terms if not is_negative(a)]
        minus = [self._term(-a, x) for a in terms if is_negative(a)]
        if not plus:
            return n.neg(n.add(*minus))
        result = n.add(*plus)
        for term in minus:
            result = n.Sub(result, term)
        return result

    def _term(self, x: Expr, whole: Expr) -> n.Node:
        if not x.is_commutative:
            return self.visit(x)
        if rank_of(whole) not in ("symmetric", "matrix"):
            raise InternalError(f"the scalar {x} is added to a vector in {whole}")
        size = (shape_of(whole) or (DIM, DIM))[0]
        return n.mul(self.number(x), wholes.Identity(str(size)))

    def _product(self, x: Expr) -> n.Node:
        coefficient, word = x.args_cnc()
        scalar = sp.Mul(*coefficient)
        product = self._columns(self._unrolled(sp.Mul(*word)))
        if scalar == 1:
            return product
        if is_negative(scalar):
            inner = product if scalar == -1 else n.mul(self.number(-scalar), product)
            return n.neg(inner)
        return n.mul(self.number(scalar), product)

    def _unrolled(self, x: Expr) -> list[Expr]:
        """A word as a list of letters, with whole powers written out."""
        letters: list[Expr] = []
        for a in x.args if x.is_Mul else (x,):
            if a.is_Pow and a.exp.is_Integer and abs(int(a.exp)) > 1:
                one = a.base if int(a.exp) > 0 else a.base**-1
                letters += [one] * abs(int(a.exp))
            else:
                letters.append(a)
        return letters

    def _columns(self, word: list[Expr]) -> n.Node:
        """The product of the letters, associated to the right."""
        rows = [k for k, a in enumerate(word) if rank_of(a) == "row"]
        if rows and rank_of(word[-1]) != "vector":
            k = rows[0]
            left, right = word[:k], sp.Mul(*word[k:])
            return wholes.Outer(self._columns(left), self.visit(T(right)))
        if rows and rows[0] > 0:  # v (aᵀ … b): a number times a vector
            k = rows[0]
            number = _inner(self.visit(word[k].args[0]), self._columns(word[k + 1 :]))
            return n.mul(number, self._columns(word[:k]))
        *front, last = word
        if front and last.is_Pow and last.exp == -1 and rank_of(last.base) == "symmetric":
            return self._solved_from_right(front, last.base)
        result = self._last(last)
        for a in reversed(front):
            result = self._times(a, result)
        return result

    def _solved_from_right(self, front: list[Expr], base: Expr) -> n.Node:
        """A S⁻¹ = (S⁻¹ Aᵀ)ᵀ: no inverse is formed."""
        turned = wholes.transposed(self._columns(front))
        return wholes.transposed(wholes.Solve(self.visit(base), turned))

    def _last(self, x: Expr) -> n.Node:
        if not x.is_Pow:
            return self.visit(x)
        base = self.visit(x.base)
        identity = wholes.Identity(infer(base, self.types).shape[0])
        return self._times(x, identity)

    def _times(self, a: Expr, right: n.Node) -> n.Node:
        if not a.is_Pow:
            return wholes.MatMul(self.visit(a), right)
        base = self.visit(a.base)
        if a.exp == -1:
            return wholes.Solve(base, right)
        if a.exp == sp.Rational(-1, 2):
            return wholes.HalfSolve(base, right)
        if a.exp == sp.Rational(1, 2):
            return wholes.HalfProduct(base, right)
        raise UserError(f"no target can compute {a}", where=self.where)


def _inner(left: n.Node, right: n.Node) -> n.Node:
    """aᵀb: a sum over the axis of both."""
    return wholes.Total(n.mul(left, right))


def is_negative(x: Expr) -> bool:
    """Whether the numerical coefficient carries a minus sign."""
    return bool(x.as_coeff_Mul()[0].is_negative)
