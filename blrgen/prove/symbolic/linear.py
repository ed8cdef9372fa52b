"""Vectors and matrices of symbolic size, behaving as NumPy arrays do.

A one-dimensional array is a "vector"; adding a number adds it to every entry, which
is number · 1 or number · 1 1ᵀ with the vector of ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.ranks import DIM, T, logdet, mat, trace
from blrgen.prove.field import Mod, Rows, invert
from blrgen.prove.matrices import ONES
from blrgen.prove.symbolic.arrays import SymArray, array, asarray
from blrgen.prove.symbolic.number import (
    FLOAT,
    NUMBERS,
    CannotRun,
    Sym,
    Truth,
    context,
    exact,
    expr_of,
)

Expr = Any
_SIZE = 1_000_003  # what __len__ says; `len` in the running source gives a Dim


class Dim(int):
    """The unknown size d: usable as a shape, an expression in arithmetic."""

    def __new__(cls) -> Dim:
        return super().__new__(cls, _SIZE)

    def _sym(self) -> Sym:
        return Sym(DIM)

    def __add__(self, o: Any) -> Any:
        return self._sym() + o

    __radd__ = __add__

    def __mul__(self, o: Any) -> Any:
        return self._sym() * o

    __rmul__ = __mul__

    def __sub__(self, o: Any) -> Any:
        return self._sym() - o

    def __truediv__(self, o: Any) -> Any:
        return self._sym() / o

    def __rtruediv__(self, o: Any) -> Any:
        return o / self._sym()

    def __eq__(self, o: object) -> bool:
        if isinstance(o, Dim):
            return True
        raise CannotRun("the size is not a fixed number")

    def __ne__(self, o: object) -> bool:
        return not self == o

    def __hash__(self) -> int:
        return _SIZE

    def __lt__(self, o: Any) -> bool:
        raise CannotRun("the size is not a fixed number")

    __gt__ = __le__ = __ge__ = __lt__


class NC:
    """A vector or matrix of symbolic size; `kind` is vector, column, row or matrix."""

    nc = True
    __array_ufunc__ = None
    __array_priority__ = 1000.0

    def __init__(self, e: Expr, kind: str) -> None:
        self.e, self.kind = e, kind

    # shape ----------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[Any, ...]:
        d = Dim()
        return {"vector": (d,), "column": (d, 1), "row": (1, d), "matrix": (d, d)}[self.kind]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        return Sym(DIM**2) if self.kind == "matrix" else Dim()

    @property
    def dtype(self) -> Any:
        return FLOAT

    @property
    def T(self) -> NC:
        if self.kind == "vector":
            return self
        return NC(T(self.e), {"column": "row", "row": "column"}.get(self.kind, self.kind))

    def transpose(self, *_: Any) -> NC:
        return self.T

    def copy(self, *_: Any, **__: Any) -> NC:
        return NC(self.e, self.kind)

    def astype(self, *_: Any, **__: Any) -> NC:
        return self.copy()

    def reshape(self, *shape: Any, **_: Any) -> NC:
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if self.kind == "matrix":
            if len(shape) == 2:
                return self
            raise CannotRun("a matrix reshaped")
        if len(shape) == 1:
            return NC(self._column(), "vector")
        return NC(self._column(), "column") if shape[1] == 1 else NC(T(self._column()), "row")

    def ravel(self, *_: Any) -> NC:
        return self.reshape(-1)

    flatten = ravel

    def _column(self) -> Expr:
        return T(self.e) if self.kind == "row" else self.e

    def __len__(self) -> int:
        return _SIZE

    # arithmetic -----------------------------------------------------------------------
    def _plus(self, o: Any, sign: int) -> Expr:
        if isinstance(o, NC):
            if o.kind != self.kind:
                raise CannotRun(f"a {self.kind} plus a {o.kind}")
            return self.e + sign * o.e
        c = _scalar(o)
        return self.e if c == 0 else self.e + sign * c * self._ones()

    def _ones(self) -> Expr:
        return {"matrix": ONES * T(ONES), "row": T(ONES)}.get(self.kind, ONES)

    def __add__(self, o: Any) -> NC:
        return NC(self._plus(o, 1), self.kind)

    __radd__ = __add__

    def __sub__(self, o: Any) -> NC:
        return NC(self._plus(o, -1), self.kind)

    def __rsub__(self, o: Any) -> NC:
        return -(self - o)

    def __neg__(self) -> NC:
        return NC(-self.e, self.kind)

    def __pos__(self) -> NC:
        return self

    def _times(self, o: Any) -> Expr:
        if isinstance(o, NC):
            raise CannotRun("a product entry by entry of matrices of any size")
        return _scalar(o) * self.e

    def __mul__(self, o: Any) -> NC:
        if isinstance(o, NC) and {o.kind, self.kind} == {"column", "row"}:
            a, b = (self, o) if self.kind == "column" else (o, self)
            return NC(a.e * b.e, "matrix")
        return NC(self._times(o), self.kind)

    __rmul__ = __mul__

    def __truediv__(self, o: Any) -> NC:
        if isinstance(o, NC):
            raise CannotRun("a quotient entry by entry of matrices of any size")
        return NC(self.e / _scalar(o), self.kind)

    def __rtruediv__(self, o: Any) -> NC:
        raise CannotRun("a quotient entry by entry of matrices of any size")

    def __pow__(self, o: Any) -> NC:
        raise CannotRun("a power entry by entry of a matrix of any size")

    def _set(self, e: Expr) -> NC:
        self.e = e
        return self

    def __iadd__(self, o: Any) -> NC:
        return self._set(self._plus(o, 1))

    def __isub__(self, o: Any) -> NC:
        return self._set(self._plus(o, -1))

    def __imul__(self, o: Any) -> NC:
        return self._set(self._times(o))

    def __itruediv__(self, o: Any) -> NC:
        return self._set((self / o).e)

    def __matmul__(self, o: Any) -> Any:
        if not isinstance(o, NC):
            raise CannotRun("a product with an array of fixed size")
        a, b = self.kind, o.kind
        if a == "vector" and b == "vector" or a == "row" and b == "column":
            return Sym(trace(T(self._column()) * o.e))
        if a == "row" and b == "vector":
            return array([Sym(trace(T(self._column()) * o.e))])
        if a == "vector" and b == "matrix":
            return NC(T(o.e) * self.e, "vector")
        kind = {("matrix", "matrix"): "matrix", ("matrix", "vector"): "vector",
                ("matrix", "column"): "column", ("row", "matrix"): "row",
                ("column", "row"): "matrix"}.get((a, b))  # fmt: skip
        if kind is None:
            raise CannotRun(f"a {a} times a {b}")
        return NC(self.e * o.e, kind)

    dot = __matmul__

    def sum(self, *_: Any, **__: Any) -> Sym:
        if self.kind == "matrix":
            return Sym(trace(ONES * T(ONES) * self.e))
        return Sym(trace(T(ONES) * self._column()))

    def trace(self, *_: Any) -> Sym:
        return Sym(trace(self.e))

    def mean(self, *_: Any, **__: Any) -> Any:
        return self.sum() / self.size

    # indices --------------------------------------------------------------------------
    def __getitem__(self, key: Any) -> Any:
        if _whole(key):
            return self
        if isinstance(key, Diagonal):
            return Diagonal(self)
        if isinstance(key, tuple) and len(key) == 2 and self.kind == "vector":
            if key[1] is None:
                return NC(self.e, "column")
            if key[0] is None:
                return NC(T(self.e), "row")
        raise CannotRun("single entries of a matrix of any size")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Diagonal) and isinstance(value, Diagonal):
            return
        if not _whole(key):
            raise CannotRun("single entries of a matrix of any size")
        if isinstance(value, NC):
            if value.kind != self.kind:
                raise CannotRun(f"a {value.kind} put into a {self.kind}")
            self.e = value.e
        else:
            self.e = _scalar(value) * self._ones()

    def __iter__(self) -> Any:
        raise CannotRun("single entries of a matrix of any size")

    @property
    def flat(self) -> Flat:
        return Flat(self)

    def _order(self, o: Any) -> Any:
        raise CannotRun("a comparison of matrices")

    __lt__ = __le__ = __gt__ = __ge__ = _order

    def __eq__(self, o: object) -> Any:
        raise CannotRun("a comparison of matrices")

    __hash__ = object.__hash__


class Diagonal:
    """The diagonal of a matrix, to which a number may be added."""

    def __init__(self, of: NC | None = None) -> None:
        self.of = of

    def __iadd__(self, o: Any) -> Diagonal:
        assert self.of is not None
        self.of.e = self.of.e + _scalar(o)
        return self

    def __isub__(self, o: Any) -> Diagonal:
        return self.__iadd__(-o)


class Flat:
    """S.flat[:: d + 1], which is the diagonal."""

    def __init__(self, of: NC) -> None:
        self.of = of

    def __getitem__(self, key: Any) -> Diagonal:
        if isinstance(key, slice) and isinstance(key.step, Sym) and key.step.e == DIM + 1:
            return Diagonal(self.of)
        raise CannotRun("single entries of a matrix of any size")

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(value, Diagonal):
            raise CannotRun("single entries of a matrix of any size")


def _whole(key: Any) -> bool:
    keys = key if isinstance(key, tuple) else (key,)
    return all(k is Ellipsis or (isinstance(k, slice) and k == slice(None)) for k in keys)


def _scalar(x: Any) -> Expr:
    if isinstance(x, Sym | Truth) or isinstance(x, NUMBERS):
        return expr_of(x)
    if isinstance(x, np.ndarray) and x.size == 1:
        return expr_of(x.reshape(-1)[0])
    raise CannotRun(f"a {type(x).__name__} combined with a matrix of any size")


def call(f: Callable[..., Any], args: tuple[Any, ...], out: Any) -> Any:
    """A ufunc with a matrix of any size among its arguments."""
    result = f(*[a if isinstance(a, NC) else exact(a) for a in args])
    if not isinstance(result, NC):
        raise CannotRun("a function entry by entry of a matrix of any size")
    if out is None:
        return result
    out = out[0] if isinstance(out, tuple) else out
    out[...] = result
    return out


# functions --------------------------------------------------------------------------------
class Factor:
    """A Cholesky factorisation: only good for solving with it."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def copy(self) -> Factor:
        return self


