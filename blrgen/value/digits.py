"""Values of expressions at a point, to so many digits, with an estimate of the error.

The digits of the arithmetic grow until two values agree, so what cancels is seen through.
Where an expression has a removable singularity (0/0 at this very point) its value is
the limit: with x = p ± ε v for a direction v and ε far below the digits asked for,

    ½(f(p + εv) + f(p − εv)) = f(p) + O(ε²)      or, at an end,  2f(p + εv) − f(p + 2εv).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mpmath
import sympy as sp

from blrgen.errors import UserError
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
Value = Any
_GROWTH = (15, 40, 100, 250, 600)  # digits beyond those asked for, one level after the other


def evaluate_at(
    expr: Expr, point: Mapping[Expr, Any], digits: int = 16, moving: tuple[Expr, ...] = ()
) -> tuple[Value, Value]:
    """(value, error) of a scalar expression; `point` has exact numbers for its symbols.

    A limit is taken along the symbols `moving`, all of them when none are named.
    """
    expr = sp.sympify(expr)
    error: Exception | None = None
    for find in (_plain, partial(_limit, moving=moving or tuple(point))):
        try:
            return _until_stable(partial(find, expr, point, digits), digits)
        except Undefined as trouble:
            error = trouble
    shown = ", ".join(f"{k} = {sp.N(sp.sympify(v), 6)}" for k, v in point.items())
    raise UserError(f"there is no number at {shown}", why=str(error))


def _until_stable(value: Callable[[int], Value], digits: int) -> tuple[Value, Value]:
    """More digits until two levels in a row agree to the digits asked for."""
    before: Value | None = None
    tiny = mpmath.mpf(10) ** -digits
    for extra in _GROWTH:
        try:
            found = value(extra)
        except Undefined:
            if extra == _GROWTH[-1] or (before is None and extra >= 250):
                raise
            continue
        if before is not None:
            gap = abs(found - before)
            if gap <= tiny * abs(found):
                with mpmath.workdps(digits + 10):
                    return +found, gap + abs(found) * tiny
        before = found
    if before is not None and abs(before) < mpmath.mpf(10) ** -(digits + _GROWTH[-1] // 2):
        return mpmath.mpf(0), abs(before)  # zero, as far as any number of digits can tell
    raise Undefined("the digits never settle")


def _plain(expr: Expr, point: Mapping[Expr, Any], digits: int, extra: int) -> Value:
    with mpmath.workdps(digits + extra):
        return _real(evaluate(expr, {k: exact(v) for k, v in point.items()}))


def _real(value: Value) -> Value:
    if isinstance(value, mpmath.mpc):
        if abs(value.imag) > abs(value.real) * mpmath.mpf(10) ** -(mpmath.mp.dps // 2):
            raise Undefined("it is not a real number")
        return value.real
    return value


def _limit(
    expr: Expr, point: Mapping[Expr, Any], digits: int, extra: int, moving: tuple[Expr, ...]
) -> Value:
    """The limit at a removable singularity, with ε = 10^−(digits+extra)/2."""
    reach = (digits + extra) // 2 + 2
    with mpmath.workdps(digits + 6 * reach + extra):
        step = mpmath.mpf(10) ** -reach

        def at(times: int) -> Value:
            moved = {
                k: exact(v) + (times * step * (1 + mpmath.mpf(i) / 7) if k in moving else 0)
                for i, (k, v) in enumerate(point.items())
            }
            return _real(evaluate(expr, moved))

        for weights in ({1: 0.5, -1: 0.5}, {1: 2, 2: -1}, {-1: 2, -2: -1}):
            try:
                found = sum(w * at(times) for times, w in weights.items())
            except Undefined:
                continue
            if abs(found) < mpmath.mpf(10) ** (reach // 2):  # a pole grows as 1/ε
                return found
        raise Undefined("it has no finite limit there")


def exact(value: Any) -> Value:
    """A number of a point at mpmath's precision."""
    if isinstance(value, mpmath.mpf | mpmath.mpc):
        return value
    value = sp.sympify(value)
    if value.is_Rational:
        return mpmath.mpf(int(value.p)) / int(value.q)
    return mpmath.mpf(value.evalf(mpmath.mp.dps)._mpf_)
