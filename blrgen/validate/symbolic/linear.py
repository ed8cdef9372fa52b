"""Vectors and matrices of symbolic size, behaving as NumPy arrays do.

A one-dimensional array is a "vector"; adding a number adds it to every entry, which
is number · 1 or number · 1 1ᵀ with the vector of ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blrgen.algebra.ranks import DIM, T, shape_of, trace
from blrgen.decide.matrices import ONES
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.number import (
    FLOAT,
    NUMBERS,
    CannotRun,
    Size,
    Sym,
    Truth,
    exact,
    expr_of,
)

Expr = Any
_SIZE = 1_000_003  # what __len__ says; `len` in the running source gives a Dim


class Dim(Size):
    """An unknown size, d where nothing else is said."""

    def __new__(cls, e: Expr = DIM) -> Dim:
        made = super().__new__(cls, _SIZE + sum(map(ord, str(e))) - ord("d"))
        made.e = e
        return made

    def _sym(self) -> Sym:
        return Sym(self.e)

    def __neg__(self) -> Any:
        return -self._sym()

    def __pow__(self, o: Any, _: Any = None) -> Any:
        return self._sym() ** o

    def __rsub__(self, o: Any) -> Any:
        return o - self._sym()

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
        if isinstance(o, Dim) and o.e == self.e:
            return True
        if self.e.is_Integer and isinstance(o, int):
            return bool(self.e == (o.e if isinstance(o, Dim) else o))
        raise CannotRun("the size is not a fixed number")

    def __ne__(self, o: object) -> bool:
        return not self == o

    def __hash__(self) -> int:
        return hash(self.e)

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
        rows, columns = (size_of(n) for n in shape_of(self.e) or (DIM, DIM))
        return {
            "vector": (rows,), "column": (rows, 1), "row": (1, columns), "matrix": (rows, columns),
        }[self.kind]  # fmt: skip

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        rows, columns = shape_of(self.e) or (DIM, DIM)
        if self.kind == "matrix":
            return Sym(rows * columns)
        return size_of(columns if self.kind == "row" else rows)

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
        return int(self.shape[0])

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
        return NC(-self._plus(o, -1), self.kind)

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
        return self._set(self.e / _scalar(o))

    def __matmul__(self, o: Any) -> Any:
        if not isinstance(o, NC):
            raise CannotRun("a product with an array of fixed size")
        a, b = self.kind, o.kind
        if (a == "vector" and b == "vector") or (a == "row" and b == "column"):
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


def size_of(e: Expr) -> Any:
    """A size as what a shape holds."""
    return 1 if e == 1 else Dim(e)


def _whole(key: Any) -> bool:
    keys = key if isinstance(key, tuple) else (key,)
    return all(k is Ellipsis or (isinstance(k, slice) and k == slice(None)) for k in keys)


def _scalar(x: Any) -> Expr:
    if isinstance(x, (Sym, Truth, *NUMBERS)):
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
