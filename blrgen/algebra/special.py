"""Functions with a removable singularity, whole where their formula is not.

`uniform_cumulant(n, x)` is the n-th derivative of log((eˣ − 1)/x) = log ∫₀¹ e^{xu} du, the
n-th cumulant of the uniform law tilted by x.  Its formula has the form 0/0 at x = 0, where
the value is Bₙ/n.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import sympy as sp

Expr = Any


class uniform_cumulant(sp.Function):  # type: ignore[misc]
    """∂ⁿ log((eˣ − 1)/x), for n = 0, 1, 2, … and all real x."""

    nargs = 2
    is_real = True

    @classmethod
    def eval(cls, n: Expr, x: Expr) -> Expr:
        return at_zero(int(n)) if x == 0 else None

    def fdiff(self, argindex: int = 1) -> Expr:
        if argindex != 2:
            raise sp.core.function.ArgumentIndexError(self, argindex)
        return uniform_cumulant(self.args[0] + 1, self.args[1])

    def _eval_evalf(self, prec: int) -> Expr:
        digits = int(prec / 3.3) + 5
        x = self.args[1].evalf(digits)
        if not x.is_Float and not x.is_Rational:
            return None
        with mpmath.workdps(digits):
            value = uniform_cumulant_value(int(self.args[0]), mpmath.mpf(str(sp.N(x, digits))))
        return sp.Float(value, digits)

    def value_at(self, args: list[Any]) -> Any:
        """The number at numeric arguments, at mpmath's precision."""
        return uniform_cumulant_value(args[0], args[1])

    @property
    def formula(self) -> Expr:
        """The formula, which is 0/0 at 0."""
        return formula(int(self.args[0])).xreplace({_X: self.args[1]})

    def plain(self) -> Expr:
        """The formula, with the value at 0 beside it."""
        at = at_zero(int(self.args[0]))
        return sp.Piecewise((self.formula, sp.Ne(self.args[1], 0)), (at, True))


_X = sp.Symbol("x", real=True)


@cache
def formula(n: int) -> Expr:
    """log((eˣ − 1)/x), 1/(1 − e⁻ˣ) − 1/x, and derivatives, where x is not 0."""
    if n == 0:
        return sp.log((sp.exp(_X) - 1) / _X)
    if n == 1:
        return 1 / (1 - sp.exp(-_X)) - 1 / _X
    return sp.diff(formula(n - 1), _X)


def at_zero(n: int) -> Expr:
    """Bₙ/n (½ at n = 1): the cumulants of the uniform law on (0, 1); 0 for n = 0."""
    if n == 0:
        return sp.S.Zero
    return sp.S.Half if n == 1 else sp.bernoulli(n) / n


def uniform_cumulant_value(n: Any, x: Any) -> Any:
    """The value at mpmath's working precision; digits are added as x nears 0."""
    n, x = int(n), mpmath.mpf(x)
    if x == 0:
        zero = at_zero(n)
        return mpmath.mpf(int(zero.p)) / int(zero.q)
    digits = mpmath.mp.dps
    if abs(x) < mpmath.mpf(10) ** -digits:
        here, slope = (uniform_cumulant_value(k, 0) for k in (n, n + 1))
        return here + slope * x
    lost = (n + 1) * max(0, int(-mpmath.log10(abs(x)))) + 5
    if abs(x) > 3 * (digits + 20) + n * n:  # e^−|x| has no digit in it, and many of its own
        return _far_value(n, x)
    with mpmath.workdps(digits + lost):
        return +_plain_value(n, x)


def _far_value(n: int, x: Any) -> Any:
    """The value without e^−|x|: the derivatives of max(x, 0) − log |x|."""
    if n == 0:
        return max(x, 0) - mpmath.log(abs(x))
    return (n == 1 and x > 0) + (-1) ** n * mpmath.factorial(n - 1) / x**n


def _plain_value(n: int, x: Any) -> Any:
    if n == 0:
        side = x + mpmath.log1p(-mpmath.exp(-x)) if x > 0 else mpmath.log(-mpmath.expm1(x))
        return side - mpmath.log(abs(x))
    return _numbers(n)(x)


@cache
def _numbers(n: int) -> Callable[[Any], Any]:
    """The formula as a function of mpmath's numbers."""
    function: Callable[[Any], Any] = sp.lambdify(_X, formula(n), "mpmath")
    return function
