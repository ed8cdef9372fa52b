"""What differs between scalar, matrix and component families, in one place.

`Elementwise` treats every coordinate as a scalar problem (a product of d equal
factors); `Matrix` works with vectors and matrices of symbolic size d; `Components`
with numbers and vectors that meet only in sums over the components.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.bessel import in_ratios
from blrgen.algebra.calculus import gradient, jacobian
from blrgen.algebra.components import Component, size_of, total
from blrgen.algebra.ranks import DIM, SymMat, T, Vec, like, logdet, shape_of, symmat, trace, vec
from blrgen.algebra.width import width
from blrgen.algebra.words import normal
from blrgen.core import Family, Rank

Expr = Any
LARGEST = 5000  # operations up to which an expression is multiplied out
WIDEST = 5000  # and terms that it would then have, at most


class Elementwise:
    """⟨a, b⟩ = a b, log|x| = log x, dimension 1."""

    elementwise = True
    components = False
    curvature_name = "h"

    def dim_of(self, x: Expr) -> Expr:
        """How many numbers x is."""
        return sp.S.One

    def inner(self, a: Expr, b: Expr) -> Expr:
        return a * b

    def logdet(self, x: Expr) -> Expr:
        return sp.log(x)

    def outer(self, a: Expr) -> Expr:
        return a**2

    def symbol_like(self, x: Expr, name: str) -> Expr:
        return sp.Symbol(name, **{k: v for k, v in x._assumptions_orig.items() if v is not None})

    def gradient_symbol(self) -> Expr:
        return sp.Symbol("g", real=True)

    def curvature_symbol(self) -> Expr:
        return sp.Symbol("h", real=True)

    def rank(self, x: Expr) -> Rank:
        return "elementwise"

    def tidy(self, x: Expr) -> Expr:
        """Multiplied out, unless that would not end; powers that divide stay powers."""
        if sp.count_ops(x) > LARGEST or width(x) > WIDEST:
            return x
        divisors = {
            p: sp.Dummy() ** -p.exp
            for p in x.atoms(sp.Pow)
            if p.base.is_Add and p.exp.is_Integer and p.exp < -1
        }
        if not divisors:
            return sp.expand(x)
        back = {value.as_base_exp()[0]: p.base**-1 for p, value in divisors.items()}
        return sp.expand(x.xreplace(divisors)).xreplace(back)


class Matrix:
    """⟨a, b⟩ = tr(aᵀ b) (a product of two scalars), log|X| of matrices, sizes symbolic."""

    elementwise = False
    components = False
    curvature_name = "H"

    def dim_of(self, x: Expr) -> Expr:
        """The number of entries of a vector or matrix."""
        shape = shape_of(x)
        return sp.S.One if shape is None else shape[0] * shape[1]

    def inner(self, a: Expr, b: Expr) -> Expr:
        if a.is_commutative and b.is_commutative:
            return sp.expand(a * b)
        shape = shape_of(a) or shape_of(b)
        return trace(normal(T(a) * b), DIM if shape is None else shape[1])

    def logdet(self, x: Expr) -> Expr:
        return logdet(x)

    def outer(self, a: Expr) -> Expr:
        return a * T(a)

    def symbol_like(self, x: Expr, name: str) -> Expr:
        if x.is_commutative:
            kept = {k: v for k, v in x._assumptions_orig.items() if v is not None}
            return sp.Symbol(name, **kept)
        return like(x, name)

    def gradient_symbol(self) -> Expr:
        return vec("g")

    def curvature_symbol(self) -> Expr:
        return symmat("H")

    def rank(self, x: Expr) -> Rank:
        if x.is_commutative:
            return "scalar"
        if isinstance(x, Vec):
            return "vector"
        return "symmetric" if isinstance(x, SymMat) else "matrix"

    def tidy(self, x: Expr) -> Expr:
        return normal(x)


def _divisors_held(x: Expr, held: dict[Expr, Expr]) -> Expr:
    """x with a letter for each sum that divides one of its terms."""
    if x.is_Pow and x.base.is_Add and x.exp.is_Integer and x.exp.is_negative:
        return held.setdefault(x, sp.Dummy(f"b{len(held)}"))
    if x.is_Add or x.is_Mul:
        return x.func(*[_divisors_held(a, held) for a in x.args])
    return x


class Components:
    """⟨a, b⟩ = Σ_k a_k b_k of vectors, a b of numbers; the variable has `size` components."""

    elementwise = False
    components = True
    curvature_name = "h"

    def __init__(self, size: Expr) -> None:
        self.size = size

    def dim_of(self, x: Expr) -> Expr:
        """How many numbers x is."""
        return x.size if isinstance(x, Component) else sp.S.One

    def inner(self, a: Expr, b: Expr) -> Expr:
        sizes = [s for s in (size_of(a), size_of(b)) if s is not None]  # a b may be a number
        size = sizes[0] if sizes else None
        return a * b if size is None else total(a * b, size)

    def logdet(self, x: Expr) -> Expr:
        return total(sp.log(x), self.size)

    def outer(self, a: Expr) -> Expr:
        return a**2

    def symbol_like(self, x: Expr, name: str) -> Expr:
        known = {k: v for k, v in x._assumptions_orig.items() if v is not None}
        if isinstance(x, Component):
            return Component(name, x.size, **known)
        return sp.Symbol(name, **known)

    def gradient_symbol(self) -> Expr:
        return Component("g", self.size)

    def curvature_symbol(self) -> Expr:
        return Component("h", self.size)

    def rank(self, x: Expr) -> Rank:
        return "elementwise" if isinstance(x, Component) else "scalar"

    def like(self, value: Expr, symbol: Expr) -> Expr:
        """The vector as it is, or its mean where a number stands for it."""
        if isinstance(symbol, Component) or size_of(value) is None:
            return value
        return total(value, self.size) / self.size

    def tidy(self, x: Expr) -> Expr:
        """Multiplied out; a quotient by a sum stays one term."""
        return sp.Add(*[self._term(t) for t in sp.Add.make_args(in_ratios(x))])

    @staticmethod
    def _term(t: Expr) -> Expr:
        _, under = sp.fraction(t)
        sums = [f for f in sp.Mul.make_args(under) if f.as_base_exp()[0].is_Add]
        if sums:
            return t
        held: dict[Expr, Expr] = {}
        spread = sp.expand(_divisors_held(t, held), log=False)
        return spread.xreplace({letter: p for p, letter in held.items()})


Ring = Elementwise | Matrix | Components


def ring_of(family: Family) -> Ring:
    """The ring of a family."""
    if family.components is not None:
        return Components(family.components)
    return Elementwise() if family.elementwise else Matrix()


__all__ = ["Components", "Elementwise", "Matrix", "Ring", "gradient", "jacobian", "ring_of"]
