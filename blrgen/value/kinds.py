"""The kind of numbers that indexed expressions and programs are evaluated in: doubles.

Another kind (numbers of prime fields, `blrgen.decide.towers`) overrides what is done here.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from blrgen.algebra.special import uniform_cumulant_value

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log": np.log, "exp": np.exp, "lgamma": special.gammaln, "abs": abs, "pow": np.power,
    "cos": np.cos, "sin": np.sin, "tanh": np.tanh, "cosh": np.cosh, "sinh": np.sinh,
    "erf": special.erf, "erfcx": special.erfcx,
    "log_erfc": lambda x: np.log(2) + special.log_ndtr(-np.sqrt(2) * x),
    "digamma": special.digamma, "besselk": special.kv, "besseli": special.iv,
    "polygamma": special.polygamma, "zeta": special.zeta,
    "multigammaln": lambda a, d: special.multigammaln(a, int(d)),
    "log_indicator": lambda x: 0.0 if x == 0 else -np.inf,
    "log_reaches": lambda x: 0.0 if x >= 0 else -np.inf,
    "uniform_cumulant": lambda n, x: uniform_cumulant_value(int(n), x),
    "bessel_kernel": lambda v, s: special.iv(v, np.sqrt(s)) / np.sqrt(s) ** v,
}  # fmt: skip


class Kind:
    """Doubles: numbers, functions of them by name, and the linear algebra that is asked for."""

    dtype: Any = np.dtype(float)

    def number(self, x: Any) -> Any:
        """A number of this kind."""
        return float(x)

    def constant(self, name: str) -> Any:
        """π and e."""
        return {"pi": np.pi, "e": np.e}[name]

    def array(self, x: Any) -> Any:
        """An array of numbers of this kind."""
        return np.asarray(x, dtype=float)

    def power(self, x: Any, exponent: Fraction) -> Any:
        """x to a rational power."""
        return x ** float(exponent)

    def call(self, name: str, *args: Any) -> Any:
        """A function of numbers."""
        return float(_FUNCTIONS[name](*args))

    def log_sum_exp(self, x: Any) -> Any:
        """log Σ exp along the last axis."""
        top = x.max(-1, keepdims=True)
        return (top + np.log(np.exp(x - top).sum(-1, keepdims=True)))[..., 0]

    def shares(self, x: Any) -> Any:
        """exp x / Σ exp along the last axis."""
        found = np.exp(x - x.max(-1, keepdims=True))
        return found / found.sum(-1, keepdims=True)

    def exp(self, x: Any) -> Any:
        """exp, entry by entry."""
        return np.exp(x)

    def log(self, x: Any) -> Any:
        """log, entry by entry."""
        return np.log(x)

    def inverse(self, matrix: Any) -> Any:
        """A⁻¹."""
        return np.linalg.inv(matrix)

    def solve(self, matrix: Any, right: Any) -> Any:
        """A⁻¹ b, for stacks of matrices."""
        return np.linalg.solve(matrix, right)

    def logdet(self, matrix: Any) -> Any:
        """log |A|, for stacks of matrices."""
        return np.linalg.slogdet(matrix)[1]


DOUBLES = Kind()
