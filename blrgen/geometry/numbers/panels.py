"""Gauss–Legendre panels, halved until n and 3n/2 nodes agree for every integrand.

What the two rules differ by is the estimate of the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

from blrgen.geometry.numbers.task import (
    Nodes,
    Panels,
    Rule,
    Task,
    TooMany,
    Unsettled,
    exponential,
    integrands,
    product,
)

Expr = Any
Array = Any
_DEPTH = 60
_UNRESOLVED = "the integrand is not resolved by any number of points within reach"
_POINTS = {True: 400_000, False: 25_000}


@lru_cache(maxsize=64)
def _legendre(count: int, precision: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss–Legendre on (−1, 1), for that binary precision."""
    start, weights = np.polynomial.legendre.leggauss(count)
    if precision <= 53:
        return start, weights
    nodes, found = np.empty(count, dtype=object), np.empty(count, dtype=object)
    with mpmath.workprec(precision + 10):
        for i, x0 in enumerate(start):
            x = mpmath.mpf(x0)
            for _ in range(12):
                before, value = mpmath.mpf(1), x
                for k in range(2, count + 1):
                    before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
                slope = count * (x * value - before) / (x * x - 1)
                x -= value / slope
                if abs(value / slope) < mpmath.mpf(2) ** -precision:
                    break
            nodes[i] = x
            found[i] = 2 / ((1 - x * x) * slope * slope)
    return nodes, found


def settle(
    task: Task, queue: list[Panels], scale: Any, centre: list[Any], settled: Array | None = None
) -> Rule:
    """Nodes on the panels; `settled` are Σ|w f| of panels beside them, an integrand each."""
    counts = node_counts(task)
    if not task.doubles:
        panels = sum(len(p.low) for p in queue)
        if panels * sum(counts) > 3 * _POINTS[False]:
            raise TooMany(_UNRESOLVED)
    fine: list[Nodes] = []
    coarse: list[Nodes] = []
    kept: list[Panels] = []
    used = 0
    for _ in range(_DEPTH):
        batches = [evaluated(task, p, counts, scale, centre) for p in queue]
        used += sum(b.fine.u.size for b in batches)
        total = sum((b.size.sum(axis=1) for b in batches), 0 if settled is None else settled)
        again: list[Panels] = []
        for p, b in zip(queue, batches, strict=True):
            good = is_settled(task, b.gap, b.size, total, b.noise)
            here = b.size[:, good].sum(axis=1)
            settled = here if settled is None else settled + here
            fine.append(b.fine.rows(good))
            coarse.append(b.coarse.rows(good))
            kept.append(p.rows(good))
            if not good.all():
                again.append(p.rows(~good).halved())
        if not again:
            return Rule(scale, tuple(fine), tuple(coarse), tuple(kept))
        if used > _POINTS[task.doubles]:
            break
        queue = again
    raise (TooMany if used > _POINTS[task.doubles] else Unsettled)(_UNRESOLVED)


def node_counts(task: Task) -> tuple[int, int]:
    """Nodes of the coarse and of the fine rule on a panel."""
    coarse = 10 if task.doubles else max(10, int(0.55 * task.digits) + 2)
    return coarse, coarse * 3 // 2 + 2


def is_settled(task: Task, gap: Array, size: Array, total: Any, noise: Array) -> Array:
    """The panels on which no integrand changes by more than is asked for or can be told."""
    limit = np.asarray(total)[:, None] * _tolerance(task)
    return np.all((gap <= limit) | (gap <= noise * size), axis=0)


def _tolerance(task: Task) -> Any:
    return 1e-13 if task.doubles else mpmath.mpf(10) ** -(task.digits + 1)


@dataclass(frozen=True)
class Batch:
    """Panels evaluated: |fine − coarse| and Σ|w f|, a row an integrand, a column a panel."""

    fine: Nodes
    coarse: Nodes
    value: Array  # Σ w f by the fine rule
    gap: Array
    size: Array
    noise: Array  # relative rounding of the density in doubles, a panel


