"""Σ f h exp⟨λ, T⟩ over points: finite sets, integers from a bound on, all integers.

A sum whose terms fall off within a few thousand steps of the largest is taken term by
term.  A longer one is an integral with corrections at its ends (Euler–Maclaurin),

    Σ_{k≥n} g(k) = ∫_n^∞ g + g(n)/2 − Σ_j B_2j/(2j)! g^(2j−1)(n),

after the first terms, the derivatives being Cauchy's integrals over a circle around n.
Twice as many terms before n must give the same sum; the difference estimates the error.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from blrgen.core import Family
from blrgen.geometry.numbers.branch import Branch, segments, values
from blrgen.geometry.numbers.landmarks import landmarks
from blrgen.geometry.numbers.nodes import arguments
from blrgen.geometry.numbers.panels import settle
from blrgen.geometry.numbers.quadrature import integrate
from blrgen.geometry.numbers.task import (
    Divergent,
    Nodes,
    Panels,
    Rule,
    Task,
    Unsettled,
    above,
    array,
    as_doubles,
    exponential,
    in_doubles,
    integrands,
    product,
)

Expr = Any
Array = Any
DIRECT = {True: 300_000, False: 6_000}
PLAIN = Branch(sp.S.Zero, 0)
FARTHEST, _DOUBLINGS = 1e60, 210  # no largest term is looked for beyond, no tail
_FIRST, _LAST = 64, 2048  # terms taken one by one before a tail


def add_points(task: Task, points: Array) -> Rule:
    """The sum over a finite set of points."""
    total = task.logs(PLAIN, points)[0]
    level = as_doubles(total)
    if np.isnan(level).any() or (level == np.inf).any():
        raise Divergent("the density has no value at a point of the support")
    scale = total[int(np.argmax(level))]
    if not mpmath.isfinite(scale):
        raise Divergent("the density vanishes everywhere")
    nodes = (Nodes(PLAIN, points, exponential(task, total - scale)),)
    return Rule(scale, nodes, nodes)


def add_integers(task: Task, low: Any, high: Any) -> Rule:
    """The sum over the integers from low to high, either of them possibly infinite."""
    mode, window = _window(task, low, high)
    start, end = max(window[0], low), min(window[1], high)
    if end - start <= DIRECT[task.doubles]:
        count = int(end - start) + 1
        return add_points(task, _run(task, start, count))
    return _long(task, low, high, mode, start > low)


def _run(task: Task, start: Any, count: int) -> Array:
    if task.doubles:
        return float(start) + np.arange(count)
    return array([start + k for k in range(count)], False)


def _window(task: Task, low: Any, high: Any) -> tuple[Any, tuple[Any, Any]]:
    """(the place of the largest term, where terms stop to matter on both sides)."""
    steps = np.unique(
        np.round(np.concatenate([np.arange(2000.0), np.geomspace(2e3, FARTHEST, 3000)]))
    )
    both = np.concatenate([-steps[:0:-1], steps])
    grid = both if mpmath.isinf(low) else float(low) + steps
    near = np.arange(-60.0, 61.0)
    named = [np.round(c) + near for c in landmarks(task.family, task.constants)]
    grid = np.unique(np.concatenate([grid, *named]))
    grid = grid[(grid <= float(high)) & (grid >= float(low))]
    light = in_doubles(task)
    level = as_doubles(light.logs(PLAIN, grid)[0])
    level = np.where(np.isnan(level), -np.inf, level)
    if (level == np.inf).any():
        raise Divergent("a term is infinite")
    if not (level > -np.inf).any():
        raise Divergent("the density vanishes everywhere")
    best = int(np.argmax(level))
    if (mpmath.isinf(high) and best == len(grid) - 1) or (mpmath.isinf(low) and best == 0):
        raise Divergent("its terms do not fall off")
    if task.doubles and abs(grid[best]) > 1e14:
        raise Unsettled("its largest term is further out than doubles can count")
    modes = _modes(task, grid, level)
    top = max(h for _, h in modes)
    cut = top - (task.digits + 6) * math.log(10) - _alone(task, max(modes, key=lambda m: m[1]))
    ends = [
        (_reach(task, k, cut, -1, k - low), _reach(task, k, cut, 1, high - k))
        for k, h in modes
        if h > cut
    ]
    if not ends:
        raise Unsettled("its largest term is further out than these digits can count")
    mode = max(modes, key=lambda m: m[1])[0]
    return mode, (min(a for a, _ in ends), max(b for _, b in ends))


def _alone(task: Task, mode: tuple[Any, Any]) -> Any:
    """How far the largest term stands above those beside it: they too are to be right."""
    k, height = mode
    beside = task.logs(PLAIN, array([k - 1, k + 1], task.doubles))[0]
    known = [height - v for v in beside if mpmath.isfinite(v)]
    return max(min(known, default=0), 0)


def _modes(task: Task, grid: Array, level: Array) -> list[tuple[Any, Any]]:
    """(integer, log of its term) for the local maxima, refined between grid points."""
    padded = np.concatenate([[-np.inf], level, [-np.inf]])
    places = np.flatnonzero((level >= padded[:-2]) & (level >= padded[2:]) & (level > -np.inf))
    places = np.sort(places[np.argsort(level[places])[-50:]])
    found = []
    for i in places:
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        found.append(_climb(task, mpmath.mpf(low), mpmath.mpf(high)))
    return found


def _climb(task: Task, low: Any, high: Any) -> tuple[Any, Any]:
    """The largest term between two integers, by ternary steps."""

    def levels(points: list[Any]) -> list[Any]:
        found = task.logs(PLAIN, array(points, task.doubles))[0]
        return [-mpmath.inf if mpmath.isnan(v) else mpmath.mpf(v) for v in found]

    while high - low > 12:
        inner = [low + mpmath.floor((high - low) * j / 8) for j in range(9)]
        at = levels(inner)
        k = max(range(9), key=lambda j: at[j])
        before = high - low
        low, high = inner[max(k - 1, 0)], inner[min(k + 1, 8)]
        if high - low >= before:
            break  # the digits of the arithmetic end here
    points = [low + j for j in range(min(int(high - low), 12) + 1)]
    at = levels(points)
    k = max(range(len(points)), key=lambda j: at[j])
    return points[k], at[k]


def _reach(task: Task, mode: Any, cut: Any, sign: int, room: Any) -> Any:
    """Where terms (times what they are multiplied with) fall below the cut, by doubling."""
    steps = [2.0**k for k in range(_DOUBLINGS) if 2.0**k <= room]
    if not steps:
        return mode
    points = array([mode + sign * s for s in steps], task.doubles)
    total, t, f, _ = task.logs(PLAIN, points)
    level = above(total, cut)
    growth = np.zeros(len(steps))
    with np.errstate(all="ignore"):
        for x in t if task.order else []:
            growth = np.maximum(growth, task.order * np.log1p(np.abs(_wide(x, len(steps)))))
        for x in f:
            growth = np.maximum(growth, np.log1p(np.abs(_wide(x, len(steps)))))
    undefined = np.isnan(level)
    matters = np.where(undefined, False, level + np.nan_to_num(growth) > 0)
    if not matters.any():
        return mode + sign
    last = int(np.flatnonzero(matters)[-1])
    # the last doubling may stop short of the end of the support
    return mode + sign * (steps[last + 1] if last + 1 < len(steps) else min(room, 2.0**_DOUBLINGS))


def _wide(x: Array, size: int) -> Array:
    return as_doubles(np.broadcast_to(x, (size,)))


def _long(task: Task, low: Any, high: Any, mode: Any, left_gone: bool) -> Rule:
    """More terms before the corrections until the sum stays the same."""
    if left_gone and _broad(task, mode):
        rule = _integral(task, low, high)
        if not _smooth(task, mode):
            raise Unsettled("its terms change from one to the next")
        return Rule(rule.scale, rule.fine, rule.coarse)
    before: tuple[Any, list[Nodes]] | None = None
    first = max(_FIRST, 2 * task.digits)
    while first <= _LAST:
        found = _pieces(task, low, high, mode, left_gone, first)
        if before is not None and _agree(task, before, found):
            scale = found[0]
            shift = _power(task, before[0] - scale)
            coarse = tuple(Nodes(n.branch, n.u, n.weight * shift) for n in before[1])
            return Rule(scale, tuple(found[1]), coarse)
        before, first = found, 2 * first
    raise Unsettled("the sum does not settle")


def _broad(task: Task, mode: Any) -> bool:
    """Whether the largest term is the top of a hill so wide that the sum is the integral."""
    near = as_doubles(task.logs(PLAIN, array([mode - 40, mode, mode + 40], task.doubles))[0])
    return bool(max(near[1] - near[0], near[1] - near[2]) < 1)


def _smooth(task: Task, mode: Any) -> bool:
    """Whether terms around the largest add up to their integral with its corrections."""
    width = _FIRST
    terms = add_points(task, _run(task, mode, width + 1))
    scale, far = terms.scale, mode + width
    between = Panels(PLAIN, array([mode], task.doubles), array([far], task.doubles))
    middle = [0 * task.args[0]] * len(task.family.statistics)
    parts = [(scale, n) for n in settle(task, [between], scale, middle).fine]
    parts += [_correction(task, end, sign, width) for end, sign in ((mode, 1), (far, -1))]
    nodes = [Nodes(n.branch, n.u, n.weight * _power(task, s - scale)) for s, n in parts]
    return _agree(task, (scale, nodes), (scale, list(terms.fine)))


def _integral(task: Task, low: Any, high: Any) -> Rule:
    fixed = len(task.family.natural)
    names = arguments(task.family)[fixed:]
    point = {x: mpmath.mpf(a) for x, a in zip(names, task.args[fixed:], strict=True)}
    return integrate(task, _between(task.family, low, high, point))


def _between(family: Family, low: Any, high: Any, point: dict[Expr, Any]) -> list[Branch]:
    """Branches over an interval whose ends are numbers."""

    def end(value: Any) -> Expr:
        if mpmath.isinf(value):
            return sp.oo if value > 0 else -sp.oo
        return sp.Integer(int(value))

    return segments(family, end(low), end(high), point, mpmath.mpf(0))


def _pieces(
    task: Task, low: Any, high: Any, mode: Any, left_gone: bool, first: int
) -> tuple[Any, list[Nodes]]:
    """The terms around the start, and tails on one side or both."""
    if not left_gone and not mpmath.isinf(low):
        start, end = low, low + first
        tails = [(end, high, 1)]
    else:
        start, end = max(low, mode - first + 1), mode + first
        tails = [(end, high, 1), (start - 1, low, -1)]
    scaled: list[tuple[Any, Nodes]] = []
    middle = add_points(task, _run(task, start, int(end - start)))
    scaled += [(middle.scale, n) for n in middle.fine]
    for near, far, sign in tails:
        scaled += _tail(task, near, far, sign, first)
    scale = max(s for s, _ in scaled)
    return scale, [Nodes(n.branch, n.u, n.weight * _power(task, s - scale)) for s, n in scaled]


def _power(task: Task, x: Any) -> Any:
    """eˣ as a number of the task's arithmetic."""
    return math.exp(x) if task.doubles else mpmath.exp(x)


