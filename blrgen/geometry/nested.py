"""Expectations in several dimensions: nested sums over real coordinates of the density.

Every variable is written in coordinates on the whole line (a positive number is eʸ, a
definite matrix LLᵀ with eʸ on the diagonal of L).  Blocks of coordinates in which the
logarithm of what is left to integrate is exactly quadratic are summed by Gauss–Hermite
nodes, which is exact for the polynomials in question; each other coordinate by the
trapezoid rule between the places where its mass has fallen by e⁻⁵⁰, found anew for every
value of the coordinates outside it.  Inner coordinates first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

Array = Any
LogDensity = Callable[[Array], Array]  # (M, D) coordinates → (M,) logarithms
_COARSE = 41  # places looked at for the bulk of a coordinate
_REACH = 14.0  # of the arcsinh of a coordinate: |y| up to 6e5
_DROP = 50.0  # logarithm of the mass that is left out
_NODES = {0: 0, 1: 401, 2: 81, 3: 61}  # by the number of coordinates summed by trapezoids
_HERMITE = 5  # exact up to degree 9
_TIGHT = 1e-9
_FAINT = 16.0  # logarithm of the mass without which distribution functions do
SETTLED = 1e-6  # of half the nodes; that of all of them is about its square
_TERMS = 500  # of a sum over integers


@dataclass(frozen=True)
class Nodes:
    """Places, their normalised weights, the logarithm of the total mass, the half grid's error."""

    places: Array  # (M, D)
    weights: Array  # (M,), sum 1
    log_mass: float
    error: float
    random: bool = False  # seeded normal ones among them


class TooMany(Exception):
    """More coordinates than can be summed."""


def nodes_of(
    log_density: LogDensity,
    blocks: list[list[int]],
    size: int,
    points: dict[int, Array] | None = None,
    spread: int = 0,
) -> Nodes:
    """Nodes for the density; `blocks` lists its coordinates from the outermost inwards.

    `points` has the values of the coordinates that are discrete.  With `spread` there are
    about so many nodes, those of quadratic blocks seeded normal ones: for distribution
    functions, of which the few Hermite nodes say nothing.
    """
    with np.errstate(all="ignore"):
        plan = _plan(log_density, blocks, size, points or {})
        if spread:
            for stage in plan:
                stage.spread = spread
            found = _nodes(log_density, plan, size, 1)
            return replace(found, random=any(isinstance(s, _Gauss) for s in plan))
        found = _nodes(log_density, plan, size, 1)
        for finer in (2, 4):
            if found.error <= SETTLED or sum(isinstance(s, _Line) for s in plan) > 2:
                break
            found = _nodes(log_density, plan, size, finer)
        return found


def _plan(
    log_density: LogDensity, blocks: list[list[int]], size: int, points: dict[int, Array]
) -> list[Any]:
    """The stages, inner ones first: quadratic blocks, lines, sums over points."""
    plan: list[Any] = []
    inner = log_density
    for block in reversed(blocks):
        gauss = _Gauss(inner, block)
        if block[0] not in points and gauss.fits(size):
            plan.append(gauss)
            inner = gauss.log_mass
            continue
        for k in reversed(block):
            plan.append(_Points(inner, k, points[k]) if k in points else _Line(inner, k))
            inner = plan[-1].log_mass
    lines = sum(not isinstance(stage, _Gauss) for stage in plan)
    if lines > 3 or (lines == 3 and size > 3):
        raise TooMany(f"{lines} coordinates are left for quadrature")
    return plan


def _nodes(log_density: LogDensity, plan: list[Any], size: int, finer: int) -> Nodes:
    lines = [stage for stage in plan if isinstance(stage, _Line)]
    for stage in lines:
        stage.count = (_NODES[len(lines)] - 1) * finer + 1
    places, logs, odd = np.zeros((1, size)), np.zeros(1), np.zeros(1, dtype=bool)
    for stage in reversed(plan):
        places, logs, odd = stage.expand(places, logs, odd)
    total = logs + log_density(places)
    return _normalised(places, total, odd, len(lines))


def _normalised(places: Array, total: Array, odd: Array, lines: int) -> Nodes:
    """Weights that sum to one; the error is that of every other node against all of them.

    The trapezoid rule converges exponentially here: all nodes err by about its square.
    """
    total = np.where(np.isfinite(total), total, -np.inf)
    top = total.max()
    mass = np.exp(total - top)
    full = mass.sum()
    half = mass[~odd].sum() * 2.0**lines
    return Nodes(places, mass / full, float(top + np.log(full)), float(abs(half / full - 1)))


