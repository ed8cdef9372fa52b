"""The value of an expression at a point: exact fractions, or 60 digits.

A vector is a list of rows of one entry, a matrix a list of rows; a number added
to a matrix is that multiple of the identity.  None stands for what is not real.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

Expr = Any
Value = Any  # Fraction, mpf or None; or a list of rows of them

DIGITS = 60
LARGEST = 10**6  # argument of a function, or exponent
SMALL = 200  # whole numbers that special functions get as such


class Inexact(Exception):
    """A value is not rational: compute with digits instead."""


class TooLarge(Exception):
    """A value grows beyond what can be compared."""


def number(value: Any, exact: bool) -> Any:
    """A Python or SymPy number as a fraction, or with 60 digits."""
    if isinstance(value, (int, Fraction)):
        fraction: Fraction | None = Fraction(value)
    else:
        fraction = Fraction(int(value.p), int(value.q)) if value.is_Rational else None
    if exact:
        if fraction is None:
            raise Inexact
        return fraction
    import mpmath

    with mpmath.workdps(DIGITS):
        if fraction is not None:
            return mpmath.mpf(fraction.numerator) / fraction.denominator
        return _real(value)


def _real(value: Expr) -> Any:
    """A SymPy number with 60 digits; None when it is complex or undefined."""
    import mpmath
    import sympy as sp

    digits = sp.N(value, DIGITS)
    if not digits.is_Float:
        if digits.is_Rational:
            return number(digits, False)
        return None
    with mpmath.workdps(DIGITS):
        return mpmath.mpf(digits._mpf_)


def evaluate(expr: Expr, env: dict[Expr, Value], size: int, *, exact: bool) -> Value:
    """The value of an expression of the algebra; `Inexact` when it is not rational."""
    import mpmath

    with mpmath.workdps(DIGITS):
        return _evaluate(expr, env, size, exact)


def _evaluate(expr: Expr, env: dict[Expr, Value], size: int, exact: bool) -> Value:
    import mpmath

    from blrgen.algebra.ranks import DIM, T, logdet, trace

    if expr == DIM or (expr.is_Symbol and expr.is_integer and expr not in env):
        return number(size, exact)
    if expr.is_Symbol:
        return _converted(env[expr], exact)
    if expr.is_number and expr.is_commutative:
        return number(expr, exact)
    args = [_evaluate(a, env, size, exact) for a in expr.args]
    if any(a is None for a in args):
        return None
    if expr.is_Add:
        return _sum(args)
    if expr.is_Mul:
        result = args[0]
        for a in args[1:]:
            result = _product(result, a)
        return result
    if expr.is_Pow and isinstance(args[0], list):
        return _matrix_power(args[0], int(expr.exp))
    if isinstance(expr, T):
        return [list(row) for row in zip(*args[0], strict=True)]
    if isinstance(expr, trace):
        inner = args[0]
        return sum(inner[i][i] for i in range(len(inner))) if isinstance(inner, list) else inner
    if isinstance(expr, logdet):
        if exact:
            raise Inexact
        determinant = _inverse(args[0])[1]
        return mpmath.log(determinant) if determinant > 0 else None
    return _call(expr, args, exact)


def _converted(value: Value, exact: bool) -> Value:
    if isinstance(value, list):
        return [[number(e, exact) for e in row] for row in value]
    return number(value, exact)


def _call(expr: Expr, args: list[Any], exact: bool) -> Any:
    """A power or function of numbers, by SymPy."""
    import sympy as sp

    if expr.is_Pow and isinstance(args[0], Fraction) and expr.exp.is_Integer:
        if args[0] == 0 and expr.exp < 0:
            return None
        return args[0] ** int(expr.exp)
    grows = not isinstance(expr, (sp.log, sp.Abs))
    if grows and any(abs(a) > LARGEST for a in (args[1:] if expr.is_Pow else args)):
        raise TooLarge
    if exact:
        if any(abs(a) > SMALL for a in args):
            raise Inexact
        given = [sp.Rational(a.numerator, a.denominator) for a in args]
    else:
        given = [sp.Float(a, DIGITS) for a in args]
        if expr.is_Pow and expr.exp.is_Rational:
            given[1] = expr.exp
        elif not expr.is_Pow:
            given = [sp.Integer(int(a)) if abs(a) <= SMALL and a == int(a) else a for a in given]
    value = expr.func(*given)
    return number(value, exact) if value.is_Rational else _inexact(value, exact)


def _inexact(value: Expr, exact: bool) -> Any:
    import sympy as sp

    if value in (sp.zoo, sp.nan, sp.oo, -sp.oo):
        return None
    if exact:
        raise Inexact
    return _real(value)


def _sum(args: list[Value]) -> Value:
    matrices = [a for a in args if isinstance(a, list)]
    if not matrices:
        return sum(args[1:], start=args[0])
    total = [[0 * e for e in row] for row in matrices[0]]
    for a in args:
        for i, row in enumerate(total):
            for j in range(len(row)):
                row[j] += a[i][j] if isinstance(a, list) else (a if i == j else 0)
    return total


def _product(a: Value, b: Value) -> Value:
    if not isinstance(a, list):
        return [[a * e for e in row] for row in b] if isinstance(b, list) else a * b
    if not isinstance(b, list):
        return [[e * b for e in row] for row in a]
    across = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in across] for r in a]


def _matrix_power(a: Value, power: int) -> Value:
    base = a if power > 0 else _inverse(a)[0]
    result = base
    for _ in range(abs(power) - 1):
        result = _product(result, base)
    return result


def _inverse(a: Value) -> tuple[Value, Any]:
    """The inverse and the determinant, by elimination; rows of None when it is singular."""
    n = len(a)
    zero = 0 * a[0][0]
    rows = [[*r, *((i == j) + zero for j in range(n))] for i, r in enumerate(a)]
    determinant = 1 + 0 * a[0][0]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if rows[pivot][k] == 0:
            return [[None] * n] * n, 0 * determinant
        if pivot != k:
            rows[k], rows[pivot], determinant = rows[pivot], rows[k], -determinant
        determinant *= rows[k][k]
        head = rows[k][k]
        rows[k] = [e / head for e in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows], determinant
