"""Matrices of mpmath's numbers: pivots, inverses, and multiples that share them.

A `Table` is a NumPy array of mpf that keeps what was computed of it.  c·A has c times the
pivots of A and 1/c times its inverse, so that a factor that changes from step to step costs
nothing more.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

Number = Any


class NotDefinite(ValueError):
    """The matrix is not positive definite."""


class Singular(ValueError):
    """The matrix has no inverse."""


class Table(np.ndarray):
    """An array of numbers with the memory of its pivots, its inverse, and what it is c times."""

    multiple: tuple[Number, Table] | None = None
    known_pivots: list[Number] | None = None
    known_inverse: Table | None = None

    def times(self, c: Number) -> Table:
        """c·A, which knows what it is made of."""
        made: Table = np.multiply(self, c).view(Table)
        before, base = self.multiple or (mpmath.mpf(1), self)
        made.multiple = (before * c, base)
        return made

    @property
    def pivots(self) -> list[Number]:
        """The pivots, all positive, of a symmetric matrix; `NotDefinite` where there are none."""
        if self.multiple is not None:
            c, base = self.multiple
            if c > 0:
                return [c * p for p in base.pivots]
        if self.known_pivots is None:
            self.known_pivots = factors(self)[1]
        return self.known_pivots

    @property
    def inverse(self) -> Table:
        """A⁻¹; `Singular` where there is none."""
        if self.known_inverse is None:
            if self.multiple is not None and self.multiple[0] != 0:
                c, base = self.multiple
                made = base.inverse.times(1 / c)
            else:
                made = _inverse(self)
                made.known_inverse = self
            self.known_inverse = made
        return self.known_inverse


def table(value: Any) -> Table:
    """An array of numbers as a table."""
    return value if isinstance(value, Table) else np.array(value, dtype=object).view(Table)


def filled(shape: tuple[int, int], value: Any) -> Table:
    """Numbers that are all the same."""
    made = np.empty(shape, dtype=object)
    made.fill(value)
    return made.view(Table)


def unit(value: Any, n: int) -> Table:
    """A multiple of the identity."""
    made = filled((n, n), mpmath.mpf(0))
    for i in range(n):
        made[i, i] = value
    return made


def _nothing() -> Number:
    """What rounding leaves of a number of size one, where all digits cancel."""
    return mpmath.mpf(10) ** (8 - mpmath.mp.dps)


def factors(a: Any) -> tuple[list[list[Number]], list[Number]]:
    """A = L D Lᵀ with a unit triangle L, row by row, and a positive D."""
    lower: list[list[Number]] = []
    found: list[Number] = []
    nothing = _nothing()
    for i, row in enumerate(np.asarray(a).tolist()):
        mine: list[Number] = []
        scaled: list[Number] = []  # L_ik d_k
        for j in range(i):
            m = row[j] - mpmath.fdot(lower[j], scaled)
            scaled.append(m)
            mine.append(m / found[j])
        pivot = row[i] - mpmath.fdot(mine, scaled)
        if not pivot > abs(row[i]) * nothing:
            raise NotDefinite("the matrix is not positive definite")
        lower.append(mine)
        found.append(pivot)
    return lower, found


def _inverse(a: Table) -> Table:
    """By the factors where the matrix is definite, else by elimination."""
    if a.shape[0] == a.shape[1] and all(
        a[i, j] == a[j, i] for i in range(len(a)) for j in range(i)
    ):
        for sign in (1, -1):
            try:
                lower, found = factors(sign * np.asarray(a))
            except NotDefinite:
                continue
            return table(sign * _offactors(lower, found))
    return _eliminated(a)


def _offactors(lower: list[list[Number]], found: list[Number]) -> Any:
    """L⁻ᵀ D⁻¹ L⁻¹."""
    n = len(found)
    columns = [[mpmath.mpf(int(i == j)) for i in range(j, n)] for j in range(n)]  # of L⁻¹
    for j, column in enumerate(columns):
        for i in range(j + 1, n):
            column[i - j] = -mpmath.fdot(lower[i][j:i], column[: i - j])
    shares = [[v / d for v, d in zip(c, found[j:], strict=True)] for j, c in enumerate(columns)]
    made = filled((n, n), None)
    for i in range(n):
        for j in range(i, n):
            made[i, j] = made[j, i] = mpmath.fdot(columns[i][j - i :], shares[j])
    return np.asarray(made)


def _eliminated(a: Table) -> Table:
    """By the largest pivot of each column."""
    n = len(a)
    both = np.concatenate([np.asarray(a), np.asarray(unit(mpmath.mpf(1), n))], axis=1)
    sizes, nothing = [max(map(abs, row)) for row in np.asarray(a)], _nothing()
    for j in range(n):
        k = j + max(range(n - j), key=lambda i: abs(both[j + i, j]))
        sizes[j], sizes[k] = sizes[k], sizes[j]
        if abs(both[k, j]) <= sizes[j] * nothing:
            raise Singular("a matrix has no inverse")
        both[[j, k]] = both[[k, j]]
        both[j] = both[j] / both[j, j]
        others = np.arange(n) != j
        both[others] -= np.outer(both[others, j], both[j])
    return table(both[:, n:])
