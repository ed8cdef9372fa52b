"""Factors of matrices that only solve: LU, and the logarithm of a determinant with its sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.validate.reading.linear import matrix, square
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.solving import determinant, flag, solved
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import Array, Num, Pivots, Text, Whole


@meaning(
    "scipy.linalg.lu_factor",
    text="factors of A that hold anything, for lu_solve",
    example="scipy.linalg.lu_solve(scipy.linalg.lu_factor(X), x)",
)
def _lu_factor(mc: Machine, a: Any, /, *, check_finite: Any = None) -> Any:
    x = square(mc, a)
    data = np.empty(x.data.shape, dtype=object)
    flat = data.reshape(-1)
    mc.spend(flat.size)
    for k in range(flat.size):
        flat[k] = mc.graph.unknown()
    return (Array(data), Pivots(Array(x.data.copy()), data.copy()))


@meaning(
    "scipy.linalg.lu_solve",
    text="A⁻¹ b from what lu_factor gave, unchanged; A⁻ᵀ b with trans=1",
    example="scipy.linalg.lu_solve(scipy.linalg.lu_factor(X), x, trans=1)",
)
def _lu_solve(
    mc: Machine, lu_and_piv: Any, b: Any, trans: Any = None, *, check_finite: Any = None
) -> Any:
    if not (isinstance(lu_and_piv, tuple) and len(lu_and_piv) == 2):
        raise mc.refuse("these arguments of scipy.linalg.lu_solve")
    lu, pivots = lu_and_piv
    if not (isinstance(lu, Array) and isinstance(pivots, Pivots)):
        raise mc.refuse("factors that are not those of lu_factor")
    pairs = zip(lu.data.reshape(-1), pivots.factors.reshape(-1), strict=False)
    if lu.data.shape != pivots.factors.shape or any(x is not y for x, y in pairs):
        raise mc.refuse("factors that are not those of lu_factor")
    if isinstance(trans, Text) or (isinstance(trans, Whole) and trans.value not in (0, 1, 2)):
        raise mc.refuse("keyword trans= of scipy.linalg.lu_solve")
    a = pivots.matrix.data
    return solved(mc, Array(a.T if flag(mc, trans, False) else a), matrix(mc, b, 1, 2))


@meaning(
    "numpy.linalg.slogdet",
    text="the sign of the determinant, and log |det A|",
    example="x + np.linalg.slogdet(S)[1]",
)
def _slogdet(mc: Machine, a: Any, /) -> Any:
    det = determinant(mc, a)
    size = mc.graph.make("abs", (det,))
    return (Num(mc.graph.make("sign", (det,))), Num(mc.graph.make("log", (size,))))