def _rows(a: Any) -> Rows:
    return tuple(tuple(r) for r in asarray(a).view(np.ndarray))


def inverse(a: Any) -> Any:
    if isinstance(a, NC):
        if a.kind != "matrix":
            raise CannotRun(f"the inverse of a {a.kind}")
        return NC(a.e**-1, "matrix")
    return array([list(r) for r in invert(_exact_rows(a))[0]])


def _exact_rows(a: Any) -> Rows:
    rows = _rows(a)
    if any(isinstance(x, Sym) and x.e.free_symbols for r in rows for x in r):
        raise CannotRun("a linear system with symbols in it")
    if any(isinstance(x, Mod) for r in rows for x in r):
        return tuple(tuple(x._mod() if isinstance(x, Sym) else x for x in r) for r in rows)
    raise CannotRun("a linear system")


def solve(a: Any, b: Any, *_: Any, **__: Any) -> Any:
    if isinstance(a, Factor):
        return solve(a.of, b)
    if isinstance(a, NC):
        if not isinstance(b, NC):
            raise CannotRun("a right side of fixed size")
        if a.kind != "matrix":
            raise CannotRun(f"a linear system with a {a.kind}")
        if b.kind == "row":
            raise CannotRun("a row as right side")
        return NC(a.e**-1 * b.e, b.kind)
    return inverse(a) @ asarray(b)


