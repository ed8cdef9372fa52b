"""Weighted points of a support of vectors at a concrete size: Σ w f(x) is ∫ f.

Finite sets are listed.  Continuous ones go through double exponential substitutions, which
bear powers and logarithms at the ends; angles of the sphere through Gauss's rule, and the
last one, which is periodic, through equal steps.  Everything is in doubles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from blrgen.core import Support
from blrgen.errors import InternalError

Array = Any
_STEPS = {1: 400, 2: 200, 3: 96}  # points along each axis, by the number of axes
_REACH = 4.6  # of the double exponential substitution


@dataclass(frozen=True)
class Cubature:
    """x[k] are the k-th components of all points; w their weights."""

    x: list[Array]
    w: Array


def cubature(support: Support, size: int, most: int = 1, fine: float = 1.0) -> Cubature:
    """Points and weights of the support with `size` components; `most` is the sum of counts.

    `fine` multiplies the number of points along each axis: two of them tell the error.
    """
    if support.kind == "one-hot":
        return Cubature([row.copy() for row in np.eye(size)], np.ones(size))
    if support.kind == "counts":
        table = np.array(list(_compositions(most, size)), float)
        return Cubature(list(table.T), np.ones(len(table)))
    if support.kind == "finite":
        points = [float(p) for p in support.points]
        table = np.array(list(product(points, repeat=size)))
        return Cubature(list(table.T), np.ones(len(table)))
    if support.kind == "simplex":
        return _simplex(size, fine)
    if support.kind == "sphere":
        return _sphere(size, fine)
    if support.kind in ("vector", "interval"):
        return _box(support, size, fine)
    raise InternalError(f"no points for the support {support.text}")


def _compositions(whole: int, size: int) -> Iterator[tuple[int, ...]]:
    if size == 1:
        yield (whole,)
        return
    for first in range(whole + 1):
        for rest in _compositions(whole - first, size - 1):
            yield (first, *rest)


def _axis(count: int) -> tuple[Array, Array]:
    t = np.linspace(-_REACH, _REACH, count)
    return t, np.full(count, t[1] - t[0])


def _grid(axes: list[tuple[Array, ...]]) -> list[list[Array]]:
    """Each of the arrays of each axis, spread over the product grid and flattened."""
    shapes = np.meshgrid(*[np.arange(len(a[0])) for a in axes], indexing="ij")
    places = [s.ravel() for s in shapes]
    return [[part[i] for part in axis] for axis, i in zip(axes, places, strict=True)]


def _unit(count: int) -> tuple[Array, Array, Array]:
    """p and 1 − p, each without loss of digits, and the weights of ∫₀¹ dp."""
    t, step = _axis(count)
    reach = np.pi * np.sinh(t)
    p, q = 1 / (1 + np.exp(-reach)), 1 / (1 + np.exp(reach))
    return p, q, step * p * q * np.pi * np.cosh(t)


def _count(axes: int, fine: float) -> int:
    return int(fine * _STEPS[min(axes, 3)])


def _simplex(size: int, fine: float) -> Cubature:
    """x₁ = p₁, x₂ = q₁p₂, …, the last q₁q₂…: broken off a stick; dx₁…dx_{K−1}."""
    if size == 1:
        return Cubature([np.ones(1)], np.ones(1))
    grid = _grid([_unit(_count(size - 1, fine))] * (size - 1))
    left, weight, x = 1.0, 1.0, []
    for p, q, w in grid:
        x.append(left * p)
        weight = weight * w * left
        left = left * q
    return Cubature([*x, left], weight)


def _sphere(size: int, fine: float) -> Cubature:
    """Polar angles: x₁ = cos φ₁, x₂ = sin φ₁ cos φ₂, …; the surface measure."""
    if size == 1:
        return Cubature([np.array([-1.0, 1.0])], np.ones(2))
    count = _count(size - 1, fine) // 2
    z, weight = np.polynomial.legendre.leggauss(count)
    polar = (np.pi * (z + 1) / 2, np.pi * weight / 2)
    turn = np.arange(count) * 2 * np.pi / count
    grid = _grid([polar] * (size - 2) + [(turn, np.full(count, 2 * np.pi / count))])
    x, sine, total = [], 1.0, 1.0
    for k, (angle, w) in enumerate(grid):
        x.append(sine * np.cos(angle))
        total = total * w * np.sin(angle) ** (size - 2 - k)
        sine = sine * np.sin(angle)
    return Cubature([*x, sine], total)


def _box(support: Support, size: int, fine: float) -> Cubature:
    """A power of an interval; the whole line in two halves, as |x| has its corner at 0."""
    count = _count(size, fine)
    t, step = _axis(count)
    low, high = (float(b) for b in (support.lower, support.upper))
    reach, speed = np.sinh(t) * np.pi / 2, np.cosh(t) * np.pi / 2
    if np.isinf(low) and np.isinf(high):
        half, weight = np.exp(reach), step * speed * np.exp(reach)
        x, w = np.concatenate([-half[::-1], half]), np.concatenate([weight[::-1], weight])
    elif np.isinf(low) or np.isinf(high):
        sign, end = (1.0, low) if np.isinf(high) else (-1.0, high)
        x, w = end + sign * np.exp(reach), step * speed * np.exp(reach)
    else:
        p, _, weight = _unit(count)
        x, w = low + (high - low) * p, weight * (high - low)
    grid = _grid([(x, w)] * size)
    weights: Array = 1.0
    for _, w in grid:
        weights = weights * w
    return Cubature([x for x, _ in grid], weights)
