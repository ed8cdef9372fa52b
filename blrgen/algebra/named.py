"""Differences and quotients of special functions that have a name of their own.

What they are made of loses its digits for large arguments, or overflows; they do not.
Emitted files hold a function of that name where they use one.
"""

from __future__ import annotations

from typing import Any

import sympy as sp


class trigamma_rest(sp.Function):  # type: ignore[misc]
    """ψ′(x) − 1/x."""

    nargs = 1
    is_real = True
    is_positive = True


class digamma_rise(sp.Function):  # type: ignore[misc]
    """ψ(x + y) − ψ(x), y > 0."""

    nargs = 2
    is_real = True
    is_positive = True


class trigamma_fall(sp.Function):  # type: ignore[misc]
    """ψ′(x) − ψ′(x + y), y > 0."""

    nargs = 2
    is_real = True
    is_positive = True


class trigamma_rest_fall(sp.Function):  # type: ignore[misc]
    """ψ′(x) − 1/x less the same at x + y, y > 0."""

    nargs = 2
    is_real = True
    is_positive = True


class log_minus_digamma(sp.Function):  # type: ignore[misc]
    """Log x − ψ(x)."""

    nargs = 1
    is_real = True
    is_positive = True


class log_beta(sp.Function):  # type: ignore[misc]
    """Log B(a, b)."""

    nargs = 2
    is_real = True


class loggamma_ratio(sp.Function):  # type: ignore[misc]
    """Log Γ(a + b) − log Γ(a)."""

    nargs = 2
    is_real = True


class bessel_quotient(sp.Function):  # type: ignore[misc]
    """I_{ν+1}(x)/(x I_ν(x))."""

    nargs = 2
    is_real = True
    is_positive = True


class bessel_slope(sp.Function):  # type: ignore[misc]
    """The derivative of I_{ν+1}(x)/I_ν(x) in x."""

    nargs = 2
    is_real = True
    is_positive = True


class bessel_bend(sp.Function):  # type: ignore[misc]
    """I_{ν+1}(x)/(x I_ν(x)) − I_{ν+2}(x)/(x I_{ν+1}(x))."""

    nargs = 2
    is_real = True
    is_positive = True


class multitrigamma_rest(sp.Function):  # type: ignore[misc]
    """ψ′_d(x) − d/x."""

    nargs = 2
    is_real = True
    is_positive = True


class log_minus_multidigamma(sp.Function):  # type: ignore[misc]
    """d log x − ψ_d(x)."""

    nargs = 2
    is_real = True
    is_positive = True


class log_besselk(sp.Function):  # type: ignore[misc]
    """log K_ν(x)."""

    nargs = 2
    is_real = True


class besselk_ratio(sp.Function):  # type: ignore[misc]
    """R = K_{ν+1}(x)/K_ν(x)."""

    nargs = 2
    is_real = True
    is_positive = True


class besselk_order(sp.Function):  # type: ignore[misc]
    """∂log K_ν(x)/∂ν."""

    nargs = 2
    is_real = True


class besselk_order_variance(sp.Function):  # type: ignore[misc]
    """∂²log K_ν(x)/∂ν²."""

    nargs = 2
    is_real = True
    is_positive = True


class besselk_order_slope(sp.Function):  # type: ignore[misc]
    """∂R/∂ν."""

    nargs = 2
    is_real = True
    is_positive = True


class besselk_tilt(sp.Function):  # type: ignore[misc]
    """−∂²log K_ν(x)/∂ν∂x = ∂R/∂ν − 1/x."""

    nargs = 2
    is_real = True


class besselk_spread(sp.Function):  # type: ignore[misc]
    """1 + 2(ν+1)R/x − R²."""

    nargs = 2
    is_real = True
    is_positive = True


class besselk_turan(sp.Function):  # type: ignore[misc]
    """R² − 2νR/x − 1."""

    nargs = 2
    is_real = True
    is_positive = True


class besselk_slope(sp.Function):  # type: ignore[misc]
    """1 + (2ν+1)R/x − R² = −∂R/∂x."""

    nargs = 2
    is_real = True


class besselk_curvature(sp.Function):  # type: ignore[misc]
    """∂²log K_ν(x)/∂x²."""

    nargs = 2
    is_real = True
    is_positive = True


class log_besseli(sp.Function):  # type: ignore[misc]
    """log I_ν(x)."""

    nargs = 2
    is_real = True


class erfcx(sp.Function):  # type: ignore[misc]
    """exp(x²) erfc(x)."""

    nargs = 1
    is_real = True
    is_positive = True

    def fdiff(self, argindex: int = 1) -> Any:
        """2x erfcx(x) − 2/√π."""
        x = self.args[0]
        return 2 * x * erfcx(x) - 2 / sp.sqrt(sp.pi)


class log_erfc(sp.Function):  # type: ignore[misc]
    """log erfc(x)."""

    nargs = 1
    is_real = True

    def fdiff(self, argindex: int = 1) -> Any:
        """−2/(√π erfcx(x))."""
        return -2 / (sp.sqrt(sp.pi) * erfcx(self.args[0]))
