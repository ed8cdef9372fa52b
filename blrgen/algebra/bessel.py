"""I_ν(√s)/√s^ν, the Bessel function without its branch point: whole in s, positive at s = 0.

G_ν(s) = Σ_k (s/4)^k / (2^ν k! Γ(ν + k + 1)),      G_ν′ = ½ G_{ν+1}.
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy as sp

Expr = Any


class bessel_kernel(sp.Function):  # type: ignore[misc]
    """G_ν(s) for s ≥ 0."""

    nargs = 2

    def fdiff(self, argindex: int = 1) -> Expr:
        if argindex != 2:
            raise sp.core.function.ArgumentIndexError(self, argindex)
        order, s = self.args
        return bessel_kernel(order + 1, s) / 2

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_positive(self) -> bool:
        return True

    def value_at(self, args: list[Any]) -> Any:
        """The number at numeric arguments, at mpmath's precision."""
        order, s = args
        with mpmath.workdps(mpmath.mp.dps + 10):
            return mpmath.hyp0f1(order + 1, s / 4) / (2**order * mpmath.gamma(order + 1))

    def _eval_evalf(self, prec: int) -> Expr | None:
        order, s = (a.evalf(int(prec / 3.3) + 5) for a in self.args)
        if not (order.is_number and s.is_number and order.is_real and s.is_real):
            return None
        with mpmath.workprec(prec):
            found = self.value_at([mpmath.mpf(sp.Float(a, precision=prec)._mpf_)
                                   for a in (order, s)])  # fmt: skip
            return sp.Float(found, precision=prec)

    def cases(self) -> Expr:
        """By the usual function, and its value at 0 beside it where the order is a number."""
        order, s = self.args
        if order == 0 or not order.is_number:
            return self.plain()
        at_zero = 1 / (2**order * sp.gamma(order + 1))
        return sp.Piecewise((self.plain(), sp.Ne(s, 0)), (at_zero, True))

    def plain(self) -> Expr:
        """By the usual function, where s is not 0."""
        order, s = self.args
        return sp.besseli(order, sp.sqrt(s)) * s ** (-order / 2)


def log_kernel(order: Expr, s: Expr) -> Expr:
    """log G_ν(s)."""
    return sp.log(bessel_kernel(order, s))
