"""Bessel functions K through the law they normalise: K_ν(x) = ½∫ exp(νt − x cosh t) dt.

| helper | value | of the law |
|---|---|---|
| log_besselk | log K_ν(x) | its mass |
| besselk_ratio | R = K_{ν+1}(x)/K_ν(x) | E[eᵗ] |
| besselk_order | ∂log K_ν(x)/∂ν | E[t] |
| besselk_order_variance | ∂²log K_ν(x)/∂ν² | Var[t] |
| besselk_order_slope | ∂R/∂ν | Cov[t, eᵗ] |
| besselk_tilt | −∂²log K_ν(x)/∂ν∂x | Cov[t, cosh t] |
| besselk_spread | 1 + 2(ν+1)R/x − R² | Var[eᵗ] |
| besselk_turan | R² − 2νR/x − 1 | −Cov[eᵗ, e⁻ᵗ] |
| besselk_slope | 1 + (2ν+1)R/x − R² = −∂R/∂x | Cov[eᵗ, cosh t] |
| besselk_curvature | ∂²log K_ν(x)/∂x² | Var[cosh t] |

All sums have terms of one sign but for the means, which are taken from the peak on, where
they are small beside the spread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import factorial
from typing import Any

from blrgen.emit.special.helper import Expr, Helper

DEPTH, STEP, TERMS = 46, 0.44, 9
RANGES = ((-3, 2), (-10, 6))
NEAR = (
    (0.0, 1e-10), (0.0, 0.3), (0.0, 1e6), (0.0, 40.0), (-0.7, 2.0), (-30.0, 0.5), (30.0, 900.0),
    (0.5, 1e-6), (1.0, 7.0), (-2.0, 3e4), (1e-6, 1.0), (250.0, 250.0),
)  # fmt: skip


def compensated() -> Helper:
    """Sums in which rounding does not add up."""
    return Helper("_compensated", lambda *_: None, ranges=())


def nodes() -> Helper:
    """Where the integral is evaluated."""
    values = {"depth": str(DEPTH), "step": repr(STEP)}
    return Helper("_besselk_nodes", lambda *_: None, values, ranges=())


def weight() -> Helper:
    """The density relative to its peak."""
    series = [(1 / factorial(2 * k + 2), 1 / factorial(2 * k + 3)) for k in reversed(range(TERMS))]
    values = {"series": "\n".join(f"({a!r}, {b!r})," for a, b in series)}
    return Helper("_besselk_weight", lambda *_: None, values, ranges=())


def _moment(name: str, **more: Any) -> Helper:
    return Helper(f"_{name}", ranges=RANGES, near=NEAR, signed=(0,), **more)


def _ratio(order: Expr, x: Expr) -> Expr:
    """K_{ν+1}/K_ν, in positive orders where ν has a minus sign: K_{1−ν} = K_{ν−1}."""
    import sympy as sp

    if order.could_extract_minus_sign():
        return _ratio(-order, x) + 2 * order / x
    return sp.besselk(order + 1, x) / sp.besselk(order, x)


def _order(order: Expr, x: Expr) -> Expr:
    from blrgen.geometry.integrate.bessel import order_slope

    return -order_slope(-order, x) if order.could_extract_minus_sign() else order_slope(order, x)


def _order_variance(order: Expr, x: Expr) -> Expr:
    from blrgen.geometry.integrate.bessel import order_square

    if order.could_extract_minus_sign():
        return _order_variance(-order, x)
    return order_square(order, x) - _order(order, x) ** 2


def _order_slope(order: Expr, x: Expr) -> Expr:
    if order.could_extract_minus_sign():
        return 2 / x - _order_slope(-order, x)
    return _ratio(order, x) * (_order(order + 1, x) - _order(order, x))


@lru_cache(maxsize=4096)
def law(order: Any, x: Any) -> dict[str, Any]:
    """The moments of the law to forty digits: the trapezoidal rule on a finer grid, further out."""
    import mpmath

    with mpmath.workdps(60):
        order, x = mpmath.mpf(order), mpmath.mpf(x)
        root = mpmath.sqrt(order**2 + x**2)
        peak = mpmath.asinh(order / x)
        step = mpmath.mpf(17) / 100 / mpmath.sqrt(root + 4)
        top = order * peak - root
        found: list[tuple[Any, ...]] = []
        for side in (1, -1):
            t = peak if side > 0 else peak - step
            while True:
                up = mpmath.exp(t)
                w = mpmath.exp(order * t - x * (up + 1 / up) / 2 - top)
                if w < mpmath.mpf(10) ** -45:
                    break
                found.append((w, t, up, 1 / up, (up + 1 / up) / 2))
                t += side * step
        mass = mpmath.fsum(f[0] for f in found)
        names = dict(zip(("t", "up", "down", "cosh"), (1, 2, 3, 4), strict=True))
        out = {"log": top + mpmath.log(mass * step / 2)}
        mean = {a: mpmath.fsum(f[0] * f[i] for f in found) / mass for a, i in names.items()}
        out |= mean
        for a, i in names.items():
            for b, j in names.items():
                out[f"{a} {b}"] = (
                    mpmath.fsum(f[0] * (f[i] - mean[a]) * (f[j] - mean[b]) for f in found) / mass
                )
        return out


def _from_law(key: str, sign: int = 1) -> Callable[..., Any]:
    return lambda order, x: sign * law(float(order), float(x))[key]


def log_besselk() -> Helper:
    """The mass."""

    def meaning(order: Expr, x: Expr) -> Expr:
        import sympy as sp

        return sp.log(sp.besselk(order, x))

    return _moment(
        "log_besselk",
        meaning=meaning, says="log(besselk(n, x))", reference=_from_law("log"),
        scale=lambda order, x, value: max(abs(value), x, abs(order), 1),
    )  # fmt: skip


def besselk_ratio() -> Helper:
    """E[eᵗ]."""
    return _moment(
        "besselk_ratio",
        meaning=_ratio, says="besselk(n + 1, x)/besselk(n, x)", reference=_from_law("up"),
    )  # fmt: skip


def besselk_order() -> Helper:
    """E[t]."""
    return _moment(
        "besselk_order",
        meaning=_order, says="the derivative of log(besselk(n, x)) in n", reference=_from_law("t"),
        scale=lambda order, x, value: max(abs(value), law(float(order), float(x))["t t"] ** 0.5),
    )  # fmt: skip


def besselk_order_variance() -> Helper:
    """Var[t]."""
    return _moment(
        "besselk_order_variance", meaning=_order_variance,
        says="the second derivative of log(besselk(n, x)) in n", reference=_from_law("t t"),
    )  # fmt: skip


def besselk_order_slope() -> Helper:
    """Cov[t, eᵗ]."""
    return _moment(
        "besselk_order_slope", meaning=_order_slope,
        says="the derivative of besselk(n + 1, x)/besselk(n, x) in n", reference=_from_law("t up"),
    )  # fmt: skip


def besselk_tilt() -> Helper:
    """Cov[t, cosh t]."""
    return _moment(
        "besselk_tilt", meaning=lambda order, x: _order_slope(order, x) - 1 / x,
        says="minus the mixed derivative of log(besselk(n, x))", reference=_from_law("t cosh"),
        scale=lambda order, x, value: _spreads("t", "cosh", order, x),
    )  # fmt: skip


def besselk_spread() -> Helper:
    """Var[eᵗ]."""
    return _moment(
        "besselk_spread",
        meaning=lambda order, x: 1 + 2 * (order + 1) * _ratio(order, x) / x - _ratio(order, x) ** 2,
        says="1 + 2 (n + 1) R/x - R**2, R = besselk(n + 1, x)/besselk(n, x)",
        reference=_from_law("up up"),
    )  # fmt: skip


def besselk_turan() -> Helper:
    """−Cov[eᵗ, e⁻ᵗ]."""
    return _moment(
        "besselk_turan",
        meaning=lambda order, x: _ratio(order, x) ** 2 - 2 * order * _ratio(order, x) / x - 1,
        says="R**2 - 2 n R/x - 1, R = besselk(n + 1, x)/besselk(n, x)",
        reference=_from_law("up down", -1),
    )  # fmt: skip


def besselk_slope() -> Helper:
    """Cov[eᵗ, cosh t]."""
    return _moment(
        "besselk_slope",
        meaning=lambda order, x: (
            1 + (2 * order + 1) * _ratio(order, x) / x - _ratio(order, x) ** 2
        ),
        says="minus the derivative of besselk(n + 1, x)/besselk(n, x) in x",
        reference=_from_law("up cosh"),
        scale=lambda order, x, value: _spreads("up", "cosh", order, x),
    )  # fmt: skip


def besselk_curvature() -> Helper:
    """Var[cosh t]."""
    return _moment(
        "besselk_curvature",
        meaning=lambda order, x: (
            1
            + (2 * order + 1) * _ratio(order, x) / x
            - _ratio(order, x) ** 2
            - order / x**2
        ),
        says="the second derivative of log(besselk(n, x)) in x", reference=_from_law("cosh cosh"),
    )  # fmt: skip


def _spreads(a: str, b: str, order: Any, x: Any) -> Any:
    """√(Var[a] Var[b]): what an error of their covariance is compared with."""
    found = law(float(order), float(x))
    return (found[f"{a} {a}"] * found[f"{b} {b}"]) ** 0.5


BUILDERS: dict[str, Callable[[], Helper]] = {
    "_compensated": compensated,
    "_besselk_nodes": nodes,
    "_besselk_weight": weight,
    "_log_besselk": log_besselk,
    "_besselk_ratio": besselk_ratio,
    "_besselk_order": besselk_order,
    "_besselk_order_variance": besselk_order_variance,
    "_besselk_order_slope": besselk_order_slope,
    "_besselk_tilt": besselk_tilt,
    "_besselk_spread": besselk_spread,
    "_besselk_turan": besselk_turan,
    "_besselk_slope": besselk_slope,
    "_besselk_curvature": besselk_curvature,
}
