"""∫ f h exp⟨λ, T⟩ over an interval, by Gauss–Legendre panels around the modes.

On every branch x = end ± eᵘ the log-density L(u) is scanned on a grid that reaches from
e^(−10⁸) to e^(10⁸); its local maxima are refined, and from each panels of doubling
width go outwards until the integrand has fallen by all the digits asked for.  Panels are
halved until n and 3n/2 nodes agree; what they differ by is the estimate of the error.
The largest value of L is subtracted before anything is exponentiated.

An integral whose integrand does not fall off is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

from blrgen.core import Family
from blrgen.numeric.branch import Branch, values
from blrgen.numeric.tape import is_exact

Expr = Any
Array = Any
FARTHEST = 1e15  # in u, the logarithm of the distance from an end
_MODES = 200
_DEPTH = 60
_POINTS = {True: 400_000, False: 25_000}


class Divergent(Exception):
    """The integrand does not fall off, or not within the reach of any number."""


class Unsettled(Exception):
    """Panels were halved without agreement."""


@dataclass(frozen=True)
class Task:
    """What to integrate: the density of a family at a point, and functions beside it.

    The statistics up to the power `order` are always among the integrands.
    """

    family: Family
    args: tuple[Any, ...]  # natural parameters, then constants: mpmath numbers or doubles
    functions: tuple[Expr, ...]
    order: int
    digits: int
    doubles: bool

    def logs(self, branch: Branch, u: Array) -> tuple[Array, list[Array], list[Array], Array]:
        """(log of the integrand in u, statistics, functions, Σ|terms| of the logarithm)."""
        t, log_h, f = values(
            self.family, branch, u, self.args, self.functions, doubles=self.doubles
        )
        with np.errstate(all="ignore"):
            terms = [np.multiply(a, b) for a, b in zip(self.args, t, strict=False)]
            jacobian = u if branch.sign else 0 * u
            total = reduce(np.add, terms, np.add(jacobian, log_h))
            size = reduce(np.add, map(abs, terms), np.add(abs(jacobian), abs(log_h)))
        return _real(total), t, f, _real(size)


@dataclass(frozen=True)
class Peak:
    """A local maximum of L on a branch, and the panel ends around it."""

    branch: Branch
    at: float
    height: Any
    ends: tuple[Any, ...]


@dataclass(frozen=True)
class Nodes:
    """Points of a branch with weights: Σ w f(x) is a part of an integral or a sum."""

    branch: Branch
    u: Array
    weight: Array


@dataclass(frozen=True)
class Rule:
    """∫ f h exp⟨λ, T⟩ ≈ e^scale Σ w f(x), by a fine rule and by a coarser one."""

    scale: Any
    fine: tuple[Nodes, ...]
    coarse: tuple[Nodes, ...]


def _real(x: Array) -> Array:
    """Reals where the imaginary part is zero; a complex density has no logarithm."""
    if not is_exact(x):
        return x
    fix: Any = np.frompyfunc(
        lambda v: v if isinstance(v, mpmath.mpf) else (v.real if v.imag == 0 else mpmath.nan), 1, 1
    )
    return fix(x)


def array(items: Sequence[Any], doubles: bool) -> Array:
    """Numbers as an array of doubles or of mpmath numbers."""
    if doubles:
        return np.array([float(x) for x in items])
    out = np.empty(len(items), dtype=object)
    out[:] = [mpmath.mpf(x) for x in items]
    return out


def as_doubles(x: Array) -> Array:
    """An array of doubles, for comparisons; nan where there is no number."""
    with np.errstate(all="ignore"):
        if is_exact(x):
            return np.array([_double(v) for v in x.ravel()]).reshape(x.shape)
        return np.asarray(x, dtype=float)


def _double(v: Any) -> float:
    if isinstance(v, mpmath.mpc):
        return float(v.real) if v.imag == 0 else math.nan
    return float(v)


@lru_cache(maxsize=1)
def _grid() -> Array:
    """From −10⁸ to 10⁸, dense around 0."""
    return np.sinh(np.linspace(-19.0, 19.0, 1901))


def peaks_of(task: Task, branches: Sequence[Branch]) -> list[Peak]:
    """The local maxima that matter, with panel ends out to where nothing is left."""
    found: list[tuple[Branch, float, Any]] = []
    for branch in branches:
        found += [m for m in _maxima(task, branch) if not mpmath.isnan(m[2])]
    if not found:
        raise Divergent("the density vanishes everywhere")
    top = max(height for *_, height in found)
    if not mpmath.isfinite(top):
        raise Divergent("the density is infinite")
    cut = (task.digits + 6) * math.log(10)
    kept = [(b, at, h) for b, at, h in found if h > top - cut]
    return [Peak(b, at, h, _panel_ends(task, b, at, h, top - cut)) for b, at, h in kept]


def in_doubles(task: Task) -> Task:
    """The same task in doubles, to look around with."""
    if task.doubles:
        return task
    args = tuple(float(a) for a in task.args)
    return Task(task.family, args, task.functions, task.order, task.digits, True)


def _maxima(task: Task, branch: Branch) -> list[tuple[Branch, float, Any]]:
    """(branch, u, L) of the local maxima on the grid, refined by zooming in."""
    top = math.inf if branch.top is None else float(branch.top)
    grid = _grid()
    near = np.linspace(-4.0, 0.0, 200, endpoint=True) + (top if math.isfinite(top) else 2.0)
    grid = np.unique(np.concatenate([grid[grid < top], near, [top] if np.isfinite(top) else []]))
    light = in_doubles(task)
    level = as_doubles(light.logs(branch, grid)[0])
    level = np.where(np.isnan(level), -np.inf, level)
    if np.any(level == np.inf):
        raise Divergent("the density is infinite")
    padded = np.concatenate([[-np.inf], level, [-np.inf]])
    is_top = (level >= padded[:-2]) & (level >= padded[2:]) & (level > -np.inf)
    places = np.flatnonzero(is_top)
    if len(places) > _MODES:
        places = np.sort(places[np.argsort(level[places])[-_MODES:]])
    low, high = grid[np.maximum(places - 1, 0)], grid[np.minimum(places + 1, len(grid) - 1)]
    at, height, noise = zoom(light, branch, low, high)
    found: list[tuple[Branch, float, Any]] = []
    for k in range(len(places)):
        if noise[k] > 1e-2 and not task.doubles:
            u, best = _golden(task, branch, low[k], high[k])
            found.append((branch, u, best))
        elif height[k] > -np.inf:
            place = at[k] if task.doubles else mpmath.mpf(at[k])
            inner = place if branch.top is None or task.doubles else min(place, branch.top)
            found.append((branch, inner, height[k]))
    return found


def zoom(task: Task, branch: Branch, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Maxima in brackets, all at once: 17 points each, then the two cells around the best."""
    steps = np.linspace(0.0, 1.0, 17)
    rows = np.arange(len(low))
    best, level, noise = low, np.full(len(low), -np.inf), np.zeros(len(low))
    for _ in range(18):
        points = low[:, None] + (high - low)[:, None] * steps
        total, _, _, size = task.logs(branch, points)
        total = np.where(np.isnan(total), -np.inf, total)
        k = np.argmax(total, axis=1)
        best, level = points[rows, k], total[rows, k]
        noise = np.nan_to_num(np.broadcast_to(size, total.shape)[rows, k]) * 2.0**-52
        low, high = points[rows, np.maximum(k - 1, 0)], points[rows, np.minimum(k + 1, 16)]
    return best, level, noise


