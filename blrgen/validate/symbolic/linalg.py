"""NumPy's and SciPy's linear algebra for matrices of any size and for numbers modulo a prime."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.ranks import T, logdet, mat, trace
from blrgen.decide.field import Mod, Rows, invert
from blrgen.validate.symbolic.arrays import SymArray, array, asarray
from blrgen.validate.symbolic.linear import NC, Dim
from blrgen.validate.symbolic.number import CannotRun, Sym, context, exact

Expr = Any


class Factor:
    """A Cholesky factorisation: only good for solving with it."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def copy(self) -> Factor:
        return self


def _rows(a: Any) -> Rows:
    return tuple(tuple(r) for r in asarray(a).view(np.ndarray))


def inverse(a: Any) -> Any:
    """np.linalg.inv: a letter for any size, elimination for numbers modulo a prime."""
    if isinstance(a, NC):
        if a.kind != "matrix":
            raise CannotRun(f"the inverse of a {a.kind}")
        return NC(_without(a.e) ** -1, "matrix")
    return array([list(r) for r in invert(_exact_rows(a))[0]])


def _exact_rows(a: Any) -> Rows:
    rows = _rows(a)
    if any(isinstance(x, Sym) and x.e.free_symbols for r in rows for x in r):
        raise CannotRun("a linear system with symbols in it")
    if any(isinstance(x, Mod) for r in rows for x in r):
        return tuple(tuple(x._mod() if isinstance(x, Sym) else x for x in r) for r in rows)
    raise CannotRun("a linear system")


def solve(a: Any, b: Any, *_: Any, **__: Any) -> Any:
    """np.linalg.solve."""
    if isinstance(a, Factor):
        return solve(a.of, b)
    if isinstance(a, NC):
        if not isinstance(b, NC):
            raise CannotRun("a right side of fixed size")
        if a.kind != "matrix":
            raise CannotRun(f"a linear system with a {a.kind}")
        if b.kind == "row":
            raise CannotRun("a row as right side")
        return NC(_without(a.e) ** -1 * b.e, b.kind)
    return inverse(a) @ asarray(b)


def cholesky(
    a: Any, *_: Any, lower: bool = False, upper: bool = False, numpy: bool = True, **__: Any
) -> Any:
    """The lower factor L with L Lᵀ = A as a letter of its own (SciPy's default is the upper)."""
    if not isinstance(a, NC):
        raise CannotRun("a Cholesky factor of numbers modulo a prime")
    known = context().factors
    e = _without(a.e)
    letter = next((x for x, matrix in known.items() if matrix == e), None)
    if letter is None:
        letter = mat(f"chol_{len(known) + 1}")
        known[letter] = e
    return NC(T(letter) if upper or not (lower or numpy) else letter, "matrix")


def triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, **_: Any
) -> Any:
    """scipy.linalg.solve_triangular with a Cholesky factor."""
    if unit_diagonal or not isinstance(a, NC):
        raise CannotRun("a triangular system of this form")
    expected = "lower" if a.e in context().factors else "upper"
    if (a.e not in context().factors and T(a.e) not in context().factors) or (
        lower != (expected == "lower")
    ):
        raise CannotRun("one triangle of a matrix that is not a Cholesky factor")
    return solve(a.T if trans in (1, 2, "T", "C") else a, b)


def _without(e: Expr) -> Expr:
    """A matrix before it is inverted: behind an inverse no factors are found any more."""
    known = context().factors
    return without_factors(e, known) if e.free_symbols & known.keys() else e


def without_factors(e: Expr, factors: dict[Expr, Expr]) -> Expr:
    """L⁻ᵀ L⁻¹ → A⁻¹ and L Lᵀ → A in every word."""
    from blrgen.algebra.words import collect_words

    if not factors or e.is_commutative:
        return e
    out = sp.S.Zero
    for word, c in collect_words(e).items():
        letters = list(word)
        for letter, matrix in factors.items():
            for pair, new in (
                ((T(letter) ** -1, letter**-1), matrix**-1),
                ((letter, T(letter)), matrix),
            ):
                k = 0
                while k + 1 < len(letters):
                    if (letters[k], letters[k + 1]) == pair:
                        letters[k : k + 2] = [new]
                    k += 1
        out += c * sp.Mul(*letters)
    return out


def eye(n: Any, *_: Any, **__: Any) -> Any:
    """np.eye."""
    if isinstance(n, Dim):
        return NC(sp.S.One, "matrix")
    return array(np.eye(int(n), dtype=int))


def filled(shape: Any, value: Any) -> Any:
    """np.full, for fixed and for unknown sizes."""
    shape = shape if isinstance(shape, tuple | list) else (shape,)
    if any(isinstance(n, Dim) for n in shape):
        kinds = {
            (True,): "vector",
            (True, True): "matrix",
            (True, False): "column",
            (False, True): "row",
        }
        sized = NC(sp.S.Zero, kinds[tuple(isinstance(n, Dim) for n in shape)])
        sized[...] = value
        return sized
    whole = tuple(int(n) for n in shape)
    out = np.empty(whole, dtype=object)
    out.fill(exact(value))
    return out.view(SymArray)


def unset(x: Any) -> Any:
    """np.empty and np.empty_like: numbers that nobody knows, so that reading one shows."""
    out = like(x, 0) if isinstance(x, NC | np.ndarray) else filled(x, 0)
    if isinstance(out, np.ndarray):
        for place in np.ndindex(out.shape):
            out[place] = Sym(sp.Dummy("unset", real=True))
    return out


def like(x: Any, value: Any) -> Any:
    """np.zeros_like and its relatives."""
    if isinstance(x, NC):
        out = NC(sp.S.Zero, x.kind)
        out[...] = value
        return out
    if isinstance(x, Sym | Mod | int | float):
        return filled((), value)
    return filled(asarray(x).shape, value)


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """np.outer."""
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
    """np.matmul, np.dot."""
    result = a @ b if isinstance(a, NC) or isinstance(b, NC) else _dot(a, b)
    if out is not None:
        out[...] = result
        return out
    return result


def _dot(a: Any, b: Any) -> Any:
    result = np.dot(asarray(a).view(np.ndarray), asarray(b).view(np.ndarray))
    return array(result) if isinstance(result, np.ndarray) else result


def traced(a: Any, *_: Any, **__: Any) -> Any:
    """np.trace."""
    return a.trace() if isinstance(a, NC) else asarray(a).trace()


def slogdet(a: Any) -> Any:
    """np.linalg.slogdet of a positive definite matrix."""
    if isinstance(a, NC):
        return exact(1), Sym(logdet(a.e))
    raise CannotRun("a determinant")


def norm(a: Any, *args: Any, **kwargs: Any) -> Any:
    """The Euclidean norm."""
    if args or kwargs:
        raise CannotRun("a norm other than the Euclidean one")
    if isinstance(a, NC):
        return Sym(sp.sqrt(trace(T(a.e) * a.e)))
    flat = asarray(a).reshape(-1)
    return _dot(flat, flat) ** exact(0.5)


def fill_diagonal(a: Any, value: Any, **_: Any) -> None:
    """np.fill_diagonal."""
    if isinstance(a, NC):
        raise CannotRun("the diagonal of a matrix of any size replaced")
    for i in range(min(a.shape)):
        a[i, i] = value[i] if isinstance(value, np.ndarray) else value
