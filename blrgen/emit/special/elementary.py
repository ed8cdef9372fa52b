"""exp, log and their kin without branches, so that a compiled loop does many at once.

What a compiler calls from the system's library it calls for one element after the other.
These are polynomials and the bits of floats: e^x = 2ᵏ eʳ, log x = k log 2 + log m.  The
numbers of terms differ between float32 and float64; the compiler drops the other branch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from blrgen.emit.special.coefficients import DIGITS
from blrgen.emit.special.helper import Expr, Helper
from blrgen.emit.text import WIDTH

BITS = 16  # of the high part of log 2: its multiples are exact in float32 too
SMALL = {"small": "1e-17"}  # below it the value is its argument
_ABOUT_HALF_LOG_TWO = ((0.3465735,), (-0.3465736,), (0.34,), (-0.36,), (0.7,), (-1.03,))
_HYPERBOLIC_ENDS = ((89.2,), (710.2,))
_EXP_ENDS = ((88.0,), (-87.0,), (88.7,), (709.7,), (-708.0,), (1e-30,), (-1e-5,))


@cache
def _fit(kind: str, bits: int) -> tuple[float, ...]:
    """A polynomial, highest power first, whose error is below 2^−bits."""
    with mp.workdps(DIGITS):
        half = mpmath.log(2) / 2
        root = mpmath.sqrt(2)
        function, low, high = {
            "rise": (_rise_rest, -half, half),
            "log": (_log_rest, mpmath.mpf(0), ((root - 1) / (root + 1)) ** 2),
            "sinh": (_sinh_rest, mpmath.mpf(0), half**2),
            "cosh": (_cosh_rest, mpmath.mpf(0), half**2),
        }[kind]
        for count in range(2, 40):
            found, error = mpmath.chebyfit(function, [low, high], count, error=True)
            if error < mpmath.mpf(2) ** -bits:
                break
        return tuple(float(c) for c in found)


def _rise_rest(r: Any) -> Any:
    """(eʳ − 1 − r)/r²."""
    near = abs(r) < mpmath.mpf(10) ** -15
    return (1 + r / 3) / 2 if near else (mpmath.expm1(r) - r) / r**2


def _log_rest(z: Any) -> Any:
    """(2 artanh s − 2s)/s³ in z = s²."""
    s = mpmath.sqrt(z)
    near = z < mpmath.mpf(10) ** -20
    return mpmath.mpf(2) / 3 + 2 * z / 5 if near else (2 * mpmath.atanh(s) - 2 * s) / s**3


def _sinh_rest(z: Any) -> Any:
    """(sinh r/r − 1)/r² in z = r²."""
    r = mpmath.sqrt(z)
    near = z < mpmath.mpf(10) ** -20
    return mpmath.mpf(1) / 6 + z / 120 if near else (mpmath.sinh(r) / r - 1) / z


def _cosh_rest(z: Any) -> Any:
    """(cosh r − 1)/r² in z = r²."""
    near = z < mpmath.mpf(10) ** -20
    return (1 + z / 12) / 2 if near else (mpmath.cosh(mpmath.sqrt(z)) - 1) / z


def _fits(kind: str, single: int, double: int, prefix: str = "") -> dict[str, str]:
    """The polynomials of both dtypes as text, the highest coefficient by itself."""
    found = {}
    for name, bits, dtype in (("single", single, np.float32), ("double", double, np.float64)):
        first, *others = (str(dtype(c)) for c in _fit(kind, bits))
        found[f"first_{prefix}{name}"] = first
        line = f"({', '.join(others)})"
        if len(line) > WIDTH - len("        for c in :"):
            line = "\n".join(["(", *(f"            {c}," for c in others), "        )"])
        found[f"{prefix}{name}"] = line
    return found


@cache
def _log_two() -> dict[str, str]:
    """log 2 in two parts, its inverse, and what makes the nearest integer of a sum."""
    with mp.workdps(DIGITS):
        whole = mpmath.log(2)
        high = mpmath.ldexp(mpmath.nint(mpmath.ldexp(whole, BITS)), -BITS)
        return {
            "log_two_high": repr(float(high)),
            "log_two_low": repr(float(whole - high)),
            "inverse_log_two": repr(float(1 / whole)),
            "shift_single": repr(1.5 * 2**23),
            "shift_double": repr(1.5 * 2**52),
        }


def _of_sympy(name: str) -> Callable[..., Expr]:
    """The function of that name in SymPy, or built from those it has."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        other = {
            "expm1": lambda: sp.exp(x) - 1,
            "log1p": lambda: sp.log(1 + x),
            "atanh": lambda: sp.log((1 + x) / (1 - x)) / 2,
        }
        return other[name]() if name in other else getattr(sp, name)(x)

    return meaning