def evaluated(
    task: Task, p: Panels, counts: tuple[int, int], scale: Any, centre: list[Any]
) -> Batch:
    """Both rules on every panel."""
    precision = 53 if task.doubles else mpmath.mp.prec
    half, middle = (p.high - p.low) / 2, (p.high + p.low) / 2
    sums, found = [], []
    noise: Array = np.zeros(len(half))
    for count in counts:
        nodes, weights = _legendre(count, precision)
        u = (middle[:, None] + half[:, None] * nodes).ravel()
        total, t, f, size = task.logs(p.branch, u)
        mass = exponential(task, total - scale) * (half[:, None] * weights).ravel()
        parts = [product(mass, r) for r in integrands(task, t, f, centre, u.size)]
        sums.append([by_panel(x, len(half)) for x in parts])
        known = zip((*task.family.statistics, *task.functions), (*t, *f), strict=True)
        memo = {e: np.broadcast_to(x, u.shape) for e, x in known}
        found.append(Nodes(p.branch, u, mass, memo))
        if task.doubles:
            noise = rounding(total, size, u, len(half))
    gap = np.array([abs(a - b) for a, b in zip(*sums, strict=True)])
    largest = np.array([by_panel(abs(x), len(half)) for x in parts])
    return Batch(found[1], found[0], np.array(sums[1]), gap, largest, noise)


def rounding(level: Array, size: Array, u: Array, panels: int) -> Array:
    """The relative rounding of a density in doubles, a panel.

    `size` is Σ|terms| of its logarithm; u itself and x = end ± eᵘ are rounded as well, which
    moves a level that is steep there.
    """
    spread = np.broadcast_to(np.nan_to_num(size), u.shape)
    found = spread + steepness(level, u, panels) * (np.abs(u) + 1)
    return np.asarray((found.reshape(panels, -1).max(axis=1) + 50) * 2.0**-51)


def steepness(level: Array, u: Array, panels: int) -> Array:
    """|dL/du| at the nodes of panels, as far as there is mass on the panel."""
    if u.size < 2 * panels:
        return np.zeros(u.shape)
    rows, at = np.broadcast_to(level, u.shape).reshape(panels, -1), u.reshape(panels, -1)
    with np.errstate(all="ignore"):
        slope = np.abs(np.diff(rows, axis=1) / np.diff(at, axis=1))
        share = np.exp(rows - np.max(rows, axis=1, keepdims=True))
        found = np.nan_to_num(slope * share[:, 1:], posinf=0.0)
    return np.concatenate([found[:, :1], found], axis=1).ravel()


def by_panel(x: Array, panels: int) -> Array:
    """Sums over the nodes of each panel."""
    return x.reshape(panels, -1).sum(axis=1)


def extended(task: Task, rule: Rule, outer: list[Panels]) -> Rule:
    """The rule settled for a function as well: panels halved where it asks for it.

    `task` has that one function and order 0; `outer` are panels further out, where the
    function has mass and what the rule was made for has none.
    """
    (f,) = task.functions
    fine: list[Nodes] = []
    coarse: list[Nodes] = []
    kept: list[Panels] = []
    again = list(outer)
    parts = []
    for p, many, few in zip(rule.panels, rule.fine, rule.coarse, strict=True):
        if not len(p.low):
            continue
        sums = [[by_panel(product(n.weight, r), len(p.low)) for r in _rows(task, n, f)]
                for n in (many, few)]  # fmt: skip
        gap = np.array([abs(a - b) for a, b in zip(*sums, strict=True)])
        weights = [by_panel(abs(product(many.weight, r)), len(p.low)) for r in _rows(task, many, f)]
        noise: Array = np.zeros(len(p.low))
        if task.doubles:
            total, _, _, size = task.logs(p.branch, many.u)
            noise = rounding(total, size, many.u, len(p.low))
        parts.append((p, many, few, gap, np.array(weights), noise))
    total = sum(size.sum(axis=1) for *_, size, _ in parts)
    settled = 0 * total
    for p, many, few, gap, size, noise in parts:
        good = is_settled(task, gap, size, total, noise)
        settled = settled + size[:, good].sum(axis=1)
        fine.append(many if good.all() else many.rows(good))
        coarse.append(few if good.all() else few.rows(good))
        kept.append(p if good.all() else p.rows(good))
        if not good.all():
            again.append(p.rows(~good).halved())
    if not again:
        return Rule(rule.scale, tuple(fine), tuple(coarse), tuple(kept), rule.peaks)
    more = settle(task, again, rule.scale, [], settled)
    return Rule(
        rule.scale, (*fine, *more.fine), (*coarse, *more.coarse), (*kept, *more.panels), rule.peaks
    )


def _rows(task: Task, nodes: Nodes, f: Expr) -> list[Array]:
    return integrands(task, [], [nodes.values(task, f)], [], nodes.u.size)
