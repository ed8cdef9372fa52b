"""Symbols with a rank, and the few functions between ranks.

trace and logdet are scalars (they commute); T is the transpose.  A vector is a
column.  aᵀb is written trace(T(a)*b).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

Expr = Any
DIM = sp.Symbol("d", integer=True, positive=True)


class Vec(sp.Symbol):  # type: ignore[misc]
    """A column vector."""

    __slots__ = ()


class Mat(sp.Symbol):  # type: ignore[misc]
    """A matrix without structure."""

    __slots__ = ()


class SymMat(Mat):
    """A symmetric square matrix."""

    __slots__ = ()


def scalar(name: str) -> Expr:
    """A real commuting symbol."""
    return sp.Symbol(name, real=True)


def positive(name: str) -> Expr:
    """A positive commuting symbol."""
    return sp.Symbol(name, positive=True)


def vec(name: str) -> Expr:
    """A column vector."""
    return Vec(name, commutative=False)


def mat(name: str) -> Expr:
    """A matrix without structure."""
    return Mat(name, commutative=False)


def symmat(name: str) -> Expr:
    """A symmetric matrix."""
    return SymMat(name, commutative=False)


class T(sp.Function):  # type: ignore[misc]
    """Transpose; pushed down to the symbols."""

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr:
        if x.is_commutative or isinstance(x, SymMat):
            return x
        if isinstance(x, T):
            return x.args[0]
        if x.is_Add:
            return sp.Add(*[cls(a) for a in x.args])
        if x.is_Mul:
            c, nc = x.args_cnc()
            return sp.Mul(*c) * sp.Mul(*[cls(a) for a in reversed(nc)])
        if x.is_Pow:
            return sp.Pow(cls(x.base), x.exp)
        return None


class trace(sp.Function):  # type: ignore[misc]
    """tr(X): linear, cyclic, blind to the transpose; tr(c) = c d for a multiple of the identity."""

    nargs = 1

    def _eval_is_commutative(self) -> bool:
        return True

    @classmethod
    def eval(cls, x: Expr) -> Expr:
        from blrgen.algebra.words import normal, split

        if x.is_commutative:
            return x * DIM
        x = normal(x)
        if x.is_Add:
            return sp.Add(*[cls(a) for a in x.args])
        coefficient, word = split(x)
        if not word:
            return coefficient * DIM
        least = _least_rotation(word)
        if coefficient == 1 and least == word:
            return None
        return coefficient * cls(sp.Mul(*least, evaluate=False) if len(least) > 1 else least[0])


def _least_rotation(word: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The representative of a word under rotation and reversal-with-transpose.

    A scalar such as aᵀSb keeps its row-first reading: rotations that start with a
    transposed vector come first.
    """
    flipped = tuple(T(a) for a in reversed(word))
    turns = [w[k:] + w[:k] for w in (word, flipped) for k in range(len(w))]

    def key(w: tuple[Expr, ...]) -> tuple[bool, str]:
        row_first = isinstance(w[0], T) and isinstance(w[0].args[0], Vec)
        return (not row_first, " ".join(map(str, w)))

    return min(turns, key=key)


class logdet(sp.Function):  # type: ignore[misc]
    """log|det X| of a positive definite X; scalar factors come out, inverses change the sign."""

    nargs = 1

    def _eval_is_commutative(self) -> bool:
        return True

    @classmethod
    def eval(cls, x: Expr) -> Expr:
        from blrgen.algebra.words import split

        if x.is_commutative:
            return DIM * sp.log(x)
        if x.is_Mul:
            coefficient, word = split(x)
            sign = -1 if coefficient.could_extract_minus_sign() else 1
            if coefficient != sign:
                return DIM * sp.log(sign * coefficient) + cls(sign * sp.Mul(*word))
        if x.is_Pow and x.exp.is_Integer:
            return x.exp * cls(x.base)
        return None


def rank_of(x: Expr) -> str:
    """scalar, vector, row, symmetric or matrix: of an expression in this algebra."""
    if x.is_commutative:
        return "scalar"
    if isinstance(x, Vec):
        return "vector"
    if isinstance(x, SymMat):
        return "symmetric"
    if isinstance(x, Mat):
        return "matrix"
    if isinstance(x, T):
        inner = rank_of(x.args[0])
        return {"vector": "row", "row": "vector"}.get(inner, inner)
    if x.is_Pow:
        return rank_of(x.base)
    if x.is_Add:
        ranks = {rank_of(a) for a in x.args} - {"scalar"}
        if len(ranks) == 1:
            return ranks.pop()
        if ranks <= {"symmetric", "matrix"}:
            return "symmetric" if T(x) == x else "matrix"
    if x.is_Mul:
        word = x.args_cnc()[1]
        column, row = rank_of(word[-1]) == "vector", rank_of(word[0]) == "row"
        if column and row:
            return "scalar"
        if column and rank_of(word[0]) == "vector" and len(word) > 1:
            return "vector"
        if column or row:
            return "vector" if column else "row"
        if len(word) == 1:
            return rank_of(word[0])
        return "symmetric" if T(x) == x else "matrix"
    from blrgen.errors import UserError

    raise UserError(f"no rank for {x}", why="its parts have ranks that do not add up")
