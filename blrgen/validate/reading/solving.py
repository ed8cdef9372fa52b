"""NumPy's and SciPy's solvers and factorisations: matrix operations as a whole, on known sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.limits import BLOCK_ROWS as LARGEST_BLOCK
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.linear import dot, matmul, matrix, square
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import Array, Cond, List, Num, Text, Whole


def block_entries(
    mc: Machine, op: str, entries: list[Node], order: int, shape: tuple[int, ...]
) -> Any:
    """What a matrix operation gives, entry by entry; that it is defined counts even if unused."""
    if order > LARGEST_BLOCK:
        raise mc.refuse(f"linear algebra of more than {LARGEST_BLOCK} rows")
    mc.spend(len(entries))
    block = mc.graph.block(op, entries, order, shape)
    out = np.empty(shape, dtype=object)
    flat = out.reshape(-1)
    for k in range(flat.size):
        flat[k] = mc.graph.entry(block, k)
    mc.effects.append(flat[0])
    return out


def solved(mc: Machine, a: Array, b: Array) -> Array:
    """A⁻¹ b."""
    n = a.data.shape[0]
    if b.rank not in (1, 2) or b.data.shape[0] != n:
        raise mc.raises("matrices that do not fit")
    width = 1 if b.rank == 1 else b.data.shape[1]
    entries = [*a.data.reshape(-1), *b.data.reshape(-1)]
    out = block_entries(mc, "solve", entries, n, (n, width))
    return Array(out[:, 0] if b.rank == 1 else out)


@meaning("numpy.linalg.solve", text="A⁻¹ b; A must be nonsingular", example="np.linalg.solve(X, x)")
def _solve(mc: Machine, a: Any, b: Any) -> Any:
    return solved(mc, square(mc, a), matrix(mc, b, 1, 2))


@meaning(
    "scipy.linalg.solve",
    text="A⁻¹ b; with assume_a= 'sym' or 'pos' only one triangle is read",
    example="scipy.linalg.solve(X, x)",
)
def _scipy_solve(
    mc: Machine,
    a: Any,
    b: Any,
    *,
    lower: Any = None,
    assume_a: Any = None,
    check_finite: Any = None,
) -> Any:
    x = square(mc, a)
    word = assume_a.text if isinstance(assume_a, Text) else "gen" if assume_a is None else ""
    if word in ("sym", "symmetric", "pos", "positive definite"):
        if not _symmetric(x.data):
            raise mc.refuse("keyword assume_a= of a matrix that is not seen to be symmetric")
        if word.startswith("pos"):
            cholesky_of(mc, x)
    elif word not in ("gen", "general"):
        raise mc.refuse("keyword assume_a= of scipy.linalg.solve")
    return solved(mc, x, matrix(mc, b, 1, 2))


def _symmetric(data: np.ndarray) -> bool:
    """Whether both triangles are the same by the way they are computed."""
    n = data.shape[0]
    return all(_same(data[i, j], data[j, i]) for i in range(n) for j in range(i))


def _same(a: Node, b: Node) -> bool:
    """Equal as written, but for the order of sums and products."""
    if a is b:
        return True
    if a.op != b.op or a.data != b.data or len(a.args) != len(b.args) or a.op == "entry":
        return False
    if a.op == "dot":
        pairs = [
            frozenset((x.index, y.index)) for x, y in zip(a.args[::2], a.args[1::2], strict=True)
        ]
        others = [
            frozenset((x.index, y.index)) for x, y in zip(b.args[::2], b.args[1::2], strict=True)
        ]
        return pairs == others
    return all(_same(x, y) for x, y in zip(a.args, b.args, strict=True))


@meaning(
    "numpy.linalg.inv",
    "scipy.linalg.inv",
    text="A⁻¹; A must be nonsingular",
    example="{name}(X) @ x",
)
def _inv(mc: Machine, a: Any) -> Any:
    x = square(mc, a)
    n = x.data.shape[0]
    return Array(block_entries(mc, "inv", list(x.data.reshape(-1)), n, (n, n)))


def cholesky_of(mc: Machine, x: Array) -> np.ndarray:
    """L with L Lᵀ = A, of the lower triangle; A must be positive definite."""
    n = x.data.shape[0]
    lower = [x.data[max(i, j), min(i, j)] for i in range(n) for j in range(n)]
    out: np.ndarray = block_entries(mc, "cholesky", lower, n, (n, n))
    for i in range(n):
        for j in range(i + 1, n):
            out[i, j] = mc.graph.number(0)
    return out


@meaning(
    "numpy.linalg.cholesky",
    text="L with L Lᵀ = A; A must be positive definite",
    example="np.linalg.cholesky(S) @ x",
)
def _cholesky(mc: Machine, a: Any, /) -> Any:
    return Array(cholesky_of(mc, square(mc, a)))


def flag(mc: Machine, x: Any, default: bool) -> bool:
    """A keyword that is True or False."""
    if x is None:
        return default
    if isinstance(x, Whole):
        return bool(x.value)
    if isinstance(x, Cond) and x.node.op == "truth":
        return bool(x.node.data)
    raise mc.refuse("a keyword that is no truth value")


def _triangle_of(mc: Machine, x: Array, lower: bool) -> Array:
    """A as NumPy's routine reads it: symmetric from one of its triangles."""
    return x if lower else Array(x.data.T)


@meaning(
    "scipy.linalg.cholesky",
    text="U with Uᵀ U = A, or L with lower=True",
    example="scipy.linalg.cholesky(S, lower=True) @ x",
)
def _scipy_cholesky(mc: Machine, a: Any, lower: Any = None, *, check_finite: Any = None) -> Any:
    low = flag(mc, lower, False)
    out = cholesky_of(mc, _triangle_of(mc, square(mc, a), low))
    return Array(out if low else out.T)


