"""Quadratic forms by half of their symmetric matrix.

    y[n,i] = sum(j, P[i,j] * x[n,j]); q[n] = sum(i, x[n,i] * y[n,i])   with P symmetric
    →   P_half[i,j] = (2 - [i == j]) * P[i,j]; y[n,i] = sum(j ≤ i, P_half[i,j] * x[n,j]); …

That is so where nothing else reads y, and P does not vary with x's rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh

Form = tuple[a.Ref, n.Node, n.Node]  # the matrix, and the vector at its two letters


def halved(program: a.Program) -> a.Program:
    """The program after `contracted` with bounds on the inner sums of such forms."""
    structures, names = program.structures, taken(program)
    lets = {s.name: s for s in program.lets}
    found: dict[str, Form] = {}
    for s in program.lets:
        for name in _sums_over(s):
            inner = lets.get(name)
            if inner is not None and _readers(program, name) == [s.name]:
                form = _form(s, inner, structures)
                if form is not None:
                    found[name] = form

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        if s.name not in found:
            return (s,)
        matrix, _, vector = found[s.name]
        half = fresh(f"{matrix.name}_half", names)
        names.add(half)
        row, column = (x for i in matrix.index[-2:] for x in a.free(i))
        letters = program.arranged(dict.fromkeys(a.free(matrix)))
        weight = n.Sub(n.Const.of(2), a.Is(a.Ix(row), a.Ix(column)))
        own = a.Ref(half, tuple(map(a.Ix, letters)))
        assert isinstance(s.expr, a.Red)
        (summed,) = s.expr.letters
        other = row if summed == column else column
        expr = replace(s.expr, arg=n.mul(vector, own))
        whole = a.Let(half, letters, n.mul(weight, matrix))
        return whole, replace(s, expr=expr, bounds=((summed, other),))

    return replace(program, body=a.mapped(program.body, let))


def _sums_over(s: a.Let) -> list[str]:
    """What stands in the product that the equation sums over one letter."""
    e = s.expr
    if not isinstance(e, a.Red) or e.op != "sum" or len(e.letters) != 1 or s.first is not None:
        return []
    return [f.name for f in _factors(e.arg) if isinstance(f, a.Ref)]


def _form(outer: a.Let, inner: a.Let, structures: dict[str, str]) -> Form | None:
    """The parts of Σ_i x_i Σ_j P_ij x_j, if that is what both equations are."""
    e, f = outer.expr, inner.expr
    if not isinstance(e, a.Red) or not isinstance(f, a.Red) or f.op != "sum":
        return None
    if len(f.letters) != 1 or inner.first is not None or inner.bounds or inner.at:
        return None
    left = [x for x in _factors(e.arg) if not (isinstance(x, a.Ref) and x.name == inner.name)]
    reads = [x for x in _factors(e.arg) if x not in left]
    right = _factors(f.arg)
    if len(left) != 1 or len(right) != 2 or reads != [a.ref(inner.name, *inner.letters)]:
        return None
    (i,), (j,) = e.letters, f.letters
    for matrix, vector in (right, right[::-1]):
        symmetric = isinstance(matrix, a.Ref) and structures.get(matrix.name) in ("sym", "spd")
        if not symmetric or not isinstance(matrix, a.Ref):
            continue
        pair = matrix.index[-2:]
        if set(pair) != {a.Ix(i), a.Ix(j)}:
            continue
        apart = set(a.free(matrix)) < {*inner.letters, j}
        if apart and a.swapped(left[0], {i: a.Ix(j)}) == vector:
            return matrix, left[0], vector
    return None


def _readers(program: a.Program, name: str) -> Sequence[str]:
    kept = {*program.outs, *(y for _, y in program.writes)}
    found = [s.name for s in program.lets for e in (*s.expressions, *s.at) if name in e.names]
    return [*found, *(x for x in kept if x == name)]


def _factors(e: n.Node) -> tuple[n.Node, ...]:
    return e.args if isinstance(e, n.Mul) else (e,)