def _function(name: str, values: dict[str, str], **more: Any) -> Helper:
    """A function of one argument, to two roundings."""
    return Helper(
        f"_{name}", _of_sympy(name), values, says=f"{name}(x)",
        reference=getattr(mpmath, name), allowed=2.0, contract=True, **more,
    )  # fmt: skip


def _part(name: str, values: dict[str, str] | None = None) -> Helper:
    """What the functions share; it is checked where they are."""
    return Helper(f"_{name}", lambda *_: None, values or {}, ranges=(), contract=True)


def _exp_like(name: str, values: dict[str, str], largest: float, **more: Any) -> Helper:
    return _function(
        name, values, ranges=((-12, largest),), signed=(0,),
        near=(*_ABOUT_HALF_LOG_TWO, *_EXP_ENDS, *more.pop("near", ())), **more,
    )  # fmt: skip


def exp() -> Helper:
    """eˣ."""
    return _exp_like("exp", {}, 2.84)


def expm1() -> Helper:
    """eˣ − 1."""
    return _exp_like("expm1", SMALL, 2.84)


def tanh() -> Helper:
    """tanh x."""
    return _exp_like("tanh", {}, 3, near=((0.1734,), (0.52,), (9.0,), (20.5,)))


def sinh() -> Helper:
    """sinh x."""
    fits = _fits("sinh", 24, 53, "sinh_") | _fits("cosh", 25, 54, "cosh_")
    return _exp_like("sinh", SMALL | fits, 2.84, near=_HYPERBOLIC_ENDS)


def cosh() -> Helper:
    """cosh x."""
    return _exp_like("cosh", {}, 2.84, near=_HYPERBOLIC_ENDS)


def log() -> Helper:
    """log x."""
    values = {
        "tiny_single": repr(2.0**-126), "tiny_double": repr(2.0**-1022), "scale": repr(2.0**64)
    }  # fmt: skip
    near = (0.7071, 0.70711, 0.99999, 1.00001, 1.4142, 1.4143, 0.5, 2.0, 1e-38, 1e-40, 1e-310)
    return _function("log", values, ranges=((-300, 300),), near=tuple((x,) for x in near))


def log1p() -> Helper:
    """log(1 + x)."""
    near = (-0.2928, -0.2929, 0.4142, 0.4143, -0.9999, 1e-7, 1e-16, -3e-8, 1e-8, 2e7, 1e16, -0.5)
    return _function(
        "log1p", SMALL, ranges=((-16, 300),), signed=(0,), near=tuple((x,) for x in near),
        place=lambda x: (x if x > -1 else x / (1 - x),),
    )  # fmt: skip


def sigmoid() -> Helper:
    """1/(1 + e⁻ˣ)."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return 1 / (1 + sp.exp(-x))

    return Helper(
        "_sigmoid", meaning, says="1/(1 + exp(-x))",
        ranges=((-12, 2.84),), signed=(0,), near=((-87.0,), (-708.0,), (17.0,), (-0.35,)),
        reference=lambda x: 1 / (1 + mpmath.exp(-x)), allowed=2.0, contract=True,
    )  # fmt: skip


def atanh() -> Helper:
    """artanh x."""
    near = (0.999, -0.999, 1e-7, 0.17, -0.3)
    return _function(
        "atanh", {}, ranges=((-16, 12),), signed=(0,), near=tuple((x,) for x in near),
        place=lambda x: (x / (1 + abs(x)),),
    )  # fmt: skip


def log_sum() -> Helper:
    """log m and what is added to it."""
    numbers = {k: _log_two()[k] for k in ("log_two_high", "log_two_low")}
    return _part("log_sum", {**numbers, **_fits("log", 22, 51)})


def binades() -> Helper:
    """x as 2ᵏ m."""
    with mp.workdps(DIGITS):
        return _part("binades", {"root_half": repr(float(mpmath.sqrt(0.5)))})


FUNCTIONS: dict[str, Callable[[], Helper]] = {
    "_exp": exp,
    "_expm1": expm1,
    "_log": log,
    "_log1p": log1p,
    "_tanh": tanh,
    "_sinh": sinh,
    "_cosh": cosh,
    "_atanh": atanh,
    "_sigmoid": sigmoid,
}

BUILDERS: dict[str, Callable[[], Helper]] = {
    **FUNCTIONS,
    "_octaves": lambda: _part("octaves", _log_two()),
    "_rise": lambda: _part("rise", _fits("rise", 23, 52)),
    "_binades": binades,
    "_log_sum": log_sum,
    "_power_of_two": lambda: _part("power_of_two"),
}
