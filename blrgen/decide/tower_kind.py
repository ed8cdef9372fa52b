"""Towers of prime fields as a kind of numbers: functions by name, and linear algebra.

What has algebra follows it (log1p, log Γ_d, ψ(x + y) − ψ(x), …); log Γ, ψ, ψ′, erf, sin, cos are
random functions of their arguments.  Matrices are eliminated without a search for pivots.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import numpy as np

from blrgen.decide.towers import NoMeaning, Tower, constant, lift
from blrgen.value.kinds import Kind

MOST = 12  # of a whole number that says how often something is added
Function = Callable[..., Any]


def _random(name: str) -> Function:
    return lambda x: x.function(name)


def _over_halves(name: str) -> Function:
    """Σ_j f(x − j/2) for j from 0 to before d."""

    def total(x: Tower, d: Tower) -> Any:
        count = next((k for k in range(MOST + 1) if d == k), None)
        if count is None:
            raise NoMeaning(f"a sum of {name} over a number that is not small and whole")
        return sum(((x - Fraction(j, 2)).function(name) for j in range(count)), start=d * 0)

    return total


def _tanh(x: Tower) -> Any:
    up = (2 * x).exp()
    return (up - 1) / (up + 1)


def _polygamma(n: Tower, x: Tower) -> Any:
    if n not in (0, 1):
        raise NoMeaning("a polygamma function of higher order")
    return x.function("digamma" if n == 0 else "trigamma")


def _uniform_cumulant(n: Tower, x: Tower) -> Any:
    """Derivatives of log((eˣ − 1)/x)."""
    if n not in (0, 1, 2):
        raise NoMeaning("a cumulant of the uniform law of higher order")
    if n == 0:
        return ((x.exp() - 1) / x).log()
    down = (-x).exp()
    return 1 / (1 - down) - 1 / x if n == 1 else 1 / x**2 - down / (1 - down) ** 2


def _of_order(n: int) -> Function:
    return lambda x: _uniform_cumulant(cast(Tower, lift(n)), x)


def _of_two(name: str) -> Function:
    return lambda x, y: x.function(name, y)


_GAMMA, _DIGAMMA, _TRIGAMMA = map(_random, ("lgamma", "digamma", "trigamma"))
_OVER_GAMMA, _OVER_DIGAMMA = _over_halves("lgamma"), _over_halves("digamma")
FUNCTIONS: dict[str, Function] = {
    "exp": Tower.exp, "log": Tower.log, "log_share": Tower.log, "level": lambda x: x,
    "sqrt": Tower.sqrt, "tanh": _tanh,
    "log1p": lambda x: (1 + x).log(), "expm1": lambda x: x.exp() - 1,
    "pow": lambda x, y: (y * x.log()).exp(),
    "lgamma": _GAMMA, "loggamma": _GAMMA, "digamma": _DIGAMMA, "trigamma": _TRIGAMMA,
    "polygamma": _polygamma, "erf": _random("erf"), "erfc": _random("erfc"),
    "uniform_cumulant": _uniform_cumulant, "uniform_cumulant_0": _of_order(0),
    "uniform_cumulant_1": _of_order(1), "uniform_cumulant_2": _of_order(2),
    "log_besselk": _of_two("log_besselk"), "besselk_order": _of_two("besselk_order"),
    "besselk_ratio": _of_two("besselk_ratio"),
    "besselk": lambda x, y: x.function("log_besselk", y).exp(),
    "cos": _random("cos"), "sin": _random("sin"),
    "log_beta": lambda x, y: _GAMMA(x) + _GAMMA(y) - _GAMMA(x + y),
    "loggamma_ratio": lambda x, y: _GAMMA(x + y) - _GAMMA(x),
    "digamma_rise": lambda x, y: _DIGAMMA(x + y) - _DIGAMMA(x),
    "trigamma_fall": lambda x, y: _TRIGAMMA(x) - _TRIGAMMA(x + y),
    "log_minus_digamma": lambda x: x.log() - _DIGAMMA(x),
    "log_minus_multidigamma": lambda x, d: d * x.log() - _OVER_DIGAMMA(x, d),
    "multigammaln": lambda x, d: _OVER_GAMMA(x, d) + d * (d - 1) / 4 * constant("pi").log(),
    "multipolygamma_0": _OVER_DIGAMMA, "multipolygamma_1": _over_halves("trigamma"),
}  # fmt: skip


def function(name: str, *args: Any) -> Any:
    """A function by its name: by its algebra, where it has some, else a random one."""
    if name not in FUNCTIONS:
        raise NoMeaning(f"{name} in numbers of a field")
    return FUNCTIONS[name](*map(lift, args))


_LIFT = np.frompyfunc(lift, 1, 1)


class Towers(Kind):
    """Numbers of a tower, for expressions and programs."""

    dtype = np.dtype(object)

    def number(self, x: Any) -> Any:
        return lift(x)

    def constant(self, name: str) -> Any:
        return constant(name)

    def array(self, x: Any) -> Any:
        return np.asarray(_LIFT(np.asarray(x, dtype=object)), dtype=object)

    def power(self, x: Any, exponent: Fraction) -> Any:
        return lift(x) ** exponent

    def call(self, name: str, *args: Any) -> Any:
        return function(name, *args)

    def log_sum_exp(self, x: Any) -> Any:
        return self.log(self.exp(x).sum(-1))

    def shares(self, x: Any) -> Any:
        found = self.exp(x)
        return found / found.sum(-1, keepdims=True)

    def exp(self, x: Any) -> Any:
        return np.frompyfunc(lambda a: lift(a).exp(), 1, 1)(x)

    def log(self, x: Any) -> Any:
        return np.frompyfunc(lambda a: lift(a).log(), 1, 1)(x)

    def inverse(self, matrix: Any) -> Any:
        n = matrix.shape[-1]
        return self.solve(matrix, np.broadcast_to(np.eye(n, dtype=int), matrix.shape))

    def solve(self, matrix: Any, right: Any) -> Any:
        return self._stacked(matrix, right)[0]

    def logdet(self, matrix: Any) -> Any:
        return self._stacked(matrix, np.zeros((*matrix.shape[:-1], 0), dtype=object))[1]

    def _stacked(self, matrix: Any, right: Any) -> tuple[Any, Any]:
        stack = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
        a = np.broadcast_to(self.array(matrix), (*stack, *matrix.shape[-2:]))
        b = np.broadcast_to(self.array(right), (*stack, *right.shape[-2:]))
        solved, volume = np.empty(b.shape, dtype=object), np.empty(stack, dtype=object)
        for place in np.ndindex(*stack):
            solved[place], volume[place] = eliminated(a[place], b[place])
        return solved, volume if stack else volume.item()


TOWERS = Towers()


def eliminated(a: Any, b: Any) -> tuple[Any, Any]:
    """A⁻¹ b and log |A|, by elimination."""
    a, b, n = a.copy(), b.copy(), len(a)
    volume: Any = 0
    for k in range(n):
        volume = volume + a[k, k].log()
        b[k], a[k] = b[k] / a[k, k], a[k] / a[k, k]
        for i in range(n):
            if i != k:
                b[i], a[i] = b[i] - a[i, k] * b[k], a[i] - a[i, k] * a[k]
    return b, volume
