"""μ → λ by damped Newton steps on vectors and matrices together.

    λ⁺ = λ + s F(λ)⁻¹(μ − ∇A(λ))

climbs the concave D(λ) = ⟨λ, μ⟩ − A(λ), F over the packed coordinates.  Inside a cone the
step is taken relative to how far inside λ is: with the gap G = L Lᵀ and its displacement
L S Lᵀ the next gap is L exp(S) Lᵀ where S is large and G + L S Lᵀ where it is small, so no
step leaves the domain.  s shrinks until D rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from blrgen.algebra.tables import NotDefinite, Singular, Table, factors, filled, table, unit
from blrgen.core import Parameter
from blrgen.errors import InternalError, UserError
from blrgen.geometry.inside import bounds
from blrgen.geometry.inversion import Inversion
from blrgen.geometry.newton import stretched
from blrgen.geometry.packed import fisher, flat, paired, unpacked
from blrgen.value.evaluate import Undefined
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Number = Any
Value = Any
_DIGITS = 50
_STEPS = 200
_HALVINGS = 40
_MANY = 150  # coordinates beyond which a step takes minutes
_STARTS = 81
_SETTLED = mpmath.mpf(10) ** -24
_RUNAWAY = mpmath.mpf(10) ** 30
_LONGEST = 7  # of a step in the logarithm of the gap


@dataclass
class _State:
    at: Instance  # sizes, constants, μ, and λ
    gain: Number


def natural_by_newton(geometry: Geometry, base: Instance, target: list[Value]) -> Inversion:
    """The maximum of D, and whether it was reached."""
    with mpmath.workdps(_DIGITS):
        return _Climb(geometry, base, target).run()


class _Climb:
    def __init__(self, geometry: Geometry, base: Instance, target: list[Value]) -> None:
        self.geometry, self.base, self.target = geometry, base, target

    def run(self) -> Inversion:
        """Newton's method from the best of some starts."""
        from blrgen.geometry.invert_arrays import residual

        state = self._start()
        if state is None:
            return Inversion((), False, 0, float("inf"), "no start inside the domain")
        reason, steps = f"not within {_STEPS} steps", _STEPS
        for step in range(_STEPS):
            natural = [state.at.value(x) for x in self.geometry.natural]
            if max(abs(v) for x in natural for v in flat(x)) > _RUNAWAY:
                reason, steps = "λ runs off to infinity, so μ is on an edge or outside", step
                break
            found = self._direction(state)
            if isinstance(found, str):
                reason, steps = found, step
                break
            move, rise = found
            if self._arrived(natural, move, rise):
                left = residual(self.geometry, state.at, self.target)
                met = left < 1e-12
                said = "" if met else "λ does not move although μ is not met"
                return Inversion(tuple(natural), met, step, left, said)
            after = self._search(state, move)
            if after is None:
                reason, steps = "no step increases ⟨λ, μ⟩ − A(λ) any further", step
                break
            state = after
        left = residual(self.geometry, state.at, self.target)
        natural = [state.at.value(x) for x in self.geometry.natural]
        return Inversion(tuple(natural), False, steps, left, reason)

    def _at(self, natural: dict[Expr, Value]) -> _State | None:
        """D at a point; None outside."""
        at = self.base.with_(natural)
        try:
            pairs = [
                mpmath.fdot(flat(natural[x]), flat(t))
                for x, t in zip(self.geometry.natural, self.target, strict=True)
            ]
            return _State(at, mpmath.fsum(pairs) - at.value(self.geometry.log_partition))
        except (Undefined, UserError):
            return None

    def _start(self) -> _State | None:
        """The best of a grid of gaps: multiples of 1, of the identity, of an inverse mean."""
        choices = [self._gaps(p, t) for p, t in zip(
            self.geometry.family.natural, self.target, strict=True)]  # fmt: skip
        best: _State | None = None
        for count, gaps in enumerate(product(*choices)):
            if count >= _STARTS * 4:
                break
            at, natural = self.base, dict[Expr, Value]()
            try:
                for p, gap in zip(self.geometry.family.natural, gaps, strict=True):
                    natural[p.symbol] = self._placed(at, p, gap)
                    at = at.with_({p.symbol: natural[p.symbol]})
            except Undefined:
                continue
            state = self._at(natural)
            if state is not None and (best is None or state.gain > best.gain):
                best = state
        return best

    def _gaps(self, p: Parameter, mean: Value) -> list[Value]:
        shape = self.base.shape(p.symbol)
        sizes = [mpmath.mpf(10) ** k for k in (0, -3, 3)]
        if shape is None:
            return sizes
        if p.domain.kind not in ("spd", "-spd"):
            return [filled(shape, mpmath.mpf(0))]
        found: list[Value] = []
        for sign in (1, -1):
            try:
                known = table(sign * np.asarray(mean))
                if known.pivots:
                    found = [known.inverse.times(s) for s in sizes]
            except NotDefinite:
                continue
        return found or [unit(s, shape[0]) for s in sizes]

    @staticmethod
    def _placed(at: Instance, p: Parameter, gap: Value) -> Value:
        """The parameter that is so far inside its domain."""
        if p.domain.kind in ("spd", "-spd"):
            value = table(-np.asarray(gap)) if p.domain.kind == "-spd" else gap
            return value if p.domain.lower is None else value + at.like(p.domain.lower, p.symbol)
        if p.domain.kind != "interval":
            return gap
        low, high = bounds(at, p.domain)
        if mpmath.isinf(low) and mpmath.isinf(high):
            return gap - 1
        if mpmath.isinf(high):
            return low + gap
        return high - gap if mpmath.isinf(low) else low + (high - low) * gap / (1 + gap)

    def _direction(self, state: _State) -> tuple[list[Value], Number] | str:
        """F⁻¹(μ − ∇A), F scaled to unit diagonal, and the rise of D; or why there is none."""
        g, at = self.geometry, state.at
        try:
            slope = [
                s for x, m, t in zip(g.natural, g.mean, self.target, strict=True)
                for s in paired(x, at, t - at.like(m, x))
            ]  # fmt: skip
            if len(slope) > _MANY:
                return f"{len(slope)} parameters at once are too many for Newton's method"
            rows = fisher(g, at)
        except (Undefined, InternalError) as error:
            return f"μ or F has no value: {error}"
        scale = [mpmath.sqrt(abs(rows[i][i])) or mpmath.mpf(1) for i in range(len(rows))]
        whole = filled((len(rows), len(rows)), None)
        for i, j in np.ndindex(whole.shape):
            whole[i, j] = (rows[i][j] + rows[j][i]) / (2 * scale[i] * scale[j])
        right = [s / c for s, c in zip(slope, scale, strict=True)]
        ridge = mpmath.mpf(0)
        for _ in range(16):
            try:
                solved = table(whole + unit(ridge, len(rows))).inverse @ np.array(right)
                column = [v / c for v, c in zip(solved, scale, strict=True)]
                rise = mpmath.fdot(solved, right)
                if rise >= 0:
                    return unpacked(g, at, column), rise
            except (NotDefinite, Singular):
                pass
            ridge = ridge * 1000 or mpmath.mpf(10) ** -30
        return "F is not positive definite"

    @staticmethod
    def _arrived(natural: list[Value], move: list[Value], rise: Number) -> bool:
        """No parameter moves, against its own largest entry or its standard deviation."""
        return rise < _SETTLED**2 or all(
            max(map(abs, flat(m))) <= _SETTLED * max([*map(abs, flat(x)), _SETTLED])
            for x, m in zip(natural, move, strict=True)
        )

    def _search(self, state: _State, move: list[Value]) -> _State | None:
        """The first of shorter and shorter steps after which D is not smaller."""
        part = mpmath.mpf(1)
        noise = abs(state.gain) * mpmath.mpf(10) ** (8 - _DIGITS)
        for _ in range(_HALVINGS):
            try:
                after = self._at(self._moved(state.at, [m * part for m in move]))
            except Undefined:
                after = None
            if after is not None and after.gain >= state.gain - noise:
                return after
            part /= 3
        return None

    def _moved(self, at: Instance, move: list[Value]) -> dict[Expr, Value]:
        """λ + Δ, inside every domain; a domain may depend on the parameters before."""
        made: dict[Expr, Value] = {}
        after = self.base
        for p, step in zip(self.geometry.family.natural, move, strict=True):
            made[p.symbol] = self._one(p, at, after, step)
            after = after.with_({p.symbol: made[p.symbol]})
        return made

    def _one(self, p: Parameter, at: Instance, after: Instance, step: Value) -> Value:
        x, domain = p.symbol, p.domain
        value = at.value(x)
        if domain.kind in ("spd", "-spd"):
            sign = -1 if domain.kind == "-spd" else 1
            before = now = filled(value.shape, mpmath.mpf(0))
            if domain.lower is not None:
                before, now = at.like(domain.lower, x), after.like(domain.lower, x)
            gap = table(sign * np.asarray(value - before))
            return table(now + sign * _grown(gap, sign * np.asarray(step + before - now)))
        if domain.kind != "interval":
            return value + step
        (low0, high0), (low, high) = bounds(at, domain), bounds(after, domain)
        if mpmath.isinf(low) and mpmath.isinf(high):
            return value + step
        if mpmath.isinf(high):
            return low + stretched(value - low0, step - (low - low0))
        if mpmath.isinf(low):
            return high - stretched(high0 - value, (high - high0) - step)
        share = (value - low0) / (high0 - low0)
        odds = stretched(share / (1 - share), step / (high0 - low0) / (1 - share) ** 2)
        return low + (high - low) * odds / (1 + odds)


def _grown(gap: Table, step: Any) -> Any:
    """G + Δ where that is near, L exp(L⁻¹ΔL⁻ᵀ) Lᵀ where it is not."""
    n = len(gap)
    try:
        lower, found = factors(gap)
    except NotDefinite as error:
        raise Undefined(str(error)) from error
    root = filled((n, n), mpmath.mpf(0))
    for i in range(n):
        for j, v in enumerate([*lower[i], mpmath.mpf(1)]):
            root[i, j] = v * mpmath.sqrt(found[j])
    back = np.asarray(root.inverse)
    relative = back @ step @ back.T
    if max(map(abs, relative.flat)) * n < mpmath.mpf(1) / 4:
        return np.asarray(gap) + step
    values, vectors = mpmath.eigsy(mpmath.matrix(((relative + relative.T) / 2).tolist()))
    turned = np.asarray(root) @ np.array(vectors.tolist(), dtype=object)
    growth = [mpmath.exp(max(-_LONGEST, min(_LONGEST, v))) for v in values]
    made = (turned * np.array(growth, dtype=object)) @ turned.T
    return (made + made.T) / 2
