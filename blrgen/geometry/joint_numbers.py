"""Numbers of several scalar variables with a log-partition by quadrature, in doubles.

The interface of `geometry.numbers.moments.Averages`, by sums over the joint density; the error is
the square of what half the nodes miss, and never below rounding.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from blrgen.core import Family

Expr = Any
Array = Any
_ROUNDING = 1e-14


class JointNumbers:
    """A, μ, F, 𝓗 and ∇_μ𝓗 at natural parameters and constants."""

    def __init__(self, family: Family, args: tuple[Any, ...]) -> None:
        from blrgen.geometry.at_sizes import _joint_density

        self.family = family
        self.natural = np.array([float(a) for a in args[: len(family.natural)]])
        self.density = _joint_density(family, tuple(map(float, args)))

    @property
    def error(self) -> float:
        """Of a number of size one."""
        return float(max(self.density.nodes.error**2, _ROUNDING))

    @cached_property
    def _statistics(self) -> Array:
        return np.array([self.density.values(t) for t in self.family.statistics])

    @cached_property
    def _mean(self) -> Array:
        return np.array([float(self.density.mean(t)) for t in self._statistics])

    def _covariance(self, f: Array) -> Array:
        centred = f - float(self.density.mean(f))
        with np.errstate(all="ignore"):
            return np.array([
                float(self.density.mean((t - m) * centred))
                for t, m in zip(self._statistics, self._mean, strict=True)
            ])  # fmt: skip

    @cached_property
    def _fisher(self) -> Array:
        found = np.array([self._covariance(t) for t in self._statistics])
        return (found + found.T) / 2

    def log_partition(self) -> tuple[float, float]:
        """(A, error)."""
        a = float(self.density.nodes.log_mass)
        return a, self.error * max(1.0, abs(a))

    @property
    def errors(self) -> tuple[float, float]:
        """Of the entries of μ, and of F."""
        sizes = (np.abs(self._mean).max(), np.abs(self._fisher).max())
        mean, fisher = (self.error * max(1.0, float(size)) for size in sizes)
        return mean, fisher

    def moments(self) -> tuple[list[float], list[list[float]], float]:
        """(μ, F, the error of their entries)."""
        return self._mean.tolist(), self._fisher.tolist(), max(self.errors)

    def entropy(self, log_base: Expr | None) -> tuple[float, float]:
        """(A − ⟨λ, μ⟩ − E[log h], error)."""
        base = 0.0 if log_base is None else float(self.density.mean(self._of(log_base)))
        found = self.log_partition()[0] - float(self.natural @ self._mean) - base
        size = 1 + abs(found) + float(np.abs(self.natural * self._mean).sum())
        return found, self.error * size

    def entropy_gradient(self, log_base: Expr | None) -> list[tuple[float, float]]:
        """−λ − F⁻¹ Cov(T, log h), with errors."""
        extra = np.zeros_like(self.natural)
        if log_base is not None:
            extra = np.linalg.solve(self._fisher, self._covariance(self._of(log_base)))
        grown = self.error * float(np.linalg.cond(self._fisher)) if log_base is not None else 0.0
        return [(float(-x - e), grown * (1 + abs(e))) for x, e in
                zip(self.natural, extra, strict=True)]  # fmt: skip

    def _of(self, f: Expr) -> Array:
        return self.density.values(f)
