"""What differs between scalar and matrix families, in one place.

`Elementwise` treats every coordinate as a scalar problem (a product of d equal
factors); `Matrix` works with vectors and matrices of symbolic size d.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient, jacobian
from blrgen.algebra.ranks import DIM, SymMat, T, Vec, logdet, symmat, trace, vec
from blrgen.algebra.words import normal

Expr = Any


class Elementwise:
    """⟨a, b⟩ = a b, log|x| = log x, dimension 1."""

    elementwise = True
    dim: Expr = sp.S.One
    curvature_name = "h"

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

    def rank(self, x: Expr) -> str:
        return "elementwise"

    def tidy(self, x: Expr) -> Expr:
        return sp.expand(x)


class Matrix:
    """⟨a, b⟩ = tr(aᵀ b), log|X| of matrices, dimension d."""

    elementwise = False
    dim: Expr = DIM
    curvature_name = "H"

    def inner(self, a: Expr, b: Expr) -> Expr:
        return trace(normal(T(a) * b))

    def logdet(self, x: Expr) -> Expr:
        return logdet(x)

    def outer(self, a: Expr) -> Expr:
        return a * T(a)

    def symbol_like(self, x: Expr, name: str) -> Expr:
        return type(x)(name, commutative=False)

    def gradient_symbol(self) -> Expr:
        return vec("g")

    def curvature_symbol(self) -> Expr:
        return symmat("H")

    def rank(self, x: Expr) -> str:
        if isinstance(x, Vec):
            return "vector"
        return "symmetric" if isinstance(x, SymMat) else "matrix"

    def tidy(self, x: Expr) -> Expr:
        return normal(x)


Ring = Elementwise | Matrix


def ring_of(elementwise: bool) -> Ring:
    """The ring of a family."""
    return Elementwise() if elementwise else Matrix()


__all__ = ["Elementwise", "Matrix", "Ring", "gradient", "jacobian", "ring_of"]