def cholesky(a: Any, *_: Any, lower: bool = False, upper: bool = False, numpy: bool = True, **__: Any) -> Any:
    """The lower factor L with L Lᵀ = A as a letter of its own (SciPy's default is the upper)."""
    if not isinstance(a, NC):
        raise CannotRun("a Cholesky factor of numbers modulo a prime")
    known = context().factors
    for letter, matrix in known.items():
        if matrix == a.e:
            break
    else:
        letter = mat(f"chol_{len(known) + 1}")
        known[letter] = a.e
    return NC(T(letter) if upper or not (lower or numpy) else letter, "matrix")


def triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, **_: Any
) -> Any:
    if unit_diagonal or not isinstance(a, NC):
        raise CannotRun("a triangular system of this form")
    expected = "lower" if a.e in context().factors else "upper"
    if (a.e not in context().factors and T(a.e) not in context().factors) or (
        lower != (expected == "lower")
    ):
        raise CannotRun("one triangle of a matrix that is not a Cholesky factor")
    return solve(a.T if trans in (1, 2, "T", "C") else a, b)


def without_factors(e: Expr, factors: dict[Expr, Expr]) -> Expr:
    """L⁻ᵀ L⁻¹ → A⁻¹ and L Lᵀ → A in every word."""
    from blrgen.algebra.words import collect_words

    if not factors or e.is_commutative:
        return e
    out = sp.S.Zero
    for word, c in collect_words(e).items():
        letters = list(word)
        for letter, matrix in factors.items():
            for pair, new in (((T(letter) ** -1, letter**-1), matrix**-1), ((letter, T(letter)), matrix)):
                k = 0
                while k + 1 < len(letters):
                    if (letters[k], letters[k + 1]) == pair:
                        letters[k : k + 2] = [new]
                    k += 1
        out += c * sp.Mul(*letters)
    return out


