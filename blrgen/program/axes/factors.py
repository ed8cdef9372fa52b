"""Linear algebra of known small sizes, entry by entry.

A = L D Lᵀ with ones on the diagonal of L takes a division for each column and no root; a
definite matrix of size 2 is solved with its adjugate.  Entries that are known to be 0 or 1 go
wherever arithmetic lets them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from blrgen.program import nodes as n
from blrgen.program.arithmetic import less, minus, over, times

Rows = list[list[n.Node]]  # a vector is a column
Named = Callable[[str, n.Node], n.Node]  # an entry under a name of its own


@dataclass(frozen=True)
class Factor:
    """L below its ones, the pivots and their reciprocals; of size 2 the matrix itself."""

    matrix: Rows
    lower: Rows
    pivots: tuple[n.Node, ...]
    over: tuple[n.Node, ...]

    @property
    def volume(self) -> n.Node:
        """log |A|, as the log of the product of the pivots."""
        return n.Call("log", (times(*self.pivots),))


def factored(a: Rows, named: Named, adjugate: bool = True) -> Factor:
    """The factor of a definite matrix, column after column, or of size 2 its adjugate."""
    d = len(a)
    if d == 2 and adjugate:
        det = named("det", minus(times(a[0][0], a[1][1]), times(a[1][0], a[1][0])))
        return Factor(a, [], (det,), (named("over", over(n.ONE, det)),))
    lower: Rows = [[n.ZERO] * d for _ in range(d)]
    before: Rows = [[n.ZERO] * d for _ in range(d)]
    pivots: list[n.Node] = []
    reciprocals: list[n.Node] = []
    for j in range(d):
        for i in range(j, d):
            before[i][j] = named(f"c_{i}_{j}", less(a[i][j], before[i][:j], lower[j][:j]))
        pivots.append(before[j][j])
        reciprocals.append(named(f"over_{j}", over(n.ONE, before[j][j])))
        for i in range(j + 1, d):
            lower[i][j] = named(f"l_{i}_{j}", times(before[i][j], reciprocals[j]))
    return Factor(a, lower, tuple(pivots), tuple(reciprocals))


def solved(f: Factor, b: Rows, named: Named) -> Rows:
    """A⁻¹ b."""
    if len(f.pivots) == 1 and len(f.matrix) == 2:
        return _by_adjugate(f, b)
    below = forward(f, b, named)
    return backward(f, [[times(x, f.over[i]) for x in row] for i, row in enumerate(below)], named)


def forward(f: Factor, b: Rows, named: Named) -> Rows:
    """L⁻¹ b."""
    return substituted(b, range(len(b)), lambda i, k: f.lower[i][k], named, "y")


def backward(f: Factor, b: Rows, named: Named) -> Rows:
    """L⁻ᵀ b."""
    return substituted(b, range(len(b) - 1, -1, -1), lambda i, k: f.lower[k][i], named, "z")


def _by_adjugate(f: Factor, b: Rows) -> Rows:
    (p, _), (q, r) = f.matrix
    (o,) = f.over
    top = [times(minus(times(r, x), times(q, y)), o) for x, y in zip(*b, strict=True)]
    bottom = [times(minus(times(p, y), times(q, x)), o) for x, y in zip(*b, strict=True)]
    return [top, bottom]


def substituted(
    right: Rows,
    order: Sequence[int],
    at: Callable[[int, int], n.Node],
    named: Named,
    stem: str,
    over_pivot: Sequence[n.Node] | None = None,
) -> Rows:
    """Row after row, less what the rows before it take off, over the pivot if there is one."""
    out: Rows = [list(row) for row in right]
    done: list[int] = []
    for i in order:
        for j, b in enumerate(right[i]):
            rest = less(b, [at(i, k) for k in done], [out[k][j] for k in done])
            rest = rest if over_pivot is None else times(rest, over_pivot[i])
            out[i][j] = named(f"{stem}_{i}_{j}", rest)
        done.append(i)
    return out


def root(a: Rows, named: Named) -> Rows:
    """The lower L of L Lᵀ = A."""
    d = len(a)
    out: Rows = [[n.ZERO] * d for _ in range(d)]
    for j in range(d):
        whole = named(f"r_{j}", n.sqrt(less(a[j][j], out[j][:j], out[j][:j])))
        out[j][j] = whole
        if j + 1 < d:
            reciprocal = named(f"over_{j}", over(n.ONE, whole))
        for i in range(j + 1, d):
            rest = less(a[i][j], out[i][:j], out[j][:j])
            out[i][j] = named(f"l_{i}_{j}", times(rest, reciprocal))
    return out


def identity(d: int) -> Rows:
    """Ones on the diagonal."""
    return [[n.ONE if i == j else n.ZERO for j in range(d)] for i in range(d)]