class _Gauss:
    """A block of coordinates in which the exponent is c + bᵀy − ½yᵀPy."""

    spread = 0

    def __init__(self, inner: LogDensity, block: list[int]) -> None:
        self.inner, self.block = inner, block

    def fits(self, size: int) -> bool:
        """Whether the exponent is quadratic at some places outside the block."""
        rng = np.random.default_rng(len(self.block))
        outer = rng.uniform(-0.7, 0.7, size=(4, size))
        c, b, p = self.form(outer)
        if not np.all(np.isfinite(p)) or np.any(np.linalg.eigvalsh(p) <= 0):
            return False
        for step in rng.uniform(-2, 2, size=(3, len(self.block))):
            at = outer.copy()
            at[:, self.block] = step
            found = self.inner(at)
            wanted = c + b @ step - np.einsum("i,mij,j->m", step, p, step) / 2
            if not np.all(np.abs(found - wanted) <= _TIGHT * (1 + np.abs(wanted))):
                return False
        return True

    def form(self, outer: Array) -> tuple[Array, Array, Array]:
        """(c, b, P) for every row of `outer`; steps as long as the spread is wide."""
        size = np.ones((outer.shape[0], len(self.block)))
        _, _, p = self.differences(outer, size)
        bend = np.diagonal(p, axis1=-2, axis2=-1)
        size = 1 / np.sqrt(np.where(bend > 1e-9, np.minimum(bend, 1e12), 1e-9))
        return self.differences(outer, np.where(np.isfinite(size), size, 1.0))

    def differences(self, outer: Array, size: Array) -> tuple[Array, Array, Array]:
        """(c, b, P) from the values at 0, ±s_i e_i and s_i e_i + s_j e_j."""
        m, n = size.shape
        steps = [np.zeros(n), *np.eye(n), *-np.eye(n)]
        pairs = list(combinations(range(n), 2))
        steps += [np.eye(n)[i] + np.eye(n)[j] for i, j in pairs]
        at = np.repeat(outer, len(steps), axis=0)
        at[:, self.block] = (np.array(steps)[None] * size[:, None, :]).reshape(-1, n)
        f = self.inner(at).reshape(m, len(steps))
        c, plus, minus = f[:, 0], f[:, 1 : n + 1], f[:, n + 1 : 2 * n + 1]
        p = np.zeros((m, n, n))
        p[:, range(n), range(n)] = 2 * c[:, None] - plus - minus
        for k, (i, j) in enumerate(pairs):
            p[:, i, j] = p[:, j, i] = plus[:, i] + plus[:, j] - c - f[:, 2 * n + 1 + k]
        return c, (plus - minus) / (2 * size), p / (size[:, :, None] * size[:, None, :])

    def usable(self, outer: Array) -> tuple[Array, Array, Array, Array]:
        """The form, and in which rows it falls off; 1 stands for P in the others."""
        c, b, p = self.form(outer)
        good = np.isfinite(c) & np.isfinite(p).all(axis=(1, 2)) & np.isfinite(b).all(axis=1)
        p = np.where(good[:, None, None], p, np.eye(len(self.block)))
        levels = np.linalg.eigvalsh(p)
        good &= levels[:, 0] > 1e-14 * levels[:, -1]
        p = np.where(good[:, None, None], p, np.eye(len(self.block)))
        return good, c, np.where(good[:, None], b, 0.0), p

    def log_mass(self, outer: Array) -> Array:
        """c + ½bᵀP⁻¹b − ½log|P| + (n/2)log 2π."""
        good, c, b, p = self.usable(outer)
        return np.where(good, _log_gaussian(c, b, p), -np.inf)

    def expand(self, places: Array, logs: Array, odd: Array) -> tuple[Array, Array, Array]:
        """Hermite nodes around the mean of the block, for every place outside it."""
        n = len(self.block)
        good, c, b, p = self.usable(places)
        good &= np.isfinite(logs)
        if self.spread:  # no nodes where there is no mass
            mass = np.where(good, logs + _log_gaussian(c, b, p), -np.inf)
            good &= mass > mass.max() - _FAINT
        places, logs, odd, b, p = places[good], logs[good], odd[good], b[good], p[good]
        grid, log_weight = self.standard(len(places))
        root = np.linalg.cholesky(p)
        mean = np.linalg.solve(p, b[..., None])[..., 0]
        away = np.linalg.solve(np.swapaxes(root, -1, -2), grid.swapaxes(-1, -2)).swapaxes(-1, -2)
        count = grid.shape[1]
        at = np.repeat(places, count, axis=0)
        at[:, self.block] = (mean[:, None, :] + away).reshape(-1, n)
        # the weight of a node without the density at it: w e^{½z²} |P|^{-½}
        log_weight = log_weight + (grid**2).sum(axis=-1) / 2
        log_det = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
        more = log_weight - log_det[:, None]
        return at, (logs[:, None] + more).reshape(-1), np.repeat(odd, count)

    def standard(self, places: int) -> tuple[Array, Array]:
        """(1 or places, count, n) nodes of the standard normal law and their log weights."""
        n = len(self.block)
        if self.spread:
            count = max(4, self.spread // places)
            grid = np.random.default_rng(n).standard_normal((places, count, n))
            return grid, np.full((1, count), n * np.log(2 * np.pi) / 2 - np.log(count))
        x, w = np.polynomial.hermite_e.hermegauss(_HERMITE)
        grid = np.stack(np.meshgrid(*[x] * n, indexing="ij"), axis=-1).reshape(-1, n)
        weight = np.stack(np.meshgrid(*[w] * n, indexing="ij"), axis=-1).reshape(-1, n)
        return grid[None], np.log(weight).sum(axis=1)[None]


def _log_gaussian(c: Array, b: Array, p: Array) -> Array:
    """log ∫ exp(c + bᵀy − ½yᵀPy) dy."""
    _, log_det = np.linalg.slogdet(p)
    mean = np.linalg.solve(p, b[..., None])[..., 0]
    bend = np.einsum("mi,mi->m", b, mean) / 2
    return c + bend - log_det / 2 + b.shape[-1] * np.log(2 * np.pi) / 2


class _Line:
    """One coordinate y = sinh t, summed by the trapezoid rule in t."""

    count = 61

    def __init__(self, inner: LogDensity, k: int) -> None:
        self.inner, self.k = inner, k

    def at(self, outer: Array, t: Array) -> Array:
        """log of the integrand in t at t (M, n), for every row of `outer`."""
        m, n = t.shape
        places = np.repeat(outer, n, axis=0)
        places[:, self.k] = np.sinh(t).reshape(-1)
        found = self.inner(places).reshape(m, n) + np.log(np.cosh(t))
        return np.where(np.isfinite(found), found, -np.inf)

    def window(self, outer: Array) -> tuple[Array, Array]:
        """Where the mass is, for every row: looked for on a coarse grid, then on finer ones."""
        m = outer.shape[0]
        low, high = np.full(m, -_REACH), np.full(m, _REACH)
        for _ in range(4):
            t = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _COARSE)
            f = self.at(outer, t)
            top = f.max(axis=1, keepdims=True)
            inside = f > np.where(np.isfinite(top), top, 0) - _DROP
            first, last = inside.argmax(axis=1), _COARSE - 1 - inside[:, ::-1].argmax(axis=1)
            rows = np.arange(m)
            low = t[rows, np.maximum(first - 1, 0)]
            high = t[rows, np.minimum(last + 1, _COARSE - 1)]
            if np.all(last - first > _COARSE // 2):
                break
        return low, high

    def grid(self, outer: Array) -> tuple[Array, Array]:
        low, high = self.window(outer)
        t = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, self.count)
        return t, np.log((high - low) / (self.count - 1))

    def log_mass(self, outer: Array) -> Array:
        t, log_step = self.grid(outer)
        f = self.at(outer, t)
        top = f.max(axis=1)
        top = np.where(np.isfinite(top), top, 0.0)
        return top + np.log(np.exp(f - top[:, None]).sum(axis=1)) + log_step

    def expand(self, places: Array, logs: Array, odd: Array) -> tuple[Array, Array, Array]:
        t, log_step = self.grid(places)
        n = t.shape[1]
        at = np.repeat(places, n, axis=0)
        at[:, self.k] = np.sinh(t).reshape(-1)
        more = logs[:, None] + log_step[:, None] + np.log(np.cosh(t))
        every_other = np.tile(np.arange(n) % 2 == 1, len(places))
        return at, more.reshape(-1), np.repeat(odd, n) | every_other


class _Points:
    """One discrete coordinate, summed."""

    def __init__(self, inner: LogDensity, k: int, points: Array) -> None:
        self.inner, self.k, self.points = inner, k, points

    def log_mass(self, outer: Array) -> Array:
        at, _, _ = self.expand(outer, np.zeros(len(outer)), np.zeros(len(outer), dtype=bool))
        f = self.inner(at).reshape(len(outer), len(self.points))
        f = np.where(np.isfinite(f), f, -np.inf)
        top = np.where(np.isfinite(f.max(axis=1)), f.max(axis=1), 0.0)
        return top + np.log(np.exp(f - top[:, None]).sum(axis=1))

    def expand(self, places: Array, logs: Array, odd: Array) -> tuple[Array, Array, Array]:
        n = len(self.points)
        at = np.repeat(places, n, axis=0)
        at[:, self.k] = np.tile(self.points, len(places))
        return at, np.repeat(logs, n), np.repeat(odd, n)
