"""Expressions in double precision, as code that is typed from them computes them.

Every operation is rounded to a double and every function overflows where its double
does, so that exp(800)/(1 + exp(800)) is inf/inf: not a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import mpmath

from blrgen.value.evaluate import FUNCTIONS, Undefined, evaluate

Expr = Any


def in_double(e: Expr, point: Mapping[Expr, float]) -> float:
    """The value that straightforward code computes; nan and inf are values."""
    if e in point:
        return point[e]
    if e.is_Number or e.is_NumberSymbol:
        return _rounded(evaluate(e, {}))
    args = [in_double(a, point) for a in e.args]
    if any(math.isnan(a) for a in args):
        return math.nan
    if e.is_Add:
        return sum(args)
    if e.is_Mul:
        return _product(e, args)
    if e.is_Pow:
        return _power(*args)
    return _function(type(e).__name__, args, e)


def _product(e: Expr, args: list[float]) -> float:
    """Divisors last, as a fraction is written."""
    value = 1.0
    for a, factor in zip(e.args, args, strict=True):
        if not (a.is_Pow and a.exp.could_extract_minus_sign()):
            value *= factor
    for a, factor in zip(e.args, args, strict=True):
        if a.is_Pow and a.exp.could_extract_minus_sign():
            value *= factor
    return value


def _power(base: float, power: float) -> float:
    try:
        return float(base**power) if not isinstance(base**power, complex) else math.nan
    except OverflowError:
        return math.inf
    except ZeroDivisionError:
        return math.inf


def _function(name: str, args: list[float], e: Expr) -> float:
    function = FUNCTIONS.get(name)
    if function is None or any(math.isinf(a) for a in args):
        return _at_infinity(name, args)
    with mpmath.workdps(25):
        try:
            value = function(*[mpmath.mpf(a) for a in args])
        except (ZeroDivisionError, OverflowError, ValueError, Undefined):
            return math.nan
        if isinstance(value, mpmath.mpc):
            return math.nan
        return _rounded(value)


def _at_infinity(name: str, args: list[float]) -> float:
    limits = {
        "exp": (0.0, math.inf), "log": (math.nan, math.inf), "sqrt": (math.nan, math.inf),
        "tanh": (-1.0, 1.0), "cosh": (math.inf, math.inf), "sinh": (-math.inf, math.inf),
        "Abs": (math.inf, math.inf), "loggamma": (math.nan, math.inf),
        "gamma": (math.nan, math.inf), "atan": (-math.pi / 2, math.pi / 2),
    }  # fmt: skip
    if name not in limits or len(args) != 1 or not math.isinf(args[0]):
        return math.nan
    return limits[name][args[0] > 0]


def _rounded(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, float(mpmath.sign(value)))
