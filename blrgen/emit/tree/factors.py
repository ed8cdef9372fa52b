"""Linear algebra on small matrices, step by step: what the support functions do, as a tree."""

from __future__ import annotations

from collections.abc import Callable

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n

Body = tuple[t.Statement, ...]
Sizes = dict[str, tuple[int, ...]]
Matrix = Callable[..., t.Entry]


def factors(call: t.Invoke, small: Sizes) -> Body | None:
    """The steps of a call on matrices of known sizes; None where that is not so."""
    steps = STEPS.get(call.function)
    of = [small.get(_array(x), ()) if isinstance(x, n.Sym) else () for x in call.args]
    square = next((x for x in of[:2] if len(x) == 2 and x[0] == x[1]), None)
    if steps is None or (call.function == "_ldlsolve" and not of[0]) or square is None:
        return None
    columns = [x[1] for x in of[1:] if len(x) == 2] if call.function == "_ldlsolve" else []
    if call.function == "_ldlsolve" and not columns:
        return None
    return tuple(steps(square[0], *columns[:1], *map(_matrix, call.args)))


def _array(x: n.Node) -> str:
    return x.array if isinstance(x, t.Entry) else x.name if isinstance(x, n.Sym) else ""


def _matrix(x: n.Node) -> Matrix:
    """The entries of an array, or of the part of one that its first places are."""
    first = x.index if isinstance(x, t.Entry) else ()
    return lambda *places: t.Entry(_array(x), (*first, *map(t.Whole, places)))


def _less(start: n.Node, *products: tuple[n.Node, n.Node]) -> n.Node:
    """Start − Σ left · right."""
    return n.add(start, *(n.neg(n.mul(x, y)) for x, y in products))


def _ldl(d: int, a: Matrix, factor: Matrix) -> list[t.Statement]:
    """L D Lᵀ = a: L below the diagonal, D L above it (turned), 1/D on it."""
    out: list[t.Statement] = []
    for i in range(d):
        for j in range(i):
            done = ((factor(k, i), factor(j, k)) for k in range(j))
            out.append(t.Assign(factor(j, i), _less(a(i, j), *done)))
        for j in range(i):
            out.append(t.Assign(factor(i, j), n.mul(factor(j, i), factor(j, j))))
        done = ((factor(k, i), factor(i, k)) for k in range(i))
        pivot = factor(i, i)
        out.append(t.Assign(pivot, _less(a(i, i), *done)))
        over = n.Select(n.Compare(">", pivot, n.ZERO), n.div(n.ONE, pivot), n.Named("nan"))
        out.append(t.Assign(pivot, over))
    return out


def _ldlsolve_vector(d: int, factor: Matrix, b: Matrix, x: Matrix) -> list[t.Statement]:
    """x = (L D Lᵀ)⁻¹ b."""
    out: list[t.Statement] = []
    for i in range(d):
        done = ((factor(i, k), x(k)) for k in range(i))
        out.append(t.Assign(x(i), _less(b(i), *done)))
    for i in range(d - 1, -1, -1):
        done = ((factor(k, i), x(k)) for k in range(i + 1, d))
        out.append(t.Assign(x(i), _less(n.mul(x(i), factor(i, i)), *done)))
    return out


def _ldlsolve(d: int, columns: int, factor: Matrix, b: Matrix, x: Matrix) -> list[t.Statement]:
    """The same, column by column."""

    def column(matrix: Matrix, j: int) -> Matrix:
        return lambda i: matrix(i, j)

    every = range(columns)
    return [s for j in every for s in _ldlsolve_vector(d, factor, column(b, j), column(x, j))]


STEPS: dict[str, Callable[..., list[t.Statement]]] = {
    "_ldl": _ldl,
    "_ldlsolve": _ldlsolve,
    "_ldlsolve_vector": _ldlsolve_vector,
}
