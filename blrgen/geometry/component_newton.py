"""μ → λ for families of vectors without a closed form: Newton's method.

    λ⁺ = λ + s F(λ)⁻¹(μ − μ(λ))

minimises the convex A(λ) − ⟨λ, μ⟩.  F⁻¹r is the solution found for every size (diagonal
plus low rank, so a step costs as much as reading the vectors); s is halved until the
step stays in the domain and the function falls.  A parameter that is positive is not
left to grow or shrink by more than a factor at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from blrgen.algebra.components import Component
from blrgen.core import Parameter
from blrgen.geometry.sized import Sized
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Value = Any
_STEPS = 400
_HALVINGS = 60
_NEARLY = mpmath.mpf(10) ** -24  # of |μ − μ(λ)|² in units of F
_SPARE = 20  # digits more: where F is nearly singular, A − ⟨λ, μ⟩ hardly changes
_RUNAWAY = mpmath.mpf(10) ** 30
_FACTOR = 8  # the most by which a one-sided parameter changes in a step


@dataclass(frozen=True)
class Found:
    """λ, whether μ(λ) = μ to the digits in force, and how many steps it took."""

    natural: list[Value]
    converged: bool
    steps: int


def natural_of_mean(
    geometry: Geometry, sizes: Mapping[Expr, int], mean: list[Value], fixed: Mapping[str, Value]
) -> Found:
    """λ with μ(λ) = mean: a number or a list for each natural parameter."""
    with mpmath.workdps(mpmath.mp.dps + _SPARE):
        return _searched(geometry, sizes, mean, fixed)


def _searched(
    geometry: Geometry, sizes: Mapping[Expr, int], mean: list[Value], fixed: Mapping[str, Value]
) -> Found:
    here = Instance(sizes, fixed, EXTENDED)
    now, count = [_start(p, here) for p in geometry.family.natural], 0
    system = _System(geometry, sizes, mean, fixed)
    try:
        for count in range(_STEPS):
            move, rise = system.direction(now)
            if _settled(now, move, rise):
                return Found(now, True, count)
            after = system.stepped(now, move)
            if after is not None and max(map(abs, _flat(after))) > _RUNAWAY:
                return Found(after, False, count)
            if after is None:
                return Found(now, bool(abs(rise) <= _NEARLY), count)
            now = after
    except (ZeroDivisionError, OverflowError, ValueError):  # far out, where no λ has this mean
        return Found(now, False, count)
    return Found(now, False, _STEPS)


def _settled(now: list[Value], move: list[Value], rise: Value) -> bool:
    """No component moves, against itself and its standard deviation."""
    size = mpmath.mpf(10) ** (-mpmath.mp.dps + 5)
    small = all(abs(m) <= size * max(1, abs(a)) for m, a in zip(_flat(move), _flat(now),
                                                               strict=True))  # fmt: skip
    return small and abs(rise) <= _NEARLY


class _System:
    """The equations at one size, for one mean."""

    def __init__(
        self, geometry: Geometry, sizes: Mapping[Expr, int], mean: list[Value],
        fixed: Mapping[str, Value],
    ) -> None:  # fmt: skip
        self.geometry, self.sizes, self.mean, self.fixed = geometry, sizes, mean, fixed
        self.residual = [_like(x, f"r{i + 1}_") for i, x in enumerate(geometry.natural)]
        self.step = geometry.solve_dual(list(self.residual), geometry.mean, geometry.natural)

    def direction(self, now: list[Value]) -> tuple[list[Value], Value]:
        """F⁻¹(μ − μ(λ)), and how fast A − ⟨λ, μ⟩ falls along it."""
        place = _placed(self.geometry, self.sizes, now, self.fixed)
        gap = [_minus(m, a) for m, a in
               zip(self.mean, _mean(self.geometry, place), strict=True)]  # fmt: skip
        names = {r.name: g for r, g in zip(self.residual, gap, strict=True)}
        there = Instance(self.sizes, {**place.point, **names}, EXTENDED)
        move = [there.like(e, x) for x, e in zip(self.geometry.natural, self.step, strict=True)]
        return move, mpmath.fdot(_flat(gap), _flat(move))

    def stepped(self, now: list[Value], move: list[Value]) -> list[Value] | None:
        """The longest of s = 1, ½, ¼, … at which A − ⟨λ, μ⟩ falls; None when there is none."""
        return _stepped(self.geometry, self.sizes, self.fixed, self.mean, now, move)


def _like(x: Expr, name: str) -> Expr:
    return Component(name, x.size) if isinstance(x, Component) else sp.Symbol(name, real=True)


def _flat(parts: list[Value]) -> list[Value]:
    return [v for p in parts for v in (p if isinstance(p, list) else [p])]


def _minus(a: Value, b: Value) -> Value:
    if isinstance(a, list):
        return [x - y for x, y in zip(a, b, strict=True)]
    return a - b


def _placed(
    geometry: Geometry, sizes: Mapping[Expr, int], now: list[Value], fixed: Mapping[str, Value]
) -> Sized:
    point = {**fixed, **{x.name: v for x, v in zip(geometry.natural, now, strict=True)}}
    return Sized(geometry, sizes, point)


def _mean(geometry: Geometry, place: Sized) -> list[Value]:
    return [place.here.like(e, x) for x, e in zip(geometry.natural, geometry.mean, strict=True)]


def _bounds(p: Parameter, here: Instance) -> tuple[Value | None, Value | None]:
    low, high = (
        here.value(sp.sympify(b)) if b is not None and sp.sympify(b).is_finite else None
        for b in (p.domain.lower, p.domain.upper)
    )
    return low, high


def _start(p: Parameter, here: Instance) -> Value:
    low, high = _bounds(p, here)
    one = mpmath.mpf(1)
    value = 0 * one
    if low is not None:
        value = (low + high) / 2 if high is not None else low + one
    elif high is not None:
        value = high - one
    return [value] * here.whole(p.symbol.size) if isinstance(p.symbol, Component) else value


def _stepped(
    geometry: Geometry, sizes: Mapping[Expr, int], fixed: Mapping[str, Value],
    mean: list[Value], now: list[Value], move: list[Value],
) -> list[Value] | None:  # fmt: skip
    """The longest of s = 1, ½, ¼, … at which A − ⟨λ, μ⟩ falls; None when there is none."""
    here, scale = Instance(sizes, fixed, EXTENDED), mpmath.mpf(1)
    level = _level(geometry, sizes, fixed, mean, now)
    for _ in range(_HALVINGS):
        after = [
            _kept(p, here, a, m, scale)
            for p, a, m in zip(geometry.family.natural, now, move, strict=True)
        ]
        if _level(geometry, sizes, fixed, mean, after) < level:
            return after
        scale /= 2
    return None


def _kept(p: Parameter, here: Instance, now: Value, move: Value, scale: Value) -> Value:
    """now + scale·move, changing the distance to an end by no more than the factor."""
    if isinstance(now, list):
        return [_kept(p, here, a, m, scale) for a, m in zip(now, move, strict=True)]
    low, high = _bounds(p, here)
    after = now + scale * move
    for end, sign in ((low, 1), (high, -1)):
        if end is not None:
            reach = sign * (now - end)
            gone = min(max(sign * (after - end), reach / _FACTOR), reach * _FACTOR)
            after = end + sign * gone
    return after


def _level(
    geometry: Geometry, sizes: Mapping[Expr, int], fixed: Mapping[str, Value],
    mean: list[Value], now: list[Value],
) -> Value:  # fmt: skip
    pairs = zip(_flat(now), _flat(mean), strict=True)
    a = _placed(geometry, sizes, now, fixed).log_partition
    return a - mpmath.fsum(x * m for x, m in pairs)