def eye(n: Any, *_: Any, **__: Any) -> Any:
    if isinstance(n, Dim):
        return NC(sp.S.One, "matrix")
    return array(np.eye(int(n), dtype=int))


def filled(shape: Any, value: Any) -> Any:
    """np.full, for fixed and for unknown sizes."""
    shape = shape if isinstance(shape, tuple | list) else (shape,)
    if any(isinstance(n, Dim) for n in shape):
        kinds = {(True,): "vector", (True, True): "matrix", (True, False): "column", (False, True): "row"}
        out = NC(sp.S.Zero, kinds[tuple(isinstance(n, Dim) for n in shape)])
        out[...] = value
        return out
    whole = tuple(int(n) for n in shape)
    out = np.empty(whole, dtype=object)
    out.fill(exact(value))
    return out.view(SymArray)


def like(x: Any, value: Any) -> Any:
    if isinstance(x, NC):
        out = NC(sp.S.Zero, x.kind)
        out[...] = value
        return out
    if isinstance(x, Sym | Mod | int | float):
        return filled((), value)
    return filled(asarray(x).shape, value)


def outer(a: Any, b: Any, out: Any = None) -> Any:
    if isinstance(a, NC) and isinstance(b, NC):
        result: Any = NC(a._column() * T(b._column()), "matrix")
    else:
        x, y = asarray(a).reshape(-1), asarray(b).reshape(-1)
        result = x[:, None] * y[None, :]
    if out is not None:
        out[...] = result
        return out
    return result


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    result = a @ b if isinstance(a, NC) or isinstance(b, NC) else _dot(a, b)
    if out is not None:
        out[...] = result
        return out
    return result


def _dot(a: Any, b: Any) -> Any:
    result = np.dot(asarray(a).view(np.ndarray), asarray(b).view(np.ndarray))
    return array(result) if isinstance(result, np.ndarray) else result


def traced(a: Any, *_: Any, **__: Any) -> Any:
    return a.trace() if isinstance(a, NC) else asarray(a).trace()


def slogdet(a: Any) -> Any:
    if isinstance(a, NC):
        return exact(1), Sym(logdet(a.e))
    raise CannotRun("a determinant")


def norm(a: Any, *args: Any, **kwargs: Any) -> Any:
    if args or kwargs:
        raise CannotRun("a norm other than the Euclidean one")
    if isinstance(a, NC):
        return Sym(sp.sqrt(trace(T(a.e) * a.e)))
    flat = asarray(a).reshape(-1)
    return _dot(flat, flat) ** exact(0.5)


def fill_diagonal(a: Any, value: Any, **_: Any) -> None:
    if isinstance(a, NC):
        raise CannotRun("the diagonal of a matrix of any size replaced")
    for i in range(min(a.shape)):
        a[i, i] = value[i] if isinstance(value, np.ndarray) else value


def symmetrised(a: Any) -> Any:
    return (a + a.T) / exact(2)
