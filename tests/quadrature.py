"""Integrals and sums of a declared density in NumPy, written apart from the engine's own.

The integral runs over t with x = the support's own change of variable and tanh–sinh spacing
at finite ends; the declared statistics and base measure are all that is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
import sympy as sp

from blrgen.core import Family

_MODULES = [
    {
        "loggamma": scipy.special.gammaln, "gamma": scipy.special.gamma,
        "factorial": lambda x: scipy.special.gamma(x + 1), "polygamma": scipy.special.polygamma,
        "binomial": scipy.special.binom, "besseli": scipy.special.iv,
        "beta": scipy.special.beta,
    },
    "numpy",
]  # fmt: skip


@dataclass(frozen=True)
class Density:
    """q at one set of parameters: nodes, weights that sum to one, and its functions."""

    family: Family
    x: Any
    weights: Any
    statistics: tuple[Callable[[Any], Any], ...]
    log_h: Callable[[Any], Any]
    log_h_slope: Callable[[Any], Any]
    fixed: dict[Any, float]

    def mean(self, f: Callable[[Any], Any]) -> float:
        """E_q[f]."""
        with np.errstate(all="ignore"):
            values = f(self.x)
        far = (self.weights < 1e-30) & ~np.isfinite(values)  # ∞·0 far out
        return float(np.sum(self.weights[~far] * values[~far]))

    def function(self, expr: Any) -> Callable[[Any], Any]:
        """An expression in the variable as a NumPy function."""
        return _numpy(self.family, expr, self.fixed)


def _numpy(family: Family, expr: Any, fixed: Mapping[Any, float]) -> Callable[[Any], Any]:
    known = sp.sympify(expr).subs({k: sp.Float(v, 17) for k, v in fixed.items()})
    f = sp.lambdify(family.variable, known, modules=_MODULES)
    return lambda x: f(x) + 0 * x


def density_of(family: Family, point: Mapping[Any, float]) -> Density:
    """The density at natural parameters and constants, normalised by its own sum."""
    fixed = {p.symbol: point[p.symbol] for p in family.fixed}
    statistics = tuple(_numpy(family, t, fixed) for t in family.statistics)
    opened = sp.sympify(family.base_measure).replace(sp.factorial, lambda a: sp.gamma(a + 1))
    opened = opened.replace(
        sp.binomial, lambda n, k: sp.gamma(n + 1) / sp.gamma(k + 1) / sp.gamma(n - k + 1)
    )
    log = sp.expand_log(sp.log(opened), force=True).replace(
        lambda e: isinstance(e, sp.log) and isinstance(e.args[0], sp.gamma),
        lambda e: sp.loggamma(e.args[0].args[0]),
    )
    log_h = _numpy(family, log, fixed)
    slope = sp.diff(log, family.variable) if family.support.kind == "interval" else sp.S.Zero
    x, spacing = _nodes(family, fixed)
    with np.errstate(all="ignore"):
        level = log_h(x) + sum(
            point[p.symbol] * t(x) for p, t in zip(family.natural, statistics, strict=True)
        )
        level = np.where(np.isfinite(level), level, -np.inf)
        weights = np.exp(level - level.max()) * spacing
    weights = np.where(np.isfinite(weights), weights, 0)
    return Density(
        family, x, weights / weights.sum(), statistics, log_h,
        _numpy(family, slope, fixed), fixed,
    )  # fmt: skip


def _nodes(family: Family, fixed: Mapping[Any, float]) -> tuple[Any, Any]:
    support = family.support
    if support.kind == "finite":
        points = np.array([float(p) for p in support.points])
        return points, np.ones_like(points)
    low, high = (
        float(sp.sympify(b).subs({k: sp.Float(v) for k, v in fixed.items()}))
        for b in (support.lower, support.upper)
    )
    if support.kind == "integers":
        points = np.arange(low if np.isfinite(low) else -4000, min(high, 4000) + 1)
        return points, np.ones_like(points)
    t = np.linspace(-5.5, 5.5, 6001)
    u = np.pi / 2 * np.sinh(t)
    du = np.pi / 2 * np.cosh(t) * (t[1] - t[0])
    if np.isfinite(low) and np.isfinite(high):
        left = 1 / (1 + np.exp(-2 * u))
        return low + (high - low) * left, (high - low) * 2 * left * (1 - left) * du
    if np.isfinite(low) or np.isfinite(high):
        end, side = (low, 1) if np.isfinite(low) else (high, -1)
        near = np.exp(np.clip(u, -600, 300))
        return end + side * near, near * du
    return np.sinh(u * 0.2), np.cosh(u * 0.2) * 0.2 * du
