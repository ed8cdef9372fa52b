"""Ratios of Bessel functions."""

from __future__ import annotations

from typing import Any

from blrgen.emit.special import coefficients as co
from blrgen.emit.special import debye
from blrgen.emit.special.helper import Expr, Helper, rows

STEPS, REACH = 9, 4  # steps down to a difference; x beyond its order from where it is another
ORDERS, DEBYE = 16, 8  # by how much the order of a Bessel function is raised; terms there
RAISED, TERMS, LARGE = 24, 9, 140  # the same for the slope; from where it is not raised


def _bessel_tables() -> dict[str, str]:
    ratio, length = debye.table(debye.ratio_polynomials(DEBYE))
    return {
        "shift": str(ORDERS),
        "rows": str(DEBYE),
        "length": str(length),
        "ratio": rows(ratio),
    }


def bessel_quotient() -> Helper:
    """The ratio of two Bessel functions over the argument."""

    def meaning(order: Expr, x: Expr) -> Expr:
        import sympy as sp

        return sp.besseli(order + 1, x) / (x * sp.besseli(order, x))

    return Helper(
        "_bessel_quotient",
        meaning,
        _bessel_tables(),
        ranges=((-2, 2), (-6, 6)),
        near=(
            (0.0, 0.5),
            (0.0, -0.5),
            (1.5, -20.0),
            (-0.5, -3.0),
            (0.0, 16.5),
            (0.0, 100.0),
            (0.0, 1e5),
            (0.5, 30.0),
            (3.5, 25.0),
        ),
        says="besseli(n + 1, x)/(x besseli(n, x))",
        reference=lambda order, x: _ratio_of_bessel(order, x) / abs(x),
    )


def bessel_slope() -> Helper:
    """The derivative of the ratio of two Bessel functions."""

    def meaning(order: Expr, x: Expr) -> Expr:
        import sympy as sp

        ratio = sp.besseli(order + 1, x) / sp.besseli(order, x)
        return 1 - ratio**2 - (2 * order + 1) * ratio / x

    def reference(order: Any, x: Any) -> Any:
        import mpmath

        with mpmath.workdps(100):
            ratio, x = _ratio_of_bessel(order, x), abs(x)
            return 1 - ratio**2 - (2 * order + 1) * ratio / x

    slope, length = debye.table(debye.slope_polynomials(TERMS))
    ratio, _ = debye.table(debye.ratio_polynomials(TERMS), length)
    return Helper(
        "_bessel_slope",
        meaning,
        {
            "shift": str(RAISED),
            "large": str(LARGE),
            "rows": str(TERMS - 1),  # the first terms are written out
            "length": str(length),
            "ratio": rows(ratio[:-length]),
            "slope": rows(slope[:-length]),
        },
        ranges=((-2, 3), (-6, 4)),
        near=(
            (0.0, 0.5), (0.0, 2.1), (0.0, 10.0), (0.0, 60.0), (0.0, 141.0), (0.0, 1e5),
            (0.5, 30.0), (0.0, -3.0), (1.0, 200.0), (-0.5, 0.3), (-0.5, -5.0), (-0.5, 30.0),
        ),
        says="the derivative of besseli(n + 1, x)/besseli(n, x)",
        reference=reference,
    )  # fmt: skip


def bessel_bend() -> Helper:
    """By how much the ratio over the argument falls from one order to the next."""

    def meaning(order: Expr, x: Expr) -> Expr:
        import sympy as sp

        one, two, three = (sp.besseli(order + k, x) for k in range(3))
        return two / (x * one) - three / (x * two)

    def reference(order: Any, x: Any) -> Any:
        import mpmath

        with mpmath.workdps(100):
            return (_ratio_of_bessel(order, x) - _ratio_of_bessel(order + 1, x)) / abs(x)

    return Helper(
        "_bessel_bend",
        meaning,
        {"shift": str(STEPS), "last": str(STEPS - 1), "reach": str(REACH)},
        ranges=((-2, 2), (-6, 6)),
        near=(
            (0.0, 0.5),
            (0.0, 1.5),
            (0.0, 100.0),
            (0.0, 1e5),
            (0.5, 2.0),
            (3.5, 3.0),
            (0.0, 3.9),
            (0.0, 4.1),
            (-0.5, 3.0),
            (300.0, 290.0),
            (0.0, -40.0),
        ),
        says="besseli(n + 1, x)/(x besseli(n, x)) - besseli(n + 2, x)/(x besseli(n + 1, x))",
        reference=reference,
        allowed=4.0,
    )


def log_besseli() -> Helper:
    """The logarithm of I itself."""
    import mpmath

    def meaning(order: Expr, x: Expr) -> Expr:
        import sympy as sp

        return sp.log(sp.besseli(order, x))

    def reference(order: Any, x: Any) -> Any:
        x = abs(x)
        if x > 2000 + 10 * order**2:
            return mpmath.log(mpmath.besseli(order, x))
        series = mpmath.hyp0f1(order + 1, x * x / 4, maxterms=10**6)
        return order * mpmath.log(x / 2) - mpmath.loggamma(order + 1) + mpmath.log(series)

    table, length = debye.table(debye.mass_polynomials(DEBYE + 2))
    values = {
        "shift": str(ORDERS), "rows": str(DEBYE + 2), "length": str(length), "table": rows(table),
        "terms": "80", "reach": "30", "two_pi": repr(co.decimal("2 pi")),
    }  # fmt: skip
    return Helper(
        "_log_besseli", meaning, values, ranges=((-2, 2), (-6, 5)),
        near=(
            (0.0, 1e-4), (0.0, -2.1), (0.0, 1.9), (2.5, 3.7), (30.0, 12.0), (0.5, 700.0),
            (0.0, 30.1), (0.0, 29.9), (0.3, 45.0),
        ),
        says="log(besseli(n, x))", reference=reference,
        scale=lambda order, x, value: max(
            abs(value), abs(order * mpmath.log(abs(x) / 2)), abs(mpmath.loggamma(order + 1))
        ),
    )  # fmt: skip


def _ratio_of_bessel(order: Any, x: Any) -> Any:
    import mpmath

    x = abs(x)  # the ratio is odd in x, its derivative and R/x are even
    with mpmath.workdps(mpmath.mp.dps + 5):
        if x > 100 + order**2:  # mpmath sums the power series where the terms do not grow
            return mpmath.besseli(order + 1, x) / mpmath.besseli(order, x)
        return (
            x / (2 * (order + 1))
            * mpmath.hyp0f1(order + 2, x * x / 4, maxterms=10**6)
            / mpmath.hyp0f1(order + 1, x * x / 4, maxterms=10**6)
        )  # fmt: skip
