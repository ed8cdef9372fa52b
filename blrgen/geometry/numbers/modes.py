"""Where a density has its mass: local maxima on a branch, and how far out it counts.

On every branch x = end ± eᵘ the log-density L(u) is scanned on a grid that reaches from
e^(−10⁸) to e^(10⁸); its local maxima are refined, and from each panels of doubling
width go outwards until the integrand has fallen by all the digits asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

from blrgen.geometry.numbers.branch import Branch
from blrgen.geometry.numbers.landmarks import on_branch
from blrgen.geometry.numbers.task import Divergent, Task, above, array, as_doubles, in_doubles

Array = Any
FARTHEST = 1e15  # in u, the logarithm of the distance from an end
_MODES = 200


@dataclass(frozen=True)
class Peak:
    """A local maximum of L on a branch, and the panel ends around it."""

    branch: Branch
    at: float
    height: Any
    ends: tuple[Any, ...]


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
    cut = cut_of(task)
    kept = [(b, at, h) for b, at, h in found if h > top - cut]
    return [Peak(b, at, h, panel_ends(task, b, at, h, top - cut)) for b, at, h in kept]


def cut_of(task: Task) -> float:
    """How far below the highest mode, in the logarithm, there is nothing left."""
    return (task.digits + 6) * math.log(10)


def _maxima(task: Task, branch: Branch) -> list[tuple[Branch, float, Any]]:
    """(branch, u, L) of the local maxima on the grid, refined by zooming in."""
    top = math.inf if branch.top is None else float(branch.top)
    grid = _grid()
    near = np.linspace(-4.0, 0.0, 200, endpoint=True) + (top if math.isfinite(top) else 2.0)
    named = _named(task, branch)
    grid = np.concatenate([grid, near, [top] if np.isfinite(top) else [], named])
    grid = np.unique(grid[grid <= top])
    light = in_doubles(task)
    total, _, _, size = light.logs(branch, grid)
    level, size = as_doubles(total), np.broadcast_to(size, grid.shape)
    level = np.where(np.isnan(level), -np.inf, level)
    if np.any(level == np.inf):
        raise Divergent("the density is infinite")
    places = prominent(level, np.nan_to_num(size) * 2.0**-50)
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


def _named(task: Task, branch: Branch) -> Array:
    """Points close and closer to the places that the formulas name."""
    places = on_branch(task.family, branch, task.constants)
    near = np.geomspace(1e-13, 3.0, 50)
    return np.concatenate([places, *(np.concatenate([c - near, c + near]) for c in places)])


def prominent(level: Array, noise: Array) -> Array:
    """Places of local maxima that stand out of the noise: higher than the valleys beside them.

    Of maxima with no valley between them, such as those of a plateau, the highest is kept.
    """
    padded = np.concatenate([[-np.inf], level, [-np.inf]])
    tops = np.flatnonzero((level >= padded[:-2]) & (level >= padded[2:]) & (level > -np.inf))
    kept: list[int] = []
    for k in tops:
        while kept:
            last = kept[-1]
            valley = level[last : k + 1].min()
            rough = max(noise[last], noise[k])
            if min(level[last], level[k]) - valley > rough:
                kept.append(int(k))
                break
            if level[k] <= level[last]:
                break  # a ripple on the way down from the last one
            kept.pop()  # the last one was a ripple on the way up to this one
        else:
            kept.append(int(k))
    return np.array(kept, dtype=int)


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


def panel_ends(task: Task, branch: Branch, at: Any, height: Any, cut: Any) -> tuple[Any, ...]:
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
    drop = above(total, height)
    growth = _growth(task, t, f, len(steps))
    below = (level + growth < float(cut)) | (level == -np.inf)
    last = len(steps) - 1
    high = np.flatnonzero(~below)
    first_gone = int(high[-1]) + 1 if len(high) else 0
    if np.isnan(level[min(first_gone, last)]) or (high.size and np.isnan(level[high]).any()):
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
    standing = np.flatnonzero(~below[:undefined])
    end = int(standing[-1]) + 1 if len(standing) else 0
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