@meaning(
    "scipy.linalg.cho_factor",
    text="as scipy.linalg.cholesky; the other triangle holds anything",
    example="scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), x)",
)
def _cho_factor(mc: Machine, a: Any, lower: Any = None, *, check_finite: Any = None) -> Any:
    low = flag(mc, lower, False)
    out = cholesky_of(mc, _triangle_of(mc, square(mc, a), low))
    n = out.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            out[i, j] = mc.graph.unknown()
    return (Array(out if low else out.T), Cond(mc.graph.truth(low)))


@meaning(
    "scipy.linalg.cho_solve",
    text="A⁻¹ b from what cho_factor gave",
    example="scipy.linalg.cho_solve((np.linalg.cholesky(S), True), x)",
)
def _cho_solve(mc: Machine, c_and_lower: Any, b: Any, *, check_finite: Any = None) -> Any:
    if not (isinstance(c_and_lower, tuple) and len(c_and_lower) == 2):
        raise mc.refuse("these arguments of scipy.linalg.cho_solve")
    low = flag(mc, c_and_lower[1], False)
    c = square(mc, c_and_lower[0])
    factor = _one_triangle(mc, c.data if low else c.data.T)
    first = solved(mc, Array(factor), matrix(mc, b, 1, 2))
    return solved(mc, Array(factor.T), first)


def _one_triangle(mc: Machine, data: np.ndarray) -> np.ndarray:
    """The lower triangle, zeros above."""
    out = data.copy()
    zero = mc.graph.number(0)
    for i in range(out.shape[0]):
        for j in range(i + 1, out.shape[1]):
            out[i, j] = zero
    return out


@meaning(
    "scipy.linalg.solve_triangular",
    text="x with T x = b (trans=1: Tᵀ x = b); one triangle is read",
    example="scipy.linalg.solve_triangular(X, x, lower=True)",
)
def _solve_triangular(
    mc: Machine,
    a: Any,
    b: Any,
    trans: Any = None,
    lower: Any = None,
    unit_diagonal: Any = None,
    *,
    check_finite: Any = None,
) -> Any:
    x = square(mc, a)
    low = flag(mc, lower, False)
    data = _one_triangle(mc, x.data) if low else _one_triangle(mc, x.data.T).T.copy()
    if flag(mc, unit_diagonal, False):
        for i in range(data.shape[0]):
            data[i, i] = mc.graph.number(1)
    turned = (
        {"N": False, "T": True, "C": True}.get(trans.text)
        if isinstance(trans, Text)
        else flag(mc, trans, False)
    )
    if turned is None or (isinstance(trans, Whole) and trans.value not in (0, 1, 2)):
        raise mc.refuse("keyword trans= of scipy.linalg.solve_triangular")
    return solved(mc, Array(data.T if turned else data), matrix(mc, b, 1, 2))


@meaning(
    "scipy.linalg.lapack.dposv",
    text="(factor, A⁻¹ b, 0)",
    example="scipy.linalg.lapack.dposv(S, x)[1]",
)
def _dposv(mc: Machine, a: Any, b: Any, /) -> Any:
    factor, _ = _cho_factor(mc, a)
    return (
        factor,
        solved(mc, Array(_full(square(mc, a).data, lower=False)), matrix(mc, b, 1, 2)),
        Whole(0),
    )


def _full(data: np.ndarray, *, lower: bool) -> np.ndarray:
    """The symmetric matrix of one triangle."""
    out = data.copy()
    for i in range(out.shape[0]):
        for j in range(i):
            if lower:
                out[j, i] = out[i, j]
            else:
                out[i, j] = out[j, i]
    return out


@meaning("numpy.linalg.det", text="the determinant", example="x + np.linalg.det(X)")
def _det(mc: Machine, a: Any, /) -> Any:
    return Num(determinant(mc, a))


def determinant(mc: Machine, a: Any) -> Node:
    """det A, as a number."""
    x = square(mc, a)
    if x.data.shape[0] > LARGEST_BLOCK:
        raise mc.refuse(f"linear algebra of more than {LARGEST_BLOCK} rows")
    block = mc.graph.block("det", list(x.data.reshape(-1)), x.data.shape[0], (1,))
    return mc.graph.entry(block, 0)


@meaning(
    "numpy.linalg.matrix_power",
    text="Aⁿ for a known whole n ≥ 1",
    example="np.linalg.matrix_power(X, 2) @ x",
)
def _power(mc: Machine, a: Any, n: Any, /) -> Any:
    if not isinstance(n, Whole) or n.mark or not 1 <= n.value <= 8:
        raise mc.refuse("np.linalg.matrix_power to this power")
    x = square(mc, a)
    out: Any = x
    for _ in range(n.value - 1):
        out = matmul(mc, out, x)
    return out


@meaning(
    "numpy.linalg.multi_dot",
    text="the product of several matrices",
    example="np.linalg.multi_dot([X, X, x])",
)
def _multi_dot(mc: Machine, arrays: Any, /) -> Any:
    from functools import reduce

    from blrgen.validate.reading import loops

    parts = loops.finite(mc, arrays if isinstance(arrays, List | tuple) else [])
    return reduce(lambda a, b: matmul(mc, a, b), parts)


@meaning("numpy.linalg.norm", text="√Σx² of a vector", example="x + np.linalg.norm(x)")
def _norm(mc: Machine, x: Any, /) -> Any:
    v = matrix(mc, x, 1)
    return Num(mc.graph.make("sqrt", (dot(mc, v.data, v.data),)))
