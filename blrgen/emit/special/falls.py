"""What ψ and ψ′ change by between x and x + y: they lose their digits where y is small beside x.

    ψ(x + y) − ψ(x),   ψ′(x) − ψ′(x + y),   (ψ′(x) − 1/x) − (ψ′(x + y) − 1/(x + y))

All three are positive, and so is every term they are summed from: 1/x − 1/(x + y) is
y/(x (x + y)), and the divided difference of an asymptotic series is carried along with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from blrgen.emit.special import coefficients as co
from blrgen.emit.special.gammas import SHIFT
from blrgen.emit.special.helper import Expr, Helper, rows

NEAR = (
    (1.0, 1e-9), (1e6, 0.7), (0.7, 1e6), (1e-6, 2.0), (2.0, 1e-6), (8.0, 8.0), (1e-5, 1e-5),
    (1e8, 1e-3), (1e4, 1e5),
)  # fmt: skip


def _rise(x: Expr, y: Expr) -> Expr:
    import sympy as sp

    return sp.digamma(x + y) - sp.digamma(x)


def _fall(x: Expr, y: Expr) -> Expr:
    import sympy as sp

    return sp.polygamma(1, x) - sp.polygamma(1, x + y)


def _rest_fall(x: Expr, y: Expr) -> Expr:
    return _fall(x, y) - y / (x * (x + y))


def _between(value: Callable[[Any], Any], sign: int) -> Callable[..., Any]:
    """± (f(x) − f(x + y)) in as many digits as cancel, and sixty more."""

    def reference(x: Any, y: Any) -> Any:
        import mpmath

        lost = 4 * max(abs(int(mpmath.log10(z))) for z in (x, y))
        with mpmath.workdps(60 + lost):
            return sign * (value(x) - value(x + y))

    return reference


def _psi(order: int) -> Callable[[Any], Any]:
    import mpmath

    return lambda x: mpmath.polygamma(order, x)


def digamma_rise() -> Helper:
    """ψ between two points."""
    return Helper(
        "_digamma_rise", _rise,
        {"shift": str(SHIFT), "series": rows(reversed(co.digamma_terms(SHIFT)))},
        ranges=((-60, 60), (-60, 60)), near=NEAR, says="digamma(x + y) - digamma(x)",
        reference=_between(_psi(0), -1),
    )  # fmt: skip


def trigamma_fall() -> Helper:
    """ψ′ between two points."""
    shift = SHIFT + 1
    return Helper(
        "_trigamma_fall", _fall,
        {"shift": str(shift), "series": rows(reversed(co.polygamma_terms(1, shift)))},
        ranges=((-60, 60), (-60, 60)), near=NEAR, says="polygamma(1, x) - polygamma(1, x + y)",
        reference=_between(_psi(1), 1),
    )  # fmt: skip


def trigamma_rest_fall() -> Helper:
    """ψ′ without its leading term between two points."""
    shift = SHIFT + 1
    return Helper(
        "_trigamma_rest_fall", _rest_fall,
        {"shift": str(shift), "series": rows(reversed(co.polygamma_terms(1, shift)))},
        ranges=((-60, 60), (-60, 60)), near=NEAR,
        says="polygamma(1, x) - polygamma(1, x + y) - y/(x (x + y))",
        reference=_between(lambda x: _psi(1)(x) - 1 / x, 1),
    )  # fmt: skip


BUILDERS: dict[str, Callable[[], Helper]] = {
    "_digamma_rise": digamma_rise,
    "_trigamma_fall": trigamma_fall,
    "_trigamma_rest_fall": trigamma_rest_fall,
}