def _tail(task: Task, near: Any, far: Any, sign: int, first: int) -> list[tuple[Any, Nodes]]:
    """Σ from `near` outwards to `far`: the integral, half the first term, the derivatives."""
    if sign * (far - near) < 0:
        return []
    ends = [(near, sign)]
    if not mpmath.isinf(far):
        ends.append((far, -sign))
    rule = _integral(task, *((near, far) if sign > 0 else (far, near)))
    found = [(rule.scale, n) for n in rule.fine]
    for end, inward in ends:
        found.append(_correction(task, end, inward, first))
    return found


def _correction(task: Task, end: Any, sign: int, first: int) -> tuple[Any, Nodes]:
    """g(n)/2 − sign Σ_j B_2j/(2j)! g^(2j−1)(n), by values on a circle around n."""
    u, w = _circle(task, end, sign, first)
    with np.errstate(all="ignore"):
        t, log_h, _ = values(task.family, PLAIN, u, task.args, doubles=task.doubles)
        terms = [np.multiply(a, b) for a, b in zip(task.args, t, strict=False)]
        total = np.broadcast_to(np.asarray(reduce(np.add, terms, log_h)), u.shape)
    scale = total[0].real
    if task.doubles:
        if not np.isfinite(total).all():
            raise Unsettled("a long sum has terms that doubles have no values for")
        return scale, Nodes(PLAIN, u, w * np.exp(total - scale))
    if not mpmath.isfinite(scale):
        return mpmath.mpf(-(10**12)), Nodes(PLAIN, u, 0 * w)
    shifted: Any = np.frompyfunc(lambda v: mpmath.exp(v - scale), 1, 1)
    return scale, Nodes(PLAIN, u, w * shifted(total))