def _golden(task: Task, branch: Branch, low: float, high: float) -> tuple[Any, Any]:
    """A maximum to which doubles are blind."""
    ratio = (mpmath.sqrt(5) - 1) / 2
    a, b = mpmath.mpf(low), mpmath.mpf(high)

    def level(u: Any) -> Any:
        found = task.logs(branch, array([u], False))[0][0]
        return -mpmath.inf if mpmath.isnan(found) else found

    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = level(c), level(d)
    while b - a > mpmath.mpf(10) ** -20 * (1 + abs(a)):
        if at_c > at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = level(c)
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = level(d)
    return (c, at_c) if at_c > at_d else (d, at_d)


def _panel_ends(task: Task, branch: Branch, at: Any, height: Any, cut: Any) -> tuple[Any, ...]:
    """m ± w 2^k from the width w of the peak until the integrand is below the cut."""
    left = _side(task, branch, at, height, cut, -1)
    right = _side(task, branch, at, height, cut, 1)
    return (*reversed(left), at, *right)


def _side(
    task: Task, branch: Branch, at: Any, height: Any, cut: Any, sign: int
) -> list[Any]:  # fmt: skip
    room = None if branch.top is None or sign < 0 else branch.top - at
    smallest = max(abs(float(at)), 1e-3) * 1e-13
    count = int(math.log2(FARTHEST / smallest))
    steps = [math.ldexp(smallest, k) for k in range(count)]
    if room is not None:
        steps = [s for s in steps if s < room]
        steps.append(float(room) if task.doubles else room)
    if not steps or steps[-1] <= 0:
        return []
    points = array([at + sign * s for s in steps], task.doubles)
    total, t, f, _ = task.logs(branch, points)
    level = as_doubles(total)
    drop = as_doubles(total - height)
    growth = _growth(task, t, f, len(steps))
    below = (level + growth < float(cut)) | (level == -np.inf)
    last = len(steps) - 1
    above = np.flatnonzero(~below)
    first_gone = int(above[-1]) + 1 if len(above) else 0
    if np.isnan(level[min(first_gone, last)]) or (above.size and np.isnan(level[above]).any()):
        first_gone = _before_nan(level, below)
    if first_gone > last:
        if room is None:
            raise Divergent("its mass does not fall off")
        first_gone = last
    # x itself changes on the scale 1 of u, however flat the density is
    start = next((k for k in range(last + 1) if drop[k] < -0.7 or steps[k] > 0.4), last)
    return [at + sign * s for s in steps[min(start, first_gone) : first_gone + 1]]


