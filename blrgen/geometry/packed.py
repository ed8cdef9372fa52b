"""Vectors and matrices as columns of numbers: packed coordinates, and F over them.

Entries row by row; of a symmetric matrix those on and above the diagonal, its (i, j) and
(j, i) moving together.  F_ab = Σ_i ⟨B_a, D μ_i[B_b]⟩ is then the Hessian of A in them, the
covariance of ⟨B_a, T⟩ and ⟨B_b, T⟩.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from blrgen.algebra.ranks import T, Vec
from blrgen.algebra.tables import Table, filled
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Value = Any
Place = tuple[int, int]


def places(x: Expr, here: Instance) -> list[Place]:
    """The entries of x that are coordinates; one of a scalar."""
    shape = here.shape(x)
    if shape is None:
        return [(0, 0)]
    symmetric = T(x) == x
    return [(i, j) for i in range(shape[0]) for j in range(shape[1]) if not symmetric or i <= j]


def labels(geometry: Geometry, here: Instance) -> list[str]:
    """eta1, eta2[1,1], eta2[1,2], …: what each coordinate is."""
    found = []
    for x in geometry.natural:
        for i, j in places(x, here):
            name = x.name
            if here.shape(x) is not None:
                name += f"[{i + 1}]" if isinstance(x, Vec) else f"[{i + 1},{j + 1}]"
            found.append(name)
    return found


def basis(x: Expr, here: Instance) -> list[Value]:
    """The direction in which each coordinate moves x."""
    shape = here.shape(x)
    if shape is None:
        return [mpmath.mpf(1)]
    return [unpacked_one(shape, [((i, j), mpmath.mpf(1))], T(x) == x) for i, j in places(x, here)]


def unpacked_one(
    shape: tuple[int, int], entries: list[tuple[Place, Any]], symmetric: bool
) -> Table:
    """An array from its coordinates."""
    made = filled(shape, mpmath.mpf(0))
    for (i, j), value in entries:
        made[i, j] = value
        if symmetric:
            made[j, i] = value
    return made


def unpacked(geometry: Geometry, here: Instance, column: list[Any]) -> list[Value]:
    """The natural parameters (or a displacement of them) with these coordinates."""
    found: list[Value] = []
    for x in geometry.natural:
        shape, where = here.shape(x), places(x, here)
        mine, column = column[: len(where)], column[len(where) :]
        found.append(
            mine[0]
            if shape is None
            else unpacked_one(shape, list(zip(where, mine, strict=True)), T(x) == x)
        )
    return found


def paired(x: Expr, here: Instance, dual: Value) -> list[Any]:
    """⟨B_a, dual⟩ for every coordinate of x: a gradient in packed coordinates."""
    if here.shape(x) is None:
        return [dual]
    symmetric = T(x) == x
    return [
        dual[i, j] + dual[j, i] if symmetric and i != j else dual[i, j] for i, j in places(x, here)
    ]


def fisher(geometry: Geometry, here: Instance) -> list[list[Any]]:
    """F over the packed coordinates, at the precision in force."""
    from blrgen.algebra.directions import direction_symbol, directional

    columns: list[list[Any]] = []
    for y in geometry.natural:
        name = direction_symbol(y, "X_")
        moves = [directional(m, y, name) for m in geometry.mean]
        for direction in basis(y, here):
            there = here.with_({name: direction})
            columns.append([
                v for x, move in zip(geometry.natural, moves, strict=True)
                for v in paired(x, here, there.like(move, x))
            ])  # fmt: skip
    return [list(row) for row in zip(*columns, strict=True)]


def flat(value: Value) -> list[Any]:
    """All entries."""
    return list(value.flat) if isinstance(value, np.ndarray) else [value]
