"""The one equation that elimination leaves, μ_k(s) = μ_k: safeguarded Newton steps.

s is written in the logarithm t of its distance to an end of its domain, so that forty orders
of magnitude are a walk of a few doubling steps.  The equation is monotone in s, and the s at
which all other parameters are inside their domains are an interval: the walk goes where the
gap shrinks until its sign changes; then Newton's steps, halving where they leave the bracket
or shrink too little, converge from anywhere.  Without a change of sign no member of the
family has these mean parameters, and what the mean parameter tends to says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mpmath

from blrgen.core import Parameter
from blrgen.errors import UserError
from blrgen.geometry.inside import bounds, is_inside
from blrgen.geometry.inversion import refused
from blrgen.value.evaluate import Undefined
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.eliminate import Elimination
    from blrgen.geometry.geometry import Geometry

Expr = Any
Number = Any
DIGITS = 80
_FAR = 92  # |t| up to which is searched: 40 orders of magnitude
_STEPS = 300
_HALVINGS = 140  # towards where another parameter leaves its domain
_NOTHING = mpmath.mpf(10) ** -25
_SETTLED = mpmath.mpf(10) ** -32  # of a step in t


@dataclass(frozen=True)
class Root:
    """The values of all parameters at the solution; without it the reason."""

    place: Instance | None
    steps: int
    reason: str = ""


class OneEquation:
    """μ_k(s) − μ_k for the given mean parameters; `base` has those and the constants."""

    def __init__(
        self, geometry: Geometry, found: Elimination, base: Instance, target: Number
    ) -> None:
        self.geometry, self.family, self.found = geometry, geometry.family, found
        self.base, self.target = base, target
        means = geometry.mean_in_working if found.working else geometry.mean
        self.mean = means[found.left]
        self.low, self.high = bounds(base, found.held.domain)
        self.outside: Parameter | None = None  # the one last found outside its domain
        self.count = 0

    def solve(self) -> Root:
        """The solution; means that no member has are refused."""
        first = self._first()
        if first is None:
            raise self._refused(self._said_outside())
        bracket = self._walk(*first)
        if isinstance(bracket, Root):
            return bracket
        t = self._newton(*bracket)
        if t is not None and self._flat(t):
            raise self._refused(self._reached(mpmath.mpf(0)))
        if t is None:
            return Root(None, self.count, f"the equation for {self.found.held.name} did not settle")
        return Root(self.place(t), self.count)

    def held(self, t: Number) -> Number:
        """s at t."""
        low, high = self.low, self.high
        if mpmath.isinf(low) and mpmath.isinf(high):
            return mpmath.sinh(t)
        if mpmath.isinf(high):
            return low + mpmath.exp(t)
        if mpmath.isinf(low):
            return high - mpmath.exp(-t)
        share = 1 / (1 + mpmath.exp(-abs(t)))
        return high - (high - low) * (1 - share) if t > 0 else low + (high - low) * (1 - share)

    def place(self, t: Number) -> Instance | None:
        """All parameters where s is held at t; None where one leaves its domain."""
        at = self.base.with_({self.found.held.symbol: self.held(t)})
        for p, value in self.found.steps:
            try:
                at = at.with_({p.symbol: at.like(value, p.symbol)})
            except Undefined:
                self.outside = p
                return None
            if not is_inside(at, p.symbol, p.domain):
                self.outside = p
                return None
        return at

    def level(self, t: Number) -> Number | None:
        """μ_k(s); None where it has no value."""
        at = self.place(t)
        try:
            return None if at is None else at.value(self.mean)
        except Undefined:
            return None

    def gap(self, t: Number) -> Number | None:
        """μ_k(s) − μ_k, zero where they agree to all digits; None where it has no value."""
        self.count += 1
        mean = self.level(t)
        if mean is None:
            return None
        nothing = mpmath.mpf(10) ** (15 - mpmath.mp.dps) * max(abs(mean), abs(self.target))
        return mpmath.mpf(0) if abs(mean - self.target) <= nothing else mean - self.target

    def _first(self) -> tuple[Number, Number] | None:
        """Some t at which the others are inside their domains."""
        for size in (0, 1, 2, 4, 8, 16, 32, 64, _FAR):
            for t in (mpmath.mpf(size), -mpmath.mpf(size)):
                value = self.gap(t)
                if value is not None:
                    return t, value
        return None

    def _walk(self, t: Number, value: Number) -> tuple[Number, ...] | Root:
        """(a, f(a), b, f(b)) with a change of sign; else the refusal or the reason."""
        if value == 0:
            return t, value, t, value
        way = self._way(t, value)
        step, last = mpmath.mpf(1), (t, value)
        while True:
            there = max(-_FAR, min(_FAR, t + way * step))
            now = self.gap(there)
            if now is None:
                return self._towards(t, value, there)
            if now == 0 or (now > 0) != (value > 0):
                return t, value, there, now
            last, (t, value) = (t, value), (there, now)
            if abs(t) == _FAR:
                return self._no_change(way, last, (t, value))
            step *= 2

    def _flat(self, t: Number) -> bool:
        """Whether no digit of μ_k moves around t: its limit, to all digits, and no crossing."""
        step = max(1, abs(t)) / mpmath.mpf(10) ** 12
        return 0 in (self.gap(t - step), self.gap(t + step))

    def _way(self, t: Number, value: Number) -> int:
        """+1 or −1: where μ_k(s) moves towards μ_k."""
        small = mpmath.mpf(10) ** -10
        after = self.gap(t + small)
        if after is None:
            before = self.gap(t - small)
            return 1 if before is None or (before > value) == (value > 0) else -1
        return 1 if (after < value) == (value > 0) else -1

    def _towards(self, t: Number, value: Number, out: Number) -> tuple[Number, ...] | Root:
        """A change of sign between a point inside and one outside; refused where there is none."""
        start = value
        for _ in range(_HALVINGS):
            middle = (t + out) / 2
            now = self.gap(middle)
            if now is None:
                out = middle
            elif now == 0 or (now > 0) != (value > 0):
                return t, value, middle, now
            else:
                t, value = middle, now
        if abs(value) > 1000 * abs(start) + 1000:
            return Root(None, self.count, f"{self.found.held.name} runs into where there is none")
        self.place(out)
        end = f"{self.found.held.name} → {mpmath.nstr(self.held(t), 8)}"
        raise self._refused(f"{self._reached(value)} ({end}, where {self._said_outside()})")

    def _no_change(
        self, way: int, before: tuple[Number, Number], last: tuple[Number, Number]
    ) -> Root:
        """At the far end: a limit short of the target refuses it, anything else is not known."""
        name, value = self.found.held.name, last[1]
        end = self.high if way > 0 else self.low
        said = f"{name} → {_shown(end)}"
        small = abs(value) <= _NOTHING * (abs(self.target) or 1)
        levels = [abs(self.level(t) or 0) for t in (before[0], last[0])]
        settled = abs(before[1] - value) <= abs(value) / 1000 and levels[1] <= 2 * levels[0]
        if small or settled:
            raise self._refused(f"{self._reached(mpmath.mpf(0) if small else value)} ({said})")
        return Root(None, self.count, f"{said} without meeting {self._left()}")

    def _reached(self, gap: Number) -> str:
        side = "above" if gap > 0 else "below"
        level = self.target + gap
        edge = mpmath.nstr(level if abs(level) > _NOTHING else mpmath.mpf(0), 10)
        name = self._left()
        first = "with the other mean parameters met, " if self.found.steps else ""
        if gap == 0:
            return f"{first}{name} tends to the {edge} asked for and no member reaches it"
        asked = mpmath.nstr(self.target, 10)
        return f"{first}{name} stays {side} {edge} and {asked} is asked for"

    def _left(self) -> str:
        from blrgen.geometry.inverse import mean_symbols

        t = self.family.statistics[self.found.left]
        return f"{mean_symbols(self.geometry)[self.found.left].name} = E[{t}]"

    def _said_outside(self) -> str:
        """Which parameter would leave its domain."""
        p = self.outside or self.found.held
        value = next((v for q, v in self.found.steps if q is p), p.symbol)
        return f"{p.name} = {value} would not be in {p.domain.text}"

    def _refused(self, why: str) -> UserError:
        return refused(self.family, why)

    def _newton(self, a: Number, fa: Number, b: Number, fb: Number) -> Number | None:
        """The zero between a and b."""
        if fa == 0 or fb == 0:
            return a if fa == 0 else b
        if fa > 0:
            a, b = b, a
        t, width = (a + b) / 2, abs(b - a)  # f(a) < 0 < f(b)
        value = self.gap(t)
        for _ in range(_STEPS):
            if value is None:
                return None
            a, b = (t, b) if value < 0 else (a, t)
            step = self._step(t, value)
            if step is None or abs(step) > width / 2 or not min(a, b) <= t + step <= max(a, b):
                step = (a + b) / 2 - t
            width = abs(step)
            t += step
            if width <= _SETTLED * max(1, abs(t)):
                return t
            value = self.gap(t)
            if value == 0:
                return t
        return None

    def _step(self, t: Number, value: Number) -> Number | None:
        """−f/f′, with the slope from a difference of as many digits as are kept."""
        h = mpmath.mpf(10) ** (-mpmath.mp.dps // 2 + 4) * max(1, abs(t))
        after = self.gap(t + h)
        if after is None or after == value:
            return None
        return -value * h / (after - value)


def _shown(end: Number) -> str:
    if mpmath.isinf(end):
        return "∞" if end > 0 else "−∞"
    return str(mpmath.nstr(end, 8))
