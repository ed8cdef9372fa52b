"""The density at a point as a rule: A, E_q[f] and covariances, with estimates of the error.

In doubles by NumPy, or at mpmath's precision with as many more digits as the terms of
the exponent cancel.  Rules are kept, so that A, the means and the Fisher matrix at
one point share one quadrature.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.numeric.branch import number, segments, values
from blrgen.numeric.nodes import arguments, variables
from blrgen.numeric.quadrature import (
    Divergent,
    Nodes,
    Rule,
    Task,
    Unsettled,
    array,
    in_doubles,
    integrate,
    product,
    zoom,
)
from blrgen.numeric.summation import PLAIN, add_integers, add_points

Expr = Any
Array = Any
_KEPT = 256
_RULES: OrderedDict[tuple[Any, ...], Density] = OrderedDict()


@dataclass(frozen=True)
class Density:
    """q at a point: Σ w f(x)/Σ w over nodes, twice."""

    family: Family
    args: tuple[Any, ...]
    digits: int
    precision: int  # binary digits of the arithmetic; 53 is doubles
    rule: Rule
    size: float = 1.0  # the terms of the exponent, in absolute value, where there is mass

    @property
    def doubles(self) -> bool:
        return self.precision == 53

    def log_partition(self) -> tuple[Any, Any]:
        """(A, error)."""
        with mpmath.workprec(self.precision):
            fine, coarse = (self._sum(n, None) for n in (self.rule.fine, self.rule.coarse))
            value = self.rule.scale + self._log(self.rule.fine, fine)
            return value, self._error(abs(fine - coarse) / fine + self._rounding(), value)

    def mean(self, f: Expr) -> tuple[Any, Any]:
        """(E_q[f], error)."""
        with mpmath.workprec(self.precision):
            fine, coarse = (
                self._sum(n, f) / self._sum(n, None) for n in (self.rule.fine, self.rule.coarse)
            )
            spread = 0.0
            if self.doubles:
                spread = math.sqrt(abs(self._sum(self.rule.fine, f**2)))
            gap = abs(fine - coarse) + self._rounding() * spread
            return mpmath.mpf(fine), self._error(gap, fine)

    def moments(self) -> tuple[list[Any], list[list[Any]], Any]:
        """(μ, F, error): the means of the statistics and their covariances."""
        with mpmath.workprec(self.precision):
            fine, coarse = (self._moments(n) for n in (self.rule.fine, self.rule.coarse))
            flat = [[*mean, *(x for row in spread for x in row)] for mean, spread in (fine, coarse)]
            gap = max(abs(a - b) for a, b in zip(*flat, strict=True))
            gap += self._rounding() * max(fine[1][i][i] for i in range(len(fine[0])))
            gap += self._rounding() * max(fine[1][i][i] ** 0.5 for i in range(len(fine[0])))
            return *fine, self._error(gap, max(abs(x) for x in fine[0]))

    def entropy(self, log_base: Expr | None) -> tuple[Any, Any]:
        """(A − ⟨λ, μ⟩ − E_q[log h], error); `log_base` is None where h is constant."""
        (a, error), (mean, _, spread) = self.log_partition(), self.moments()
        with mpmath.workprec(self.precision):
            natural = [mpmath.mpf(x) for x in self.args[: len(mean)]]
            value = a - mpmath.fdot(natural, mean)
            error += spread * sum(map(abs, natural))
            known, off = self._log_base(log_base)
            return value - known, error + off

    def entropy_gradient(self, log_base: Expr | None) -> list[tuple[Any, Any]]:
        """(−λ − F⁻¹ Cov_q[T, log h], error) for each statistic."""
        natural = self.args[: len(self.family.natural)]
        if log_base is None:
            return [(-mpmath.mpf(x), 0) for x in natural]
        fine, coarse = (self._regression(n, log_base) for n in (self.rule.fine, self.rule.coarse))
        with mpmath.workprec(self.precision):
            return [
                (-x - a, self._error(abs(a - b), abs(x) + abs(a)))
                for x, a, b in zip(natural, fine, coarse, strict=True)
            ]

    def _log_base(self, log_base: Expr | None) -> tuple[Any, Any]:
        from blrgen.geometry.integrate import log_base as log_of

        if log_base is not None:
            return self.mean(log_base)
        point = dict(zip(arguments(self.family), self.args, strict=True))
        return number(log_of(self.family), point), 0

    def _regression(self, nodes: tuple[Nodes, ...], f: Expr) -> list[Any]:
        """F⁻¹ Cov[T, f]: the coefficients of f on the statistics."""
        with mpmath.workprec(self.precision):
            mean, fisher = self._moments(nodes)
            mass, count = self._sum(nodes, None), len(mean)
            middle, slope = self._sum(nodes, f) / mass, [0 * mass] * count
            for n in nodes:
                t, _, (value,) = values(
                    self.family, n.branch, n.u, self.args, (f,), doubles=self.doubles
                )
                for i in range(count):
                    part = product(n.weight, (t[i] - mean[i]) * (value - middle))
                    slope[i] = slope[i] + part.sum().real / mass
            found = mpmath.lu_solve(mpmath.matrix(fisher), mpmath.matrix(slope))
            return list(found)

    def _rounding(self) -> float:
        """The relative rounding of the density in doubles, where there is mass."""
        return self.size * 2.0**-51 if self.doubles else 0.0

    def _error(self, gap: Any, value: Any) -> Any:
        floor = 1e-300 if self.doubles else 0
        return mpmath.mpf(gap) + abs(value) * mpmath.mpf(10) ** -self.digits + floor

    def _log(self, nodes: tuple[Nodes, ...], total: Any) -> Any:
        """log Σ w, of a sum whose largest term is 1 as log1p of the others."""
        if len(nodes) != 1 or nodes[0].branch.sign:
            return mpmath.log(mpmath.mpf(total))
        weight = nodes[0].weight
        others = np.delete(weight, int(np.argmax(weight))).sum()
        return mpmath.log1p(mpmath.mpf(others))

    def _sum(self, nodes: tuple[Nodes, ...], f: Expr | None) -> Any:
        total = mpmath.mpf(0) if not self.doubles else 0.0
        for n in nodes:
            if f is None:
                total += n.weight.sum()
                continue
            found = values(self.family, n.branch, n.u, self.args, (f,), doubles=self.doubles)[2][0]
            total += product(n.weight, np.broadcast_to(found, n.u.shape)).sum()
        return mpmath.re(total) if not self.doubles else total

    def _moments(self, nodes: tuple[Nodes, ...]) -> tuple[list[Any], list[list[Any]]]:
        rows: list[list[Array]] = []
        for n in nodes:
            t = values(self.family, n.branch, n.u, self.args, doubles=self.doubles)[0]
            rows.append([np.broadcast_to(x, n.u.shape) for x in t])
        count, mass = len(self.family.statistics), self._sum(nodes, None)
        mean = [
            _real_sum(product(n.weight, r[i]) for n, r in zip(nodes, rows, strict=True)) / mass
            for i in range(count)
        ]
        spread = [
            [
                _real_sum(
                    product(n.weight, (r[i] - mean[i]) * (r[j] - mean[j]))
                    for n, r in zip(nodes, rows, strict=True)
                )
                / mass
                for j in range(count)
            ]
            for i in range(count)
        ]
        return mean, spread


def _real_sum(parts: Any) -> Any:
    total = sum(p.sum() for p in parts)
    return total.real


def density(
    family: Family, args: tuple[Any, ...], digits: int, *, doubles: bool = False,
    functions: tuple[Expr, ...] = (), order: int = 2,
) -> Density:  # fmt: skip
    """The density at numeric natural parameters and constants, to so many digits.

    The rule is settled for the statistics up to the power `order` and for `functions`.
    """
    key = (family, tuple(args), digits, doubles, functions, order)
    if key in _RULES:
        _RULES.move_to_end(key)
        return _RULES[key]
    args = tuple(float(a) if doubles else mpmath.mpf(a) for a in args)
    try:
        found = _make(family, args, digits, doubles, functions, order)
    except Divergent as e:
        raise _refusal(family, args, "cannot be normalised", str(e)) from e
    except Unsettled as e:
        raise _refusal(family, args, "could not be integrated", str(e)) from e
    _RULES[key] = found
    while len(_RULES) > _KEPT:
        _RULES.popitem(last=False)
    return found


def _refusal(family: Family, args: tuple[Any, ...], what: str, why: str) -> UserError:
    shown = ", ".join(
        f"{x} = {mpmath.nstr(a, 8)}" for x, a in zip(arguments(family), args, strict=True)
    )
    return UserError(
        f"the density of {family.name!r} {what} at {shown}", where=family.path, why=why,
        how="choose a point where ∫ h exp⟨λ, T⟩ is finite",
    )  # fmt: skip


def _make(
    family: Family, args: tuple[Any, ...], digits: int, doubles: bool,
    functions: tuple[Expr, ...], order: int,
) -> Density:  # fmt: skip
    if doubles:
        task = Task(family, args, functions, order, min(digits, 15), True)
        try:
            rule = _rule(task)
            return Density(family, args, task.digits, 53, rule, _size(task, rule))
        except Unsettled:
            args = tuple(mpmath.mpf(a) for a in args)
    guard = 8
    with mpmath.workdps(digits + 10):
        guard += _cancelled(Task(family, args, functions, order, digits, False))
    with mpmath.workdps(digits + guard):
        task = Task(family, args, functions, order, digits, False)
        return Density(family, args, digits, mpmath.mp.prec, _rule(task))


def _rule(task: Task) -> Rule:
    family, support = task.family, task.family.support
    point = dict(zip(arguments(family), task.args, strict=True))
    point = {k: mpmath.mpf(v) for k, v in point.items()}
    check_support(family)
    if support.kind == "finite":
        points = [number(p, point) for p in support.points]
        return add_points(task, array(points, task.doubles))
    if support.kind == "integers":
        return add_integers(task, number(support.lower, point), number(support.upper, point))
    centre = _centre(task) if mpmath.isinf(number(support.lower, point)) else mpmath.mpf(0)
    return integrate(task, segments(family, support.lower, support.upper, point, centre))


def check_support(family: Family) -> None:
    """Refuse what is neither an interval nor a set of numbers."""
    kinds = ("interval", "vector", "integers", "finite")
    scalar = family.elementwise and len(variables(family)) == 1
    if not scalar or family.support.kind not in kinds:
        raise UserError(
            f"no quadrature over the support of {family.name!r}",
            where=family.path,
            why=f"{family.support.text} is not an interval, a set of integers or of points",
            how='give the log-partition in the file, log_partition = "…"',
        )


def _line() -> Array:
    side = np.exp(np.linspace(-40.0, 345.0, 3851))
    return np.concatenate([-side[::-1], [0.0], side])


def _centre(task: Task) -> Any:
    """A place near the highest mode on the line, for two branches to start from."""
    light = in_doubles(task)
    grid = _line()
    level = np.asarray(light.logs(PLAIN, grid)[0], dtype=float)
    level = np.where(np.isnan(level), -np.inf, level)
    if np.any(level == np.inf):
        raise Divergent("the density is infinite")
    places = np.flatnonzero(
        (level >= np.concatenate([[-np.inf], level[:-1]]))
        & (level >= np.concatenate([level[1:], [-np.inf]]))
        & (level > -np.inf)
    )
    if not len(places):
        return mpmath.mpf(0)
    places = places[np.argsort(level[places])[-200:]]
    low, high = grid[np.maximum(places - 1, 0)], grid[np.minimum(places + 1, len(grid) - 1)]
    at, height, _ = zoom(light, PLAIN, low, high)
    return mpmath.mpf(at[int(np.argmax(height))])


def _cancelled(task: Task) -> int:
    """The digits that the terms of the exponent lose where the density is largest."""
    light = in_doubles(task)
    try:
        found = _rule(Task(light.family, light.args, (), 0, 6, True))
    except (Unsettled, Divergent, UserError):
        return 25
    return int(math.log10(_size(light, found))) + 2


def _size(light: Task, rule: Rule) -> float:
    """The largest Σ|terms| of the exponent where there is mass."""
    worst = 1.0
    for n in rule.fine:
        size = np.broadcast_to(np.nan_to_num(light.logs(n.branch, n.u)[3], posinf=1e60), n.u.shape)
        matters = np.abs(n.weight) > 1e-12 * np.abs(n.weight).max(initial=0.0)
        if matters.any():
            worst = max(worst, float(np.max(size[matters])))
    return worst


def log_partition_at(family: Family, args: tuple[Any, ...]) -> Any:
    """A at numeric natural parameters and constants, at mpmath's precision."""
    if family.joint:
        return _of_several(family, None, args)
    digits = mpmath.mp.dps
    return +density(family, args, digits, order=0).log_partition()[0]


def mean_at(family: Family, f: Expr, args: tuple[Any, ...]) -> Any:
    """E_q[f] at numeric natural parameters and constants, at mpmath's precision."""
    if family.joint:
        return _of_several(family, f, args)
    digits = mpmath.mp.dps
    return +density(family, args, digits, functions=(f,), order=0).mean(f)[0]


def _of_several(family: Family, f: Expr, args: tuple[Any, ...]) -> Any:
    """The same of a density of several variables, in doubles."""
    from blrgen.geometry.at_sizes import joint_at

    return mpmath.mpf(joint_at(family, f, tuple(float(a) for a in args)))
