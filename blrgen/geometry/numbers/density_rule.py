"""The density at a point as a rule: A, E_q[f] and covariances, with estimates of the error."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.numbers.branch import number
from blrgen.geometry.numbers.make import rule_of
from blrgen.geometry.numbers.nodes import arguments
from blrgen.geometry.numbers.quadrature import settled_for
from blrgen.geometry.numbers.task import Divergent, Nodes, Rule, Task, Unsettled, product

Expr = Any
Array = Any


class Averages:
    """q at a point: Σ w f(x)/Σ w over nodes, twice."""

    def __init__(self, task: Task, precision: int, rule: Rule, size: float = 1.0) -> None:
        self.task, self.precision, self.rule = task, precision, rule
        self.size = size  # the terms of the exponent, in absolute value, where there is mass
        self._rules: dict[Expr, Rule] = dict.fromkeys(task.functions, rule)
        self._means: dict[Expr, tuple[Any, Any]] = {}
        self._errors: tuple[Any, Any] = (0, 0)
        self._moments_here: tuple[list[Any], list[list[Any]], Any] | None = None

    @property
    def family(self) -> Family:
        return self.task.family

    @property
    def args(self) -> tuple[Any, ...]:
        return self.task.args

    @property
    def doubles(self) -> bool:
        """Whether the arithmetic is that of doubles."""
        return self.precision == 53

    def rule_for(self, f: Expr) -> Rule:
        """The rule, with more nodes where f asks for them."""
        if f not in self._rules:
            known = self.task.order > 1 and f in products_of(self.family)
            self._rules[f] = self.rule if known else self._widened(f)
        return self._rules[f]

    def _widened(self, f: Expr) -> Rule:
        if self.rule.panels:
            return settled_for(self.task, self.rule, f)
        if self.family.support.kind == "finite":
            return self.rule
        return rule_of(replace(self.task, functions=(f,)))

    def log_partition(self) -> tuple[Any, Any]:
        """(A, error)."""
        with mpmath.workprec(self.precision):
            fine, coarse = (self._sum(n, None) for n in (self.rule.fine, self.rule.coarse))
            value = self.rule.scale + self._log(self.rule.fine, fine)
            return value, self._error(abs(fine - coarse) / fine + self._rounding(), value)

    def mean(self, f: Expr) -> tuple[Any, Any]:
        """(E_q[f], error)."""
        if f not in self._means:
            self._means[f] = self._mean(f)
        return self._means[f]

    def _mean(self, f: Expr) -> tuple[Any, Any]:
        with mpmath.workprec(self.precision):
            try:
                rule = self.rule_for(f)
            except (Divergent, Unsettled) as e:
                raise refusal(self.task, f"has no mean of {f}", str(e)) from e
            fine, coarse = (self._sum(n, f) / self._sum(n, None) for n in (rule.fine, rule.coarse))
            spread = 0.0
            if self.doubles:
                spread = math.sqrt(abs(self._sum(rule.fine, f**2)))
            gap = abs(fine - coarse) + self._rounding() * spread
            return mpmath.mpf(fine), self._error(gap, fine)

    def moments(self) -> tuple[list[Any], list[list[Any]], Any]:
        """(μ, F, error): the means of the statistics and their covariances."""
        if self._moments_here is None:
            self._moments_here = self._all_moments()
        return self._moments_here

    @property
    def errors(self) -> tuple[Any, Any]:
        """(error of the means, error of the covariances)."""
        self.moments()
        return self._errors

    def _all_moments(self) -> tuple[list[Any], list[list[Any]], Any]:
        with mpmath.workprec(self.precision):
            fine, coarse = (self._both(n) for n in (self.rule.fine, self.rule.coarse))
            widths = [fine[1][i][i] for i in range(len(fine[0]))]
            gaps = [max(abs(a - b) for a, b in zip(*x, strict=True)) for x in (
                (fine[0], coarse[0]),
                ([v for r in fine[1] for v in r], [v for r in coarse[1] for v in r]),
            )]  # fmt: skip
            gaps[0] += self._rounding() * max(v**0.5 for v in widths)
            gaps[1] += self._rounding() * max(widths)
            self._errors = (
                self._error(gaps[0], max(abs(x) for x in fine[0])),
                self._error(gaps[1], max(widths)),
            )
            return *fine, max(self._errors)

    def entropy(self, log_base: Expr | None) -> tuple[Any, Any]:
        """(A − ⟨λ, μ⟩ − E_q[log h], error); `log_base` is None where h is constant."""
        (a, error), (mean, _, _) = self.log_partition(), self.moments()
        with mpmath.workprec(self.precision):
            natural = [mpmath.mpf(x) for x in self.args[: len(mean)]]
            value = a - mpmath.fdot(natural, mean)
            error += self.errors[0] * sum(map(abs, natural))
            known, off = self._log_base(log_base)
            return value - known, error + off

    def entropy_gradient(self, log_base: Expr | None) -> list[tuple[Any, Any]]:
        """(−λ − F⁻¹ Cov_q[T, log h], error) for each statistic."""
        natural = self.args[: len(self.family.natural)]
        if log_base is None:
            return [(-mpmath.mpf(x), 0) for x in natural]
        with mpmath.workprec(self.precision):
            rule = self.rule_for(log_base)
            fine, coarse = (self._regression(n, log_base) for n in (rule.fine, rule.coarse))
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
            mean, fisher = self._both(nodes)
            mass, count = self._sum(nodes, None), len(mean)
            middle, slope = self._sum(nodes, f) / mass, [0 * mass] * count
            for n in nodes:
                t, value = self._statistics(n), n.values(self.task, f)
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
        return mpmath.mpf(gap) + abs(value) * mpmath.mpf(10) ** -self.task.digits + floor

    def _log(self, nodes: tuple[Nodes, ...], total: Any) -> Any:
        """log Σ w, of a sum whose largest term is 1 as log1p of the others."""
        if len(nodes) != 1 or nodes[0].branch.sign:
            return mpmath.log(mpmath.mpf(total))
        weight = nodes[0].weight
        others = np.delete(weight, int(np.argmax(weight))).sum()
        return mpmath.log1p(mpmath.mpf(others))

    def _statistics(self, n: Nodes) -> list[Array]:
        return [n.values(self.task, t) for t in self.family.statistics]

    def _sum(self, nodes: tuple[Nodes, ...], f: Expr | None) -> Any:
        total = mpmath.mpf(0) if not self.doubles else 0.0
        for n in nodes:
            if f is None:
                total += n.weight.sum()
                continue
            total += product(n.weight, n.values(self.task, f)).sum()
        return total.real

    def _both(self, nodes: tuple[Nodes, ...]) -> tuple[list[Any], list[list[Any]]]:
        rows = [self._statistics(n) for n in nodes]
        count, mass = len(self.family.statistics), self._sum(nodes, None)
        mean = [
            _real_sum(product(n.weight, r[i]) for n, r in zip(nodes, rows, strict=True)) / mass
            for i in range(count)
        ]
        away = [[x - m for x, m in zip(r, mean, strict=True)] for r in rows]
        spread = [[0 * mass] * count for _ in range(count)]
        for i in range(count):
            for j in range(i + 1):
                parts = [product(n.weight, d[i] * d[j]) for n, d in zip(nodes, away, strict=True)]
                spread[i][j] = spread[j][i] = _real_sum(parts) / mass
        return mean, spread


def _real_sum(parts: Any) -> Any:
    total = sum(p.sum() for p in parts)
    return total.real


@lru_cache(maxsize=64)
def products_of(family: Family) -> frozenset[Expr]:
    """The statistics and their products in pairs."""
    t = family.statistics
    return frozenset([*t, *(sp.expand(x * y) for i, x in enumerate(t) for y in t[: i + 1])])


def refusal(task: Task, what: str, why: str) -> UserError:
    """There is no number at this point."""
    family = task.family
    shown = ", ".join(
        f"{x} = {mpmath.nstr(mpmath.mpf(a), 8)}"
        for x, a in zip(arguments(family), task.args, strict=True)
    )
    return UserError(
        f"the density of {family.name!r} {what} at {shown}", where=family.path, why=why,
        how="choose a point where ∫ h exp⟨λ, T⟩ is finite",
    )  # fmt: skip
