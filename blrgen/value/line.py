"""Nodes and weights for ∫ and Σ over a line, placed by the density itself.

A line is cut where the density has its peak and where |·| has its corners.  A finite
piece gets tanh-sinh nodes, an infinite one exp-sinh nodes: with x = x(t) both turn
the integrand into one that falls off doubly exponentially, for which the trapezoidal
rule converges at once, whatever power stands at an end of the interval.  A node keeps its
distance to the end, computed with the digits that x needs to show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
from mpmath import mp

Value = Any
LogDensity = Callable[[Value], Value]  # log of a non-negative density; −∞ where it is zero

DROP = 80  # in the logarithm: what is further below the peak does not count
MOST_DIGITS = 6000  # an endpoint is approached to 10^-6000, no closer
_MOST_PEAKS = 5
TOO_FAR = 11.0  # |t| beyond which no weight is left


class Diverges(Exception):
    """The mass does not fall off towards an end."""


@dataclass(frozen=True)
class Node:
    """A point, the logarithm of its weight, and the digits it needs to be told from an end."""

    x: Value
    log_weight: Value
    digits: int


@dataclass(frozen=True)
class Piece:
    """From `end` towards `other`; exactly one of them may be infinite, and is then `other`."""

    end: Value
    other: Value
    scale: Value  # of an infinite piece
    sign: int = 1

    def node(self, t: Value) -> Node:
        half_pi = mpmath.pi / 2
        u = half_pi * mpmath.sinh(t)
        speed = half_pi * mpmath.cosh(t)
        if mpmath.isinf(self.other):
            step = self.scale * mpmath.exp(u)
            return self._placed(self.end, self.sign * step, mpmath.log(step * speed))
        length = self.other - self.end
        # the part of the piece that lies behind the node, seen from the nearer end
        part = 1 / (1 + mpmath.exp(2 * abs(u)))
        log_weight = mpmath.log(length * part * (1 - part) * 2 * speed)
        if t < 0:
            return self._placed(self.end, length * part, log_weight)
        return self._placed(self.other, -length * part, log_weight)

    @staticmethod
    def _placed(end: Value, step: Value, log_weight: Value) -> Node:
        need = mp.dps
        if end != 0 and step != 0:
            need += max(0, int((mpmath.mag(end) - mpmath.mag(step)) * 0.30103) + 1)
        with mpmath.workdps(min(need, MOST_DIGITS)):
            return Node(end + step, log_weight, min(need, MOST_DIGITS))


def line_nodes(
    log_density: LogDensity, low: Value, high: Value, inner: list[Value], scale: Value, level: int
) -> Iterator[tuple[Node, Value]]:
    """(node, log of weight·density) over (low, high) at step 2^-level, where it counts."""
    cuts = [low, *sorted({c for c in inner if low < c < high}), high]
    for a, b in pairwise(cuts):
        yield from _piece_nodes(log_density, _piece(a, b, scale), level)


def _piece(a: Value, b: Value, scale: Value) -> Piece:
    if mpmath.isinf(a):
        return Piece(b, a, scale, -1)
    return Piece(a, b, scale)


def _piece_nodes(log_density: LogDensity, piece: Piece, level: int) -> Iterator[tuple[Node, Value]]:
    h = mpmath.mpf(2) ** -level
    log_h = mpmath.log(h)
    top = mpmath.ninf
    for direction in (1, -1):
        k, low_in_a_row = (0 if direction == 1 else -1), 0
        while low_in_a_row < 4 or abs(k) * h < 2:
            t = k * h
            if abs(t) > TOO_FAR:
                if low_in_a_row == 0:
                    raise Diverges
                break
            node = piece.node(t)
            with mpmath.workdps(node.digits):
                mass = log_density(node.x) + node.log_weight + log_h
            top = max(top, mass)
            low_in_a_row = low_in_a_row + 1 if mass < top - DROP else 0
            if mass > top - DROP:
                yield node, mass
            k += direction


def peaks(log_density: LogDensity, low: Value, high: Value) -> tuple[list[Value], Value]:
    """Where the mass is, and the width of its largest heap.

    The maxima of density times distance to the nearest end, found on a grid and climbed.
    """
    with mpmath.workdps(40):  # a distance e⁻³² from an end is not rounded away
        place, weight = _coordinates(low, high)

        def height(y: Value) -> Value:
            return log_density(place(y)) + weight(y)

        grid = _grid(low, high)
        level = [mpmath.ninf, *map(height, grid), mpmath.ninf]
        tops = [
            (level[k + 1], y)
            for k, y in enumerate(grid)
            if level[k + 1] >= level[k] and level[k + 1] >= level[k + 2]
        ]
        tops = sorted(tops, key=lambda t: (-t[0], t[1]))[:_MOST_PEAKS]
        found = [_climbed(height, y) for top, y in tops if top > tops[0][0] - DROP]
        return [place(y) for y in found], _width(height, found[0], place)


def _climbed(height: Callable[[Value], Value], best: Value) -> Value:
    step, here = mpmath.mpf(1) / 2, height(best)
    for _ in range(60):
        left, right = height(best - step), height(best + step)
        if max(left, right) > here:
            best, here = (best - step, left) if left > right else (best + step, right)
        else:
            step /= 4
        if step < mpmath.mpf(10) ** -4:
            break
    return best


def _width(height: LogDensity, y: Value, place: Callable[[Value], Value]) -> Value:
    """How far from the peak the density has fallen to about 1/e."""
    step, here = mpmath.mpf(2) ** -12, height(y)
    while height(y + step) > here - 1 and step < 64:
        step *= 2
    return max(abs(place(y + step) - place(y)), mpmath.mpf(10) ** -15)


def _coordinates(
    low: Value, high: Value
) -> tuple[Callable[[Value], Value], Callable[[Value], Value]]:
    """x(y) from the whole line onto (low, high), and log dx/dy."""
    if mpmath.isinf(low) and mpmath.isinf(high):
        return mpmath.sinh, lambda y: mpmath.log(mpmath.cosh(y))
    if mpmath.isinf(high):
        return lambda y: low + mpmath.exp(y), lambda y: y
    if mpmath.isinf(low):
        return lambda y: high - mpmath.exp(y), lambda y: y
    length = high - low

    def logistic(y: Value) -> Value:
        return low + length / (1 + mpmath.exp(-y))

    def slope(y: Value) -> Value:
        return -abs(y) - 2 * mpmath.log(1 + mpmath.exp(-abs(y)))

    return logistic, slope


def _grid(low: Value, high: Value) -> list[Value]:
    finite = not (mpmath.isinf(low) or mpmath.isinf(high))
    reach = 12 if finite else 16
    return [mpmath.mpf(k) / 3 for k in range(-3 * reach, 3 * reach + 1)]


FIRST_TERMS = 2000  # summed one by one before the rest is an integral


def integer_nodes(
    log_density: LogDensity, low: Value, high: Value, level: int
) -> list[tuple[Value, Value, int]]:
    """(k, log of weight·mass, digits) over low, …, high; both ways from 0 when low is −∞."""
    if mpmath.isinf(low):
        right = integer_nodes(log_density, mpmath.mpf(0), high, level)
        left = integer_nodes(lambda k: log_density(-k), mpmath.mpf(1), mpmath.inf, level)
        return [*right, *((-k, mass, need) for k, mass, need in left)]
    found: list[tuple[Value, Value, int]] = []
    top, before = mpmath.ninf, mpmath.ninf
    last = FIRST_TERMS if mpmath.isinf(high) else int(high - low) + 1
    for n in range(last):
        k = low + n
        mass = log_density(k)
        found.append((k, mass, mp.dps))
        top = max(top, mass)
        if mpmath.isinf(high) and n > 8 and _negligible(mass, before, top):
            return found
        before = mass
    return found if not mpmath.isinf(high) else _with_tail(log_density, found, level)


def _negligible(mass: Value, before: Value, top: Value) -> bool:
    """Whether what follows is below the largest term by DROP: at most mass·r/(1 − r)."""
    if mass == mpmath.ninf:
        return bool(before == mpmath.ninf and top > mpmath.ninf)
    ratio = mass - before
    return bool(ratio < 0 and mass - mpmath.log(-mpmath.expm1(ratio)) < top - DROP)


def _with_tail(
    log_density: LogDensity, found: list[tuple[Value, Value, int]], level: int
) -> list[tuple[Value, Value, int]]:
    """Σ_{k ≥ N} f(k) = ∫_{N−½} f + (f(N) − f(N−1))/24 + O(f‴), by Euler and Maclaurin."""
    *first, (k, mass, need) = found
    start = k + mpmath.mpf(1) / 2
    tops, scale = peaks(log_density, start, mpmath.inf)
    return [
        *first,
        (k, mass + mpmath.log(mpmath.mpf(23) / 24), need),
        (k + 1, log_density(k + 1) - mpmath.log(24), need),
        *(
            (node.x, weight, node.digits)
            for node, weight in line_nodes(log_density, start, mpmath.inf, tops, scale, level)
        ),
    ]