def _before_nan(level: Array, below: Array) -> int:
    """The end when far points have no number: they must come after it has fallen off."""
    undefined = int(np.flatnonzero(np.isnan(level))[0])
    above = np.flatnonzero(~below[:undefined])
    end = int(above[-1]) + 1 if len(above) else 0
    if end >= undefined:
        raise Divergent("its mass does not fall off as far as it can be computed")
    return end


def _growth(task: Task, t: list[Array], f: list[Array], size: int) -> Array:
    """The logarithm of what multiplies the density: 1, T^order, functions."""
    total = np.ones(size)
    with np.errstate(all="ignore"):
        for x in t if task.order else []:
            total = total + np.abs(as_doubles(np.broadcast_to(x, (size,)))) ** task.order
        for x in f:
            total = total + np.abs(as_doubles(np.broadcast_to(x, (size,))))
        return np.nan_to_num(np.log(total), nan=0.0, posinf=750.0)


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


@dataclass
class _Panels:
    """Intervals of one branch that still have to be settled."""

    branch: Branch
    low: Array
    high: Array


def integrate(task: Task, branches: Sequence[Branch]) -> Rule:
    """The rule for an integral over the branches, settled for all integrands of the task."""
    peaks = peaks_of(task, branches)
    if not peaks:
        raise Unsettled("its largest value cannot be told in doubles")
    scale = max(p.height for p in peaks)
    centre = _centres(task, max(peaks, key=lambda p: p.height))
    found = [_merged(task, b, [p for p in peaks if p.branch is b]) for b in branches]
    return _settle(task, [p for p in found if p is not None], scale, centre)


def _centres(task: Task, peak: Peak) -> list[Any]:
    """The statistics at the highest mode."""
    _, t, _, _ = task.logs(peak.branch, array([peak.at], task.doubles))
    return [np.broadcast_to(x, (1,))[0] for x in t]


def _merged(task: Task, branch: Branch, peaks: list[Peak]) -> _Panels | None:
    """The panels of all peaks of a branch, each cut at the ends of the others."""
    ends = sorted({e for p in peaks for e in p.ends})
    if len(ends) < 2:
        return None
    tiny = 1e-14 if task.doubles else mpmath.mpf(10) ** (5 - mpmath.mp.dps)
    kept = [ends[0]]
    kept += [e for a, e in pairwise(ends) if e - a > tiny * (1 + abs(e))]
    return _Panels(branch, array(kept[:-1], task.doubles), array(kept[1:], task.doubles))


