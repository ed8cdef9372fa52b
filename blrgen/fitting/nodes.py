"""Nodes of the trapezoidal rule around a Gaussian, and log q there as polynomials in z.

What stands at the nodes is linear in the products 1, z_i, z_i z_j, which do not change: the
logarithm of every component's density, and the moments that a step asks for.  So both are
products with one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

Array = Any
Parts = tuple[Array, Array, Array]  # means, factors of precisions, logarithms of shares
REACH = 7.5  # of z; beyond is 10⁻¹³ of the mass
FAR = 1e5  # terms of a logarithm that are larger have rounding errors that would be seen
STRIP = 4096  # nodes that the cache holds for all components


@dataclass(frozen=True)
class Nodes:
    """z by rows with their products, and weights: of this rule, and of that of twice the step."""

    products: Array  # (1 + d + d(d+1)/2, N)
    fine: Array
    coarse: Array
    dimension: int

    @property
    def z(self) -> Array:
        """(d, N)."""
        return self.products[1 : 1 + self.dimension]

    def moments(self, f: Array, weights: Array) -> tuple[float, Array, Array]:
        """E[f], E[f z], E[f (zzᵀ − I)]."""
        d = self.dimension
        mean = float(weights @ f)
        held = self.products @ (weights * (f - mean))  # what is taken off has no slope
        second = np.empty((d, d))
        for n, (i, j) in enumerate(pairs(d)):
            second[i, j] = second[j, i] = held[1 + d + n]
        return mean, held[1 : 1 + d], second


def pairs(d: int) -> list[tuple[int, int]]:
    """i ≤ j, in the order of the products."""
    return [(i, j) for i in range(d) for j in range(i, d)]


@lru_cache(maxsize=16)
def nodes(d: int, level: int) -> Nodes:
    """The rule whose step is 2^−(level + 1), in one or two dimensions."""
    count = int(REACH * 2 ** (level + 1))
    line = np.arange(-count, count + 1)
    index = np.stack(np.meshgrid(*[line] * d, indexing="ij"), -1).reshape(-1, d)
    z = index / 2.0 ** (level + 1)
    inside = (z**2).sum(1) <= REACH**2
    z, index = z[inside], index[inside]
    fine = np.exp(-(z**2).sum(1) / 2)
    coarse = np.where((index % 2 == 0).all(1), fine, 0.0)
    products = np.stack([np.ones(len(z)), *z.T, *(z[:, i] * z[:, j] for i, j in pairs(d))])
    return Nodes(products, fine / fine.sum(), coarse / coarse.sum(), d)


def log_sum(rule: Nodes, m: Array, back: Array, parts: Parts) -> Array:
    """log q at m + B z for all nodes."""
    made = coefficients(m, back, parts)
    out = np.empty(rule.products.shape[1])
    for n in range(0, len(out), STRIP):
        part = rule.products[:, n : n + STRIP]
        if made is None:
            logs = log_densities(m + part[1 : 1 + len(m)].T @ back.T, parts)
        else:
            logs = made @ part
        top = logs.max(0)
        logs -= top
        out[n : n + STRIP] = top + np.log(np.exp(logs, out=logs).sum(0))
    return out


def coefficients(m: Array, back: Array, parts: Parts) -> Array | None:
    """Of the products in every component's logarithm; None where they would cancel too much."""
    d = len(m)
    means, factors, weights = parts
    A = factors.swapaxes(1, 2) @ back
    o = np.einsum("kij,ki->kj", factors, m - means)
    if not (np.abs(o).max() + REACH * np.abs(A).sum((1, 2)).max()) ** 2 < FAR:
        return None
    squares = A.swapaxes(1, 2) @ A
    out = np.empty((len(means), 1 + d + d * (d + 1) // 2))
    out[:, 0] = weights + constants(factors) - (o * o).sum(1) / 2
    out[:, 1 : 1 + d] = -np.einsum("kij,ki->kj", A, o)
    for n, (i, j) in enumerate(pairs(d)):
        out[:, 1 + d + n] = squares[:, i, j] * (-0.5 if i == j else -1.0)
    return out


def constants(factors: Array) -> Array:
    """log |L| − (d/2) log 2π of every component."""
    d = factors.shape[-1]
    return np.log(np.einsum("kii->ki", factors)).sum(1) - d * np.log(2 * np.pi) / 2


def log_densities(points: Array, parts: Parts) -> Array:
    """The logarithms of all components' densities, times their shares, at points (N, d)."""
    means, factors, weights = parts
    level = weights + constants(factors)
    return np.stack([
        c - (((points - m) @ L) ** 2).sum(1) / 2
        for m, L, c in zip(means, factors, level, strict=True)
    ])  # fmt: skip
