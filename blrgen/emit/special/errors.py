"""erf, erfc and what is left of erfc without its exponential."""

from __future__ import annotations

from typing import Any

import mpmath
from mpmath import mp

from blrgen.emit.special.coefficients import DIGITS
from blrgen.emit.special.helper import Expr, Helper

STEP, NODES = 0.5, 13  # e^(−π²/step²) is less than a rounding
TERMS = 19  # of the series of erf at 1


def _numbers() -> dict[str, str]:
    with mp.workdps(DIGITS):
        places = [STEP * (k + mpmath.mpf(1) / 2) for k in range(NODES)]
        weights = [2 * STEP / mpmath.pi * mpmath.exp(-t * t) for t in places]
        pairs = reversed([(float(t * t), float(w)) for t, w in zip(places, weights, strict=True)])
        return {
            "step": repr(STEP),
            "nodes": "\n".join(f"        ({a!r}, {b!r})," for a, b in pairs),
            "edge": repr(float(mpmath.pi / STEP)),
            "period": repr(float(2 * mpmath.pi / STEP)),
            "large": "1e+16",
            "inverse_root_pi": repr(float(1 / mpmath.sqrt(mpmath.pi))),
        }


def erfcx() -> Helper:
    """exp(x²) erfc(x)."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.exp(x**2) * (1 - sp.erf(x))

    return Helper(
        "_erfcx", meaning, _numbers(), ranges=((-12, 12),),
        near=((-0.3,), (-2.0,), (-5.0,), (6.28,), (6.3,), (9.0,), (0.0,), (0.5,)),
        says="exp(x**2) erfc(x)",
        reference=lambda x: mpmath.exp(x * x) * mpmath.erfc(x) if x < 1e4 else _far(x),
    )  # fmt: skip


def _far(x: Any) -> Any:
    """Its expansion, which has thirty digits from 10⁴ on after eight terms."""
    total, term = mpmath.mpf(1), mpmath.mpf(1)
    for k in range(1, 8):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * mpmath.sqrt(mpmath.pi))


def erfc() -> Helper:
    """erfc."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return 1 - sp.erf(x)

    return Helper(
        "_erfc", meaning, ranges=((-12, 1.4),), signed=(0,),
        near=((8.3,), (9.1,), (20.03,), (26.0,), (-3.0,)), says="erfc(x)", reference=mpmath.erfc,
    )  # fmt: skip


def erf() -> Helper:
    """erf."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.erf(x)

    with mp.workdps(DIGITS):
        factor = float(2 / mpmath.sqrt(mpmath.pi))
    return Helper(
        "_erf", meaning, {"terms": str(TERMS), "two_over_root_pi": repr(factor)},
        ranges=((-200, 2),), signed=(0,), near=((0.99,), (1.01,), (-3.0,), (6.0,)),
        says="erf(x)", reference=mpmath.erf,
    )  # fmt: skip


def log_erfc() -> Helper:
    """The logarithm of erfc."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.log(1 - sp.erf(x))

    return Helper(
        "_log_erfc", meaning, ranges=((-12, 5),), signed=(0,),
        near=((0.99,), (1.01,), (-5.0,), (30.0,), (1e3,)), says="log(erfc(x))",
        reference=lambda x: mpmath.log(mpmath.erfc(x)) if abs(x) < 1e4 and x > -9
        else mpmath.log(2) if x < 0 else mpmath.log(_far(x)) - x * x,
    )  # fmt: skip
