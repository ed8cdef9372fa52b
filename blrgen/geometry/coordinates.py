"""The variables of a density in real coordinates, with the logarithm of the volume.

(0, oo): x = eʸ      (a, b): x = a + (b − a)/(1 + e⁻ʸ)      R^(n,p): entry by entry
SPD(n):  X = LLᵀ, L with eʸ on its diagonal;  dX = 2ⁿ Π_i L_ii^{n−i+1} dL
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.ranks import logdet, rows_of, shape_of
from blrgen.core import Family, Support
from blrgen.geometry.nested import _TERMS
from blrgen.value.instance import Instance

Expr = Any
Array = Any


@dataclass
class Coordinates:
    """Where each variable stands among the columns, and the order in which to sum."""

    family: Family
    here: Instance  # sizes and parameters
    columns: list[tuple[Expr, Support, list[int]]] = field(default_factory=list)
    outer: list[list[int]] = field(default_factory=list)
    inner: list[list[int]] = field(default_factory=list)
    points: dict[int, Array] = field(default_factory=dict)
    size: int = 0

    def __post_init__(self) -> None:
        self.outer, self.inner = [], []
        for x, support in zip(self.family.variables, self.family.supports, strict=True):
            self._place(x, support)

    @property
    def blocks(self) -> list[list[int]]:
        """From the outermost inwards: what may be Gaussian given the rest comes last."""
        return [*self.outer, *self.inner]

    def _place(self, x: Expr, support: Support) -> None:
        shape = shape_of(x)
        rows, across = (1, 1) if shape is None else (self._whole(shape[0]), self._whole(shape[1]))
        count = rows * (rows + 1) // 2 if support.kind == "spd" else rows * across
        here = list(range(self.size, self.size + count))
        self.size += count
        self.columns.append((x, support, here))
        if support.kind == "spd":
            self.outer += [[k] for k in here[:rows]]
            if here[rows:]:
                self.inner.insert(0, here[rows:])
        elif support.kind in ("integers", "finite"):
            self.points[here[0]] = self._discrete(support)
            self.outer.insert(0, here)
        elif shape is not None or _whole_line(support):
            self.inner.append(here)
        else:
            self.outer.append(here)

    def _whole(self, size: Expr) -> int:
        return int(sp.sympify(size).subs(self.here.sizes))

    def _discrete(self, support: Support) -> Array:
        if support.kind == "finite":
            return np.array([float(p) for p in support.points])
        return float(self.here.value(support.lower)) + np.arange(_TERMS)

    def values(self, y: Array) -> tuple[dict[Expr, Array], Array]:
        """The variables at coordinates y (M, D), and the logarithm of the volume."""
        found: dict[Expr, Array] = {}
        volume = np.zeros(len(y))
        for x, support, columns in self.columns:
            part = y[:, columns]
            if support.kind == "spd":
                known, more = _definite(part, x, self._whole(rows_of(x)))
                found |= known
                volume = volume + more
            elif (shape := shape_of(x)) is not None:
                found[x] = part.reshape(len(y), self._whole(shape[0]), self._whole(shape[1]))
            elif support.kind == "interval":
                found[x], more = self._interval(part[:, 0], support)
                volume = volume + more
            else:
                found[x] = part[:, 0]
        return found, volume

    def _interval(self, y: Array, support: Support) -> tuple[Array, Array]:
        low, high = (float(self.here.value(e)) for e in (support.lower, support.upper))
        if np.isinf(low) and np.isinf(high):
            return y, np.zeros_like(y)
        if np.isinf(high):
            return low + np.exp(y), y
        if np.isinf(low):
            return high - np.exp(y), y
        share = 1 / (1 + np.exp(-y))
        return low + (high - low) * share, np.log(high - low) - np.logaddexp(0, y) - np.logaddexp(
            0, -y
        )


def _whole_line(support: Support) -> bool:
    return bool(support.kind == "interval" and support.lower == -sp.oo and support.upper == sp.oo)


def _definite(y: Array, x: Expr, n: int) -> tuple[dict[Expr, Array], Array]:
    """X = LLᵀ, X⁻¹ and log|X| from L, and log of the volume in the coordinates of L."""
    root = np.zeros((len(y), n, n))
    diagonal = y[:, :n]
    root[:, range(n), range(n)] = np.exp(diagonal)
    for k, (i, j) in enumerate([(a, b) for a in range(n) for b in range(a)]):
        root[:, i, j] = y[:, n + k]
    powers = np.array([n - i + 1 for i in range(n)])  # n − i + 1 counted from 1, and one for eʸ
    back = np.zeros_like(root)  # L⁻¹, row by row
    for i in range(n):
        back[:, i, i] = np.exp(-diagonal[:, i])
        for j in range(i):
            inner = np.einsum("mk,mk->m", root[:, i, j:i], back[:, j:i, j])
            back[:, i, j] = -inner * back[:, i, i]
    found = {
        x: np.einsum("mik,mjk->mij", root, root),
        x**-1: np.einsum("mki,mkj->mij", back, back),
        logdet(x, rows_of(x)): 2 * diagonal.sum(axis=1),
    }
    return found, n * np.log(2.0) + diagonal @ powers
