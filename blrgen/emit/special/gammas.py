"""Log Γ, ψ and what is built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import factorial
from typing import Any

from blrgen.emit.special import coefficients as co
from blrgen.emit.special.helper import Expr, Helper, rows

SHIFT = 8  # arguments are moved up by this much before an asymptotic series is used
ODD = 35  # the last power of w = 1/(2x + 1) that counts beside w, for x ≥ 1
FITTED = (24, 19)  # numbers in the two polynomials of log Γ


def _digamma(x: Expr) -> Expr:
    import sympy as sp

    return sp.digamma(x)


def _polygamma(order: int) -> Callable[[Expr], Expr]:
    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.polygamma(order, x)

    return meaning


def _trigamma_rest(x: Expr) -> Expr:
    import sympy as sp

    return sp.polygamma(1, x) - 1 / x


def _log_minus_digamma(x: Expr) -> Expr:
    import sympy as sp

    return sp.log(x) - sp.digamma(x)


def _loggamma(x: Expr) -> Expr:
    import sympy as sp

    return sp.loggamma(x)


def _loggamma_ratio(a: Expr, b: Expr) -> Expr:
    import sympy as sp

    return sp.loggamma(a + b) - sp.loggamma(a)


def _log_beta(a: Expr, b: Expr) -> Expr:
    import sympy as sp

    return sp.loggamma(a) + sp.loggamma(b) - sp.loggamma(a + b)


def polygamma_helper(order: int) -> Helper:
    """ψ⁽ⁿ⁾ for a whole n ≥ 1."""
    shift = SHIFT + order
    terms = co.polygamma_terms(order, shift)
    sign = -1 if order % 2 == 0 else 1
    primes = {1: "ψ′", 2: "ψ″", 3: "ψ‴"}
    return Helper(
        "_trigamma" if order == 1 else f"_polygamma_{order}",
        _polygamma(order),
        {
            "name": "_trigamma" if order == 1 else f"_polygamma_{order}",
            "symbol": primes.get(order, f"ψ⁽{order}⁾"),
            "order": str(order),
            "shift": str(shift),
            "power": str(order + 1),
            "factor": f"{float(sign * factorial(order))!r}",
            "first": repr(float(Fraction(1, order))),
            "last": " * ".join(["inverse"] * (order + 1)),
            "powers": " * ".join(["inverse"] * order),
            "series": rows(reversed(terms)),
        },
        ranges=((-290 / (order + 1), 290 / (order + 1)),),
        near=((1.0,), (2.0,), (8.0,)),
        says=f"polygamma({order}, x)",
        template="polygamma",
        uses=("_real_of", "_where"),
    )


def digamma() -> Helper:
    """ψ."""
    high, middle, low = co.digamma_root()
    root = high + middle
    return Helper(
        "_digamma",
        _digamma,
        {
            "shift": str(SHIFT),
            "high": repr(high),
            "middle": repr(middle),
            "low": repr(low),
            "series": rows(reversed(co.digamma_series(SHIFT))),
        },
        ranges=((-300, 300),),
        near=tuple((root + d,) for d in (0.0, 1e-15, -1e-12, 1e-6, -1e-3, 0.1)),
        says="digamma(x)",
    )


def digamma_many() -> Helper:
    """ψ in loops that vectorise."""
    one = digamma()
    return replace(one, name="_digamma_many", contract=True)


def trigamma_rest() -> Helper:
    """ψ′ without its leading term."""
    return Helper(
        "_trigamma_rest",
        _trigamma_rest,
        {
            "shift": str(SHIFT),
            "series": rows(reversed(co.cut(lambda k: co.bernoulli(2 * k), SHIFT))),
        },
        ranges=((-150, 150),),
        near=((1.0,), (8.0,)),
        says="polygamma(1, x) - 1/x",
    )


def log_minus_digamma() -> Helper:
    """Log x − ψ(x)."""
    return Helper(
        "_log_minus_digamma",
        _log_minus_digamma,
        {
            "shift": str(SHIFT - 1),
            "odd": str(ODD),
            "series": rows(reversed(co.digamma_terms(SHIFT))),
        },
        ranges=((-300, 300),),
        near=((0.999999,), (1.0,), (2.0,), (8.0,)),
        says="log(x) - digamma(x)",
    )


def loggamma() -> Helper:
    """Log Γ."""
    offsets = (-1e-9, -1e-3, 1e-12, 0.2)
    return Helper(
        "_loggamma",
        _loggamma,
        {
            "large": str(SHIFT),
            "stirling": rows(reversed(co.stirling_terms(SHIFT))),
            "first": rows(co.loggamma_fit(1, FITTED[0])),
            "second": rows(co.loggamma_fit(2, FITTED[1])),
            "constant": repr(co.decimal("half log 2 pi e")),
        },
        ranges=((-300, 300),),
        near=tuple((z + d,) for z in (1.0, 2.0, 3.0, 8.0) for d in offsets),
        says="loggamma(x)",
    )


def loggamma_ratio() -> Helper:
    """The logarithm of a ratio of Gamma functions."""
    return Helper(
        "_loggamma_ratio",
        _loggamma_ratio,
        {"large": str(SHIFT), "stirling": rows(reversed(co.stirling_terms(SHIFT)))},
        ranges=((-3, 15), (-10, 10)),
        says="loggamma(a + b) - loggamma(a)",
        scale=lambda a, b, value: max(abs(value), b, _log1p(b / a)),
    )


def log_beta() -> Helper:
    """The logarithm of the Beta function."""
    return Helper(
        "_log_beta",
        _log_beta,
        {
            "large": str(SHIFT),
            "stirling": rows(reversed(co.stirling_terms(SHIFT))),
            "half_log_two_pi": repr(co.decimal("half log 2 pi")),
        },
        ranges=((-10, 10), (-10, 10)),
        says="log(beta(a, b))",
        scale=lambda a, b, value: max(abs(value), 1),
    )


def _log1p(x: Any) -> Any:
    import mpmath

    return mpmath.log1p(x)


def _inverse_of_digamma(y: Any) -> Any:
    """By Newton's method, at mpmath's precision."""
    import mpmath

    x = mpmath.exp(y) + mpmath.mpf(1) / 2 if y > -2 else -1 / (y + mpmath.euler)
    for _ in range(60):
        step = (mpmath.digamma(x) - y) / mpmath.polygamma(1, x)
        x = x - step if step < x else x / 2
        if abs(step) <= abs(x) * mpmath.eps:
            break
    return x


def inverse_digamma() -> Helper:
    """The inverse of ψ, a function of its own in the rules."""

    def meaning(y: Expr) -> Expr:
        import sympy as sp

        return sp.Function("inverse_digamma")(y)

    return Helper(
        "_inverse_digamma", meaning,
        {
            "euler": repr(co.decimal("euler")),
            "series": rows(reversed(co.midpoint_terms(7)), 12),
        },
        ranges=((-6, 2.8),),
        signed=(0,),
        near=((2.0,), (1.9999999,), (-2.22,), (-1e200,), (709.0,)),
        says="the x > 0 with digamma(x) = y",
        reference=_inverse_of_digamma,
    )  # fmt: skip