def _settle(task: Task, queue: list[_Panels], scale: Any, centre: list[Any]) -> Rule:
    coarse_count = 10 if task.doubles else max(10, int(0.55 * task.digits) + 2)
    counts = (coarse_count, coarse_count * 3 // 2 + 2)
    fine: list[Nodes] = []
    coarse: list[Nodes] = []
    settled = np.zeros(0)
    used = 0
    for _ in range(_DEPTH):
        batches = [_evaluate(task, p, counts, scale, centre) for p in queue]
        used += sum(b.fine.u.size for b in batches)
        sizes = [b.size.sum(axis=1) for b in batches]
        total = sum(sizes, settled if settled.size else 0 * sizes[0])
        again: list[_Panels] = []
        for p, b in zip(queue, batches, strict=True):
            limit = total[:, None] * _tolerance(task)
            good = np.all((b.gap <= limit) | (b.gap <= b.noise * b.size), axis=0)
            kept = b.size[:, good].sum(axis=1)
            settled = kept if not settled.size else settled + kept
            fine.append(_rows(b.fine, good, counts[1]))
            coarse.append(_rows(b.coarse, good, counts[0]))
            if not good.all():
                again.append(_halved(p, ~good))
        if not again:
            return Rule(scale, tuple(fine), tuple(coarse))
        if used > _POINTS[task.doubles]:
            break
        queue = again
    raise Unsettled("the integrand is not resolved by any number of points within reach")


def _tolerance(task: Task) -> Any:
    return 1e-13 if task.doubles else mpmath.mpf(10) ** -(task.digits + 1)


def _halved(p: _Panels, which: Array) -> _Panels:
    low, high = p.low[which], p.high[which]
    middle = (low + high) / 2
    return _Panels(p.branch, np.concatenate([low, middle]), np.concatenate([middle, high]))


def _rows(nodes: Nodes, which: Array, count: int) -> Nodes:
    u, weight = nodes.u.reshape(-1, count), nodes.weight.reshape(-1, count)
    return Nodes(nodes.branch, u[which].ravel(), weight[which].ravel())


@dataclass(frozen=True)
class _Batch:
    """Panels evaluated: |fine − coarse| and Σ|w f|, a row an integrand, a column a panel."""

    fine: Nodes
    coarse: Nodes
    gap: Array
    size: Array
    noise: Array  # relative rounding of the density in doubles, a panel


def _evaluate(
    task: Task, p: _Panels, counts: tuple[int, int], scale: Any, centre: list[Any]
) -> _Batch:
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
        sums.append([_by_panel(x, len(half)) for x in parts])
        found.append(Nodes(p.branch, u, mass))
        if task.doubles:
            spread = np.broadcast_to(np.nan_to_num(size), u.shape).reshape(len(half), -1)
            noise = (spread.max(axis=1) + 50) * 2.0**-51
    gap = np.array([abs(a - b) for a, b in zip(*sums, strict=True)])
    largest = np.array([_by_panel(abs(x), len(half)) for x in parts])
    return _Batch(found[1], found[0], gap, largest, noise)


def product(mass: Array, f: Array) -> Array:
    """mass · f, 0 where there is no mass."""
    with np.errstate(all="ignore"):
        return np.where(mass == 0, 0 * mass, mass * f)


def _by_panel(x: Array, panels: int) -> Array:
    return x.reshape(panels, -1).sum(axis=1)


def exponential(task: Task, x: Array) -> Array:
    """eˣ; 0 where there is no density."""
    if task.doubles:
        found = np.exp(x)
        return np.where(np.isnan(found), 0.0, found)
    make: Callable[..., Any] = np.frompyfunc(
        lambda v: mpmath.mpf(0) if mpmath.isnan(v) or v < -(10**15) else mpmath.exp(v), 1, 1
    )
    return make(x)


def integrands(
    task: Task, t: list[Array], f: list[Array], centre: list[Any], size: int
) -> list[Array]:
    """1, the statistics from their value at the mode on, their powers, and the functions."""
    one = 1.0 if task.doubles else mpmath.mpf(1)
    rows = [np.broadcast_to(np.array([one]), (size,))]
    for x, c in zip(t, centre, strict=True):
        rows += [(x - c) ** k for k in range(1, task.order + 1)]
    for x in f:
        if np.iscomplexobj(x):
            raise Unsettled("a function is not real")
        rows.append(np.broadcast_to(x, (size,)))
    return rows
