"""Routines of LAPACK and BLAS on numbers modulo a prime, as their documentation says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from blrgen.decide.field import Mod
from blrgen.validate.symbolic import linalg
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.number import CannotRun
from blrgen.validate.symbolic.run import Program


def with_lapack(program: Program, routines: dict[str, Callable[..., Any]] | None) -> None:
    """Give an emitted file these routines, or say that there are none."""
    if "_lapack" in program.names:
        program.names["_lapack"] = lambda name, like: None if routines is None else routines[name]


def triangular(a: Any, lower: int) -> Any:
    """The triangle of `a` that a routine reads."""
    d = len(a)
    return array([[a[i, j] if (j <= i if lower else j >= i) else Mod(0) for j in range(d)]
                  for i in range(d)])  # fmt: skip


def _potrf(a: Any, lower: int = 0, overwrite_a: int = 0, clean: int = 1) -> Any:
    """L below the diagonal and on it; what is above is cleared, or stays as it is."""
    if not lower:
        raise CannotRun("an upper factor")
    out = a if overwrite_a else a.copy()
    for j in range(len(a)):
        left = out[j, :j]
        out[j, j] = (out[j, j] - sum(left * left)) ** sp.Rational(1, 2)
        for i in range(j + 1, len(a)):
            out[i, j] = (out[i, j] - sum(out[i, :j] * left)) / out[j, j]
        if clean:
            out[:j, j] = Mod(0)
    return out, 0


def _potrs(c: Any, b: Any, lower: int = 0, overwrite_b: int = 0) -> Any:
    half = triangular(c, lower)
    return linalg.solve(half @ half.T if lower else half.T @ half, b), 0


def _trtrs(a: Any, b: Any, lower: int = 0, trans: int = 0, **_: Any) -> Any:
    half = triangular(a, lower)
    return linalg.solve(half.T if trans else half, b), 0


def _trsv(a: Any, x: Any, **options: Any) -> Any:
    return _trtrs(a, x, **options)[0]


def _syrk(alpha: Any, a: Any, trans: int = 0, lower: int = 0) -> Any:
    """One triangle is written, and the other is not; what it reads lies by columns."""
    whole = alpha * (a.T @ a if trans else a @ a.T)
    d = range(len(whole))
    return array(
        [[whole[i, j] if i == j or (i > j) == bool(lower) else Mod(7) for j in d] for i in d]
    )


ROUTINES: dict[str, Callable[..., Any]] = {
    "potrf": _potrf,
    "potrs": _potrs,
    "trsv": _trsv,
    "trtrs": _trtrs,
    "syrk": _syrk,
}
