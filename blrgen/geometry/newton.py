"""μ → λ for scalar parameters by safeguarded Newton steps, over the whole domain.

λ maximises the concave D(λ) = ⟨λ, μ⟩ − A(λ), whose gradient is the residual μ − ∇A(λ) and
whose Hessian is −F.  A Newton step Δ = F⁻¹(μ − ∇A) that is long against the distance γ of
a parameter to an end of its domain is taken in the logarithm of that distance,
γ ← γ exp(Δ/γ), so that no step leaves the domain and many orders of magnitude take few
steps; a step after which D is smaller is shortened.  Near the solution both are Newton's.

Closed forms are evaluated with digits enough for the cancellation in F; densities without
one in doubles first, then with more digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from blrgen.errors import UserError
from blrgen.geometry.inversion import Inversion, Outside
from blrgen.geometry.place import inside

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Number = Any
Vector = list[Any]
DIGITS = 60  # closed forms: the determinant of F loses up to 2 × 15 of them
_STEPS = 200
_SMALL = mpmath.mpf(10) ** -16
_RUNAWAY = mpmath.mpf(10) ** 13  # of densities without a closed form
_ROUGH = 1e-7  # of the residual, where sums over a joint density are all there is
_EDGE = mpmath.mpf(10) ** -40  # how close to an end of a domain is still looked at
_LONGEST = 7  # of one step, in the logarithm of the distance to an end


@dataclass
class _State:
    """A point with D, ∇D = μ − ∇A, F, and what is uncertain in D."""

    x: Vector
    gain: Number
    slope: Vector
    fisher: Any
    noise: Number


class Newton:
    """The search for one μ, with closed forms or numbers by quadrature."""

    def __init__(self, geometry: Geometry, target: Vector, constants: dict[Expr, Expr]) -> None:
        from blrgen.value.digits import exact

        self.geometry, self.family, self.target = geometry, geometry.family, target
        self.exact_constants = constants
        with mpmath.workdps(DIGITS):
            self.constants = {k: exact(v) for k, v in constants.items()}
        self.doubles = self.numeric

    @property
    def numeric(self) -> bool:
        """Whether A or its derivatives have no known closed form."""
        from blrgen.algebra.nodes import has_nodes

        g = self.geometry
        return has_nodes(sp.Tuple(g.log_partition, *g.mean, *(e for row in g.fisher for e in row)))

    def closed(self) -> Inversion | None:
        """The closed inverse, when its value is inside the domain and gives μ back."""
        from blrgen.geometry.inverse import mean_symbols
        from blrgen.value.digits import evaluate_at

        g = self.geometry
        if g.inverse_mean is None or self.numeric:
            return None
        point = {**self.constants, **dict(zip(mean_symbols(g), self.target, strict=True))}
        try:
            with mpmath.workdps(DIGITS):
                x = [evaluate_at(e, point, 30)[0] for e in g.inverse_mean]
                if not self.feasible(x):
                    return None
                state = self.at(x)
                residual = self._residual(state)
                met = residual < 1e-12 and self._arrived(state, self._direction(state))
        except (UserError, Outside):
            return None
        return Inversion(tuple(x), True, 0, residual) if met else None

    def run(self) -> Inversion:
        """Newton's method from the best of a few starts."""
        with mpmath.workdps(DIGITS if not self.numeric else 40):
            return self._run()

    def _run(self) -> Inversion:
        state = self._start()
        if state is None:
            return Inversion((), False, 0, float("inf"), "no start inside the domain")
        for step in range(_STEPS):
            if self.numeric and max(map(abs, state.x)) > _RUNAWAY:
                reason = "λ runs off to infinity, so μ is on an edge or nearly so"
                return Inversion(tuple(state.x), False, step, self._residual(state), reason)
            end = self._at_an_end(state.x)
            if end:
                return Inversion(tuple(state.x), False, step, self._residual(state), end)
            move = self._direction(state)
            if self._arrived(state, move):
                if not self.doubles or self.family.joint:
                    return self._found(state, move, step)
                self.doubles = False
                state = self.at(state.x)
                continue
            better = self._search(state, move)
            if better is None:
                if self.family.joint and self._residual(state) < _ROUGH:
                    return self._found(state, move, step)
                if not self.doubles or self.family.joint:
                    reason = "no step increases ⟨λ, μ⟩ − A(λ) any further"
                    return Inversion(tuple(state.x), False, step, self._residual(state), reason)
                self.doubles = False
                better = self.at(state.x)
            state = better
        reason = f"not within {_STEPS} steps"
        return Inversion(tuple(state.x), False, _STEPS, self._residual(state), reason)

    def _found(self, state: _State, move: Vector, step: int) -> Inversion:
        """The end of the road: the solution when the residual is nothing as well."""
        x = [a + b for a, b in zip(state.x, move, strict=True)]
        final, residual = x if self.feasible(x) else state.x, self._residual(state)
        met = residual < (_ROUGH if self.family.joint and self.numeric else 1e-10)
        reason = "" if met else "λ does not move although μ is not met"
        return Inversion(tuple(final), met, step, residual, reason)

    def at(self, x: Vector) -> _State:
        """D and its derivatives at a point."""
        try:
            a, mean, fisher, noise = self._numbers(x) if self.numeric else self._forms(x)
        except UserError as e:
            raise Outside(str(e)) from e
        gain = mpmath.fdot(x, self.target) - a
        slope = [t - m for t, m in zip(self.target, mean, strict=True)]
        return _State(x, gain, slope, mpmath.matrix(fisher), noise)

    def _numbers(self, x: Vector) -> tuple[Number, Vector, list[Vector], Number]:
        from blrgen.geometry.numbers.moments import averages_of

        if self.family.joint:
            return self._joint_numbers(x)
        q = averages_of(self.family, (*x, *self.constants.values()), 24, doubles=self.doubles)
        a, off = q.log_partition()
        mean, fisher, _ = q.moments()
        rows = [[mpmath.mpf(v) for v in row] for row in fisher]
        return a, [mpmath.mpf(m) for m in mean], rows, off

    def _joint_numbers(self, x: Vector) -> tuple[Number, Vector, list[Vector], Number]:
        """By sums over the joint density, in doubles alone."""
        from blrgen.geometry.joint_numbers import JointNumbers

        q = JointNumbers(self.family, (*x, *self.constants.values()))
        a, off = q.log_partition()
        mean, fisher, _ = q.moments()
        rows = [[mpmath.mpf(v) for v in row] for row in fisher]
        return mpmath.mpf(a), [mpmath.mpf(m) for m in mean], rows, mpmath.mpf(off)

    def _forms(self, x: Vector) -> tuple[Number, Vector, list[Vector], Number]:
        g = self.geometry
        point = {**self.constants, **dict(zip(g.natural, x, strict=True))}
        memo: dict[Expr, Any] = {}
        a = self._form(g.log_partition, point, memo)
        mean = [self._form(e, point, memo) for e in g.mean]
        fisher = [[self._form(e, point, memo) for e in row] for row in g.fisher]
        return a, mean, fisher, max(1, abs(a)) * mpmath.mpf(10) ** (10 - mpmath.mp.dps)

    def _form(self, e: Expr, point: dict[Expr, Any], memo: dict[Expr, Any]) -> Number:
        from blrgen.value.digits import evaluate_at
        from blrgen.value.evaluate import Undefined, evaluate

        try:
            value = evaluate(e, point, memo)
            if not isinstance(value, mpmath.mpc):
                return value
        except Undefined:
            pass
        return evaluate_at(e, point, 40, moving=self.geometry.natural)[0]

    def feasible(self, x: Vector) -> bool:
        """Whether a point is inside the declared domains."""
        point: dict[Expr, Any] = {k: as_sympy(v) for k, v in self.constants.items()}
        for p, value in zip(self.family.natural, x, strict=True):
            exact = as_sympy(value)
            if not mpmath.isfinite(value) or not inside(p.domain, exact, point):
                return False
            point[p.symbol] = exact
        return True

    def bounds(self, x: Vector, i: int) -> tuple[Number, Number]:
        """The ends of a domain, which may depend on the parameters before it."""
        from blrgen.geometry.numbers.branch import number
        from blrgen.value.evaluate import Undefined

        domain = self.family.natural[i].domain
        names = [p.symbol for p in self.family.natural[:i]]
        point = {**self.constants, **dict(zip(names, x[:i], strict=True))}
        try:
            low = -mpmath.inf if domain.lower is None else number(domain.lower, point)
            high = mpmath.inf if domain.upper is None else number(domain.upper, point)
        except Undefined as e:
            raise Outside(str(e)) from e
        return low, high

    def _at_an_end(self, x: Vector) -> str:
        """Said where a parameter has run into an end of its domain."""
        for i, p in enumerate(self.family.natural):
            for end in self.bounds(x, i):
                if abs(x[i] - end) <= _EDGE * min(1, abs(end) or 1):
                    return (
                        f"{p.name} runs to the end of its domain, {mpmath.nstr(end, 8)}, where μ "
                        "is still another: no member has it, or one nearly on that edge"
                    )
        return ""

    def _start(self) -> _State | None:
        """The best of a grid of points over the orders of magnitude."""
        count = len(self.family.natural)
        sizes = {1: (-12, -6, -3, 0, 3, 6, 12), 2: (-9, -4, 0, 4, 9), 3: (-4, 0, 4)}
        if self.family.joint and self.numeric:  # a sum over several variables takes its time
            sizes = {k: (0,) for k in sizes}
        best: _State | None = None
        for powers in product(sizes.get(count, (0,)), repeat=count):
            try:
                x = self._placed([mpmath.mpf(10) ** (mpmath.mpf(k) / 2) for k in powers], powers)
                if not self.feasible(x):
                    continue
                state = self.at(x)
            except Outside:
                continue
            if mpmath.isfinite(state.gain) and (best is None or state.gain > best.gain):
                best = state
        return best

    def _placed(self, sizes: Vector, powers: tuple[int, ...]) -> Vector:
        x: Vector = [mpmath.mpf(0)] * len(sizes)
        for i, (size, power) in enumerate(zip(sizes, powers, strict=True)):
            low, high = self.bounds(x, i)
            if mpmath.isinf(low) and mpmath.isinf(high):
                sign = 0 if power == 0 else 1 if power > 0 else -1
                x[i] = sign * mpmath.mpf(10) ** (abs(mpmath.mpf(power)) / 4)
            elif mpmath.isinf(high):
                x[i] = low + size
            elif mpmath.isinf(low):
                x[i] = high - size
            else:
                x[i] = low + (high - low) * size / (1 + size)
        return x

    def _direction(self, state: _State) -> Vector:
        """F⁻¹(μ − ∇A), scaled to unit diagonal before it is solved."""
        count = len(state.x)
        scale = [mpmath.sqrt(abs(state.fisher[i, i])) or mpmath.mpf(1) for i in range(count)]
        table = mpmath.matrix(count, count)
        for i, j in product(range(count), repeat=2):
            table[i, j] = state.fisher[i, j] / (scale[i] * scale[j])
        right = mpmath.matrix([s / c for s, c in zip(state.slope, scale, strict=True)])
        ridge = mpmath.mpf(0)
        for _ in range(20):
            try:
                y = mpmath.lu_solve(table + ridge * mpmath.eye(count), right)
                if mpmath.fdot(y, right) > 0 or not any(right):
                    return [v / c for v, c in zip(y, scale, strict=True)]
            except ZeroDivisionError:
                pass
            ridge = ridge * 100 or mpmath.mpf(10) ** -14
        return [s / c**2 for s, c in zip(state.slope, scale, strict=True)]

    def _arrived(self, state: _State, move: Vector) -> bool:
        """Every parameter is settled, against itself or against its standard deviation."""
        if self.doubles:
            small = -18 if self.family.joint else -11
            return bool(mpmath.fdot(move, state.slope) < mpmath.mpf(10) ** small)
        for i, (x, step) in enumerate(zip(state.x, move, strict=True)):
            size = mpmath.sqrt(abs(state.fisher[i, i])) or mpmath.mpf(1)
            absolute = mpmath.mpf(10) ** -21 / max(1, size)
            if not abs(step) <= max(_SMALL * abs(x), absolute):
                return False
        return True

    def _residual(self, state: _State) -> float:
        found = mpmath.mpf(0)
        for i, s in enumerate(state.slope):
            size = mpmath.sqrt(abs(state.fisher[i, i])) or mpmath.mpf(1)
            found = max(found, abs(s) / size)
        return float(found)

    def _search(self, state: _State, move: Vector) -> _State | None:
        """The first of shorter and shorter steps after which D is larger."""
        rise = mpmath.fdot(move, state.slope)
        part = mpmath.mpf(1)
        for _ in range(12 if self.numeric else 40):
            try:
                x = self._moved(state.x, [part * m for m in move])
                after = self.at(x) if self.feasible(x) else None
            except Outside:
                after = None
            if after is not None and mpmath.isfinite(after.gain):
                noise = state.noise + after.noise
                if after.gain >= state.gain + part * rise / 1000 - noise:
                    return after
            part /= 4 if part == 1 else 8
        return None

    def _moved(self, x: Vector, move: Vector) -> Vector:
        """x + Δ, in the logarithm of the distance to an end where Δ is long against it."""
        made = list(x)
        for i, step in enumerate(move):
            low0, high0 = self.bounds(x, i)
            low, high = self.bounds(made, i)
            if mpmath.isinf(low) and mpmath.isinf(high):
                made[i] = x[i] + step
            elif mpmath.isinf(high):
                made[i] = low + stretched(x[i] - low0, step - (low - low0))
            elif mpmath.isinf(low):
                made[i] = high - stretched(high0 - x[i], (high - high0) - step)
            else:
                weight = (x[i] - low0) / (high0 - low0)
                odds = stretched(weight / (1 - weight), step / (high0 - low0) / (1 - weight) ** 2)
                made[i] = low + (high - low) * odds / (1 + odds)
        return made


def stretched(gap: Number, step: Number) -> Number:
    """gap + step when that is near, gap exp(step/gap) when it is not."""
    ratio = step / gap
    if abs(ratio) < mpmath.mpf(1) / 4:
        return gap + step
    return gap * mpmath.exp(max(-_LONGEST, min(_LONGEST, ratio)))


def as_sympy(value: Number) -> Expr:
    """The binary fraction that a number is."""
    if not mpmath.isfinite(value):
        return sp.oo if value > 0 else sp.nan if mpmath.isnan(value) else -sp.oo
    sign, mantissa, exponent, _ = value._mpf_
    number = sp.Integer(-int(mantissa) if sign else int(mantissa))
    if abs(exponent) > 20000:
        return sp.Float(value, 30)
    return number * sp.Integer(2) ** exponent
