"""The size of a constant, known before SymPy compares or evaluates it.

Assumptions about exp(exp(exp(exp(10)))) - 1 make SymPy evaluate it, which does
not come back; so every part without symbols is measured here, bottom up, and
must be representable as a double.
"""

from __future__ import annotations

from typing import Any

from blrgen.read.complaint import Complain

Expr = Any
LARGEST = 1e300
SMALLEST = 1e-300

_PLAIN = {
    "exp": "exp", "log": "log", "Abs": "fabs", "sin": "sin", "cos": "cos", "tanh": "tanh",
    "sinh": "sinh", "cosh": "cosh", "gamma": "gamma", "loggamma": "loggamma",
    "polygamma": "polygamma", "beta": "beta", "factorial": "factorial", "binomial": "binomial",
    "erf": "erf", "besseli": "besseli", "besselk": "besselk", "zeta": "zeta",
}  # fmt: skip


def check_constant(expr: Expr, complain: Complain) -> None:
    """A part without symbols is a real number within the range of doubles."""
    import mpmath

    if expr.is_Rational or expr.free_symbols:
        return
    with mpmath.workdps(20):
        measure(expr, complain)


def measure(expr: Expr, complain: Complain) -> Any:
    """The value of a constant with 20 digits; refused when it leaves the range of doubles."""
    import mpmath

    try:
        value = _value(expr, complain)
    except (OverflowError, ValueError, ZeroDivisionError, mpmath.mp.NoConvergence):
        raise complain("this constant has no value", "it is too large or undefined") from None
    if isinstance(value, mpmath.mpc):
        if value.imag != 0:
            raise complain(
                "this is not a real number", "it takes a root or logarithm of a negative one"
            )
        value = value.real
    if not (value == 0 or SMALLEST <= abs(value) <= LARGEST):
        raise complain(
            "this constant is out of range", f"its size must be between {SMALLEST} and {LARGEST}"
        )
    return value


def _value(expr: Expr, complain: Complain) -> Any:
    import mpmath
    import sympy as sp

    if expr.is_Rational:
        return mpmath.mpf(int(expr.p)) / int(expr.q)
    if not expr.args:
        return mpmath.mpf(sp.N(expr, 20)._mpf_) if expr.is_real else mpmath.mpc(0, 1)
    args = [measure(a, complain) if _real(a) else _value(a, complain) for a in expr.args]
    if expr.is_Add:
        return mpmath.fsum(args)
    if expr.is_Mul:
        return mpmath.fprod(args)
    if expr.is_Pow:
        return mpmath.power(*args)
    name = _PLAIN.get(type(expr).__name__)
    if name:
        return getattr(mpmath, name)(*args)
    number = sp.N(expr, 20)
    if not number.is_Float:
        raise ValueError
    return mpmath.mpf(number._mpf_)


def _real(expr: Expr) -> bool:
    import sympy as sp

    return not expr.has(sp.I)