def _circle(task: Task, end: Any, sign: int, first: int) -> tuple[Array, Array]:
    """n and points on a circle around it; ½, and the weights of the derivatives' sum."""
    digits = 16 if task.doubles else mpmath.mp.dps
    radius = mpmath.mpf(first) / 4
    count = 2 * int(0.9 * digits) + 16
    tiny = mpmath.mpf(10) ** -(digits + 2)
    weights = [mpmath.mpf(0)] * count
    turns = [mpmath.expjpi(mpmath.mpf(2 * j) / count) for j in range(count)]
    before = mpmath.inf
    for n in range(1, count // 2, 2):
        factor = mpmath.bernoulli(n + 1) / ((n + 1) * radius**n)
        if abs(factor) > before or abs(factor) < tiny:
            break
        before = abs(factor)
        for j in range(count):
            weights[j] -= sign * factor * turns[-j * n % count] / count
    u = np.empty(count + 1, dtype=object)
    u[:] = [mpmath.mpf(end), *(end + radius * turn for turn in turns)]
    w = np.empty(count + 1, dtype=object)
    w[:] = [mpmath.mpf(1) / 2, *weights]
    return (u.astype(complex), w.astype(complex)) if task.doubles else (u, w)


def _agree(
    task: Task, one: tuple[Any, list[Nodes]], other: tuple[Any, list[Nodes]]
) -> bool:  # fmt: skip
    scale = max(one[0], other[0])
    sums = [_sums(task, nodes, _power(task, s - scale)) for s, nodes in (one, other)]
    tiny = 1e-13 if task.doubles else mpmath.mpf(10) ** -task.digits
    return all(abs(a - b) <= tiny * abs(size) for (a, _), (b, size) in zip(*sums, strict=True))


def _sums(task: Task, nodes: list[Nodes], factor: Any) -> list[tuple[Any, Any]]:
    """(Σ w f, Σ |w f|) for every integrand."""
    found: list[tuple[Any, Any]] = []
    centre = [0 * task.args[0]] * len(task.family.statistics)
    for n in nodes:
        with np.errstate(all="ignore"):
            t, _, f = values(
                task.family, n.branch, n.u, task.args, task.functions, doubles=task.doubles
            )
        rows = integrands(task, t, f, centre, n.u.size)
        parts = [product(n.weight * factor, r) for r in rows]
        here = [(p.sum().real, abs(p).sum()) for p in parts]
        found = here if not found else [
            (a + c, b + d) for (a, b), (c, d) in zip(found, here, strict=True)
        ]  # fmt: skip
    return found
