"""Symbols with a rank, and the few functions between ranks.

trace and logdet are scalars (they commute); T is the transpose.  A vector is a
column.  aᵀb is written trace(T(a)*b).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

Expr = Any
DIM = sp.Symbol("d", integer=True, positive=True)


class Ranked(sp.Symbol):  # type: ignore[misc]
    """A symbol with a shape (rows, columns); d where nothing else is said."""

    __slots__ = ("shape",)
    usual: tuple[Expr, Expr] = (DIM, DIM)

    def __new__(
        cls, name: str, shape: tuple[Expr, Expr] | None = None, **assumptions: Any
    ) -> Ranked:
        """The one symbol of this name, shape and class."""
        own: Any = cls  # a class is hashable, whatever Symbol's metaclass says
        return _made(own, name, cls.usual if shape is None else shape)

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.shape), {"commutative": False}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), str(self.shape))


@cache
def _made(cls: Any, name: str, shape: tuple[Expr, Expr]) -> Ranked:
    made: Ranked = sp.Symbol.__xnew__(cls, name, commutative=False)
    made.shape = shape
    return made


class Vec(Ranked):
    """A column vector."""

    __slots__ = ()
    usual = (DIM, sp.S.One)


class Mat(Ranked):
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


def vec(name: str, rows: Expr = DIM) -> Expr:
    """A column vector."""
    return Vec(name, (rows, sp.S.One))


def mat(name: str, rows: Expr = DIM, columns: Expr = DIM) -> Expr:
    """A matrix without structure."""
    return Mat(name, (rows, columns))


def symmat(name: str, size: Expr = DIM) -> Expr:
    """A symmetric matrix."""
    return SymMat(name, (size, size))


def like(x: Expr, name: str) -> Expr:
    """A symbol of that name with the rank and shape of x; a scalar is real."""
    return sp.Symbol(name, real=True) if x.is_commutative else type(x)(name, x.shape)


def shape_of(x: Expr) -> tuple[Expr, Expr] | None:
    """(rows, columns) of a non-commuting expression; None for a scalar."""
    if x.is_commutative:
        return None
    if isinstance(x, Ranked):
        return x.shape  # type: ignore[no-any-return]
    if isinstance(x, T):
        inner = shape_of(x.args[0])
        return None if inner is None else (inner[1], inner[0])
    if x.is_Pow:
        return shape_of(x.base)
    if x.is_Mul:
        word = [a for a in x.args if not a.is_commutative]
        first, last = shape_of(word[0]), shape_of(word[-1])
        return None if first is None or last is None else (first[0], last[1])
    if x.is_Add:
        return next((shape_of(a) for a in x.args if not a.is_commutative), None)
    return None


def lengths_of(x: Expr) -> tuple[Expr, ...]:
    """The sizes of a symbol's axes: none of a number, one of a vector, two of a matrix."""
    return tuple(s for s in getattr(x, "shape", ()) if s != 1)


def axes_of(x: Expr) -> tuple[str, ...]:
    """The sizes of a symbol's axes as names."""
    return tuple(str(s).replace(" ", "") for s in lengths_of(x))


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
    """tr(X): linear, cyclic, blind to the transpose; tr(c) = c n for a multiple of the identity.

    A second argument is the number of rows where that is not d.
    """

    nargs = (1, 2)

    def _eval_is_commutative(self) -> bool:
        return True

    @classmethod
    def eval(cls, x: Expr, rows: Expr = None) -> Expr:
        from blrgen.algebra.words import normal, split

        plain = rows is None
        rows = rows_of(x) if plain else rows
        if x.is_commutative:
            return x * rows
        x = normal(x)
        if x.is_Add:
            return sp.Add(*[cls(a, rows) for a in x.args])
        coefficient, word = split(x)
        if not word:
            return coefficient * rows
        least = _least_rotation(word)
        rows = rows_of(least[0])
        told = rows if rows not in (DIM, 1) else None
        if coefficient == 1 and least == word and told is None and plain:
            return None
        body = sp.Mul(*least, evaluate=False) if len(least) > 1 else least[0]
        return coefficient * _held(cls, body, told)


def rows_of(x: Expr) -> Expr:
    """The number of rows of an expression, d when it does not say."""
    shape = shape_of(x)
    return DIM if shape is None else shape[0]


def _held(cls: Any, body: Expr, rows: Expr) -> Expr:
    """cls(body) as it stands, with the number of rows where there is something to tell."""
    return (
        sp.Function.__new__(cls, body, evaluate=False)
        if rows is None
        else sp.Function.__new__(cls, body, rows, evaluate=False)
    )


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
    """log|det X| of a positive definite X; scalar factors come out, inverses change the sign.

    A second argument is the number of rows where that is not d.
    """

    nargs = (1, 2)

    def _eval_is_commutative(self) -> bool:
        return True

    @classmethod
    def eval(cls, x: Expr, rows: Expr = None) -> Expr:
        from blrgen.algebra.words import normal, split

        rows = rows if rows is not None else rows_of(x)
        if x.is_commutative:
            return rows * sp.log(x)
        if x.is_Add:
            x = normal(x)
        if x.is_Mul:
            coefficient, word = split(x)
            sign = -1 if coefficient.could_extract_minus_sign() else 1
            if coefficient != sign:
                return rows * sp.log(sign * coefficient) + cls(sign * sp.Mul(*word), rows)
        if x.is_Pow and x.exp.is_Integer:
            return x.exp * cls(x.base, rows)
        return _held(cls, x, rows if rows != DIM else None)


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
