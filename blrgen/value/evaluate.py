"""Values of scalar expressions at a point, in arithmetic of any number of digits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import sympy as sp
from mpmath import mp

from blrgen.algebra.binomial import COUNT, binomial_mean
from blrgen.algebra.multigamma import multigammaln, multipolygamma

Expr = Any
Value = Any  # mpf or mpc


class Undefined(Exception):
    """The expression has no finite value at this point."""


_LONGEST = 20_000  # bits of an argument's size
_OF_ANY_SIZE = frozenset({"log", "Abs", "sign", "Max", "Min", "tanh", "atan"})


def evaluate(
    expr: Expr, point: Mapping[Expr, Value], memo: dict[Expr, Value] | None = None
) -> Value:
    """The value of `expr` at `point`, at mpmath's current precision.

    Functions without a definition (an abstract loss) are pseudo-random functions of
    their arguments' values: equal arguments give equal values.
    """
    memo = {} if memo is None else memo
    try:
        value = _value(expr, point, memo)
    except (ZeroDivisionError, OverflowError, ValueError, mpmath.libmp.NoConvergence) as error:
        raise Undefined(str(error)) from error
    if not mpmath.isfinite(value):
        raise Undefined("not finite")
    return _real(value)


def _real(value: Value) -> Value:
    if isinstance(value, mpmath.mpc) and value.imag == 0:
        return value.real
    return value


def _value(e: Expr, point: Mapping[Expr, Value], memo: dict[Expr, Value]) -> Value:
    found = memo.get(e)
    if found is not None:
        return found
    memo[e] = value = _real(_compute(e, point, memo))
    return value


def _compute(e: Expr, point: Mapping[Expr, Value], memo: dict[Expr, Value]) -> Value:
    if e in point:
        return point[e]
    if e.is_Rational:
        return mpmath.mpf(int(e.p)) / int(e.q)
    if e.is_Float or e.is_NumberSymbol:
        return mpmath.mpf(e.evalf(mp.dps)._mpf_)
    if e is sp.I:
        return mpmath.mpc(0, 1)
    if e.is_Symbol:
        raise Undefined(f"no value for {e}")
    if isinstance(e, sp.Piecewise):
        return _piecewise(e, point, memo)
    bound = getattr(e, "bound", 0)  # how many arguments are read with letters of their own
    args = [None] * bound + [_value(a, point, memo) for a in e.args[bound:]]
    if has_value(e):
        return value_of(e, args)
    if e.is_Add:
        return mpmath.fsum(args)
    if e.is_Mul:
        return mpmath.fprod(args)
    if e.is_Pow:
        return _pow(args[0], args[1], e.exp)
    name = type(e).__name__
    function = FUNCTIONS.get(name)
    if name not in _OF_ANY_SIZE:
        _check_size(args)
    return function(*args) if function else _unknown(e, args)


def has_value(e: Expr) -> bool:
    """Whether a function gives its own number: a log-partition without a closed form, say."""
    return hasattr(e, "value_at") or isinstance(e, binomial_mean)


def value_of(e: Expr, args: list[Value]) -> Value:
    """The number of such a function at numeric arguments."""
    if isinstance(e, binomial_mean):
        return _mean_of_count(e.args[0], int(args[1]), args[2])
    return e.value_at(args)


def _mean_of_count(g: Expr, n: int, p: Value) -> Value:
    """Σ_j C(n, j) pʲ (1 − p)ⁿ⁻ʲ g(j)."""
    return mpmath.fsum(
        mpmath.binomial(n, j) * p**j * (1 - p) ** (n - j) * evaluate(g, {COUNT: j})
        for j in map(mpmath.mpf, range(n + 1))
    )


def _pow(base: Value, power: Value, exponent: Expr) -> Value:
    if exponent.is_Integer:
        return base ** int(exponent)
    if exponent == sp.S.Half:
        return mpmath.sqrt(base)
    _check_size([power])
    return mpmath.power(base, power)


def _check_size(args: list[Value]) -> None:
    """Arguments whose exponent is itself so long that a function of them takes all memory."""
    if any(mpmath.isfinite(a) and a != 0 and mpmath.mag(a) > _LONGEST for a in args):
        raise OverflowError("an argument is too large")


def _piecewise(e: Expr, point: Mapping[Expr, Value], memo: dict[Expr, Value]) -> Value:
    for branch, condition in e.args:
        if holds(condition, point, memo):
            return _value(branch, point, memo)
    raise Undefined("no branch applies")


def holds(condition: Expr, point: Mapping[Expr, Value], memo: dict[Expr, Value]) -> bool:
    """Whether a condition is true at the point."""
    if condition in (sp.true, sp.false):
        return bool(condition)
    if isinstance(condition, sp.And):
        return all(holds(a, point, memo) for a in condition.args)
    if isinstance(condition, sp.Or):
        return any(holds(a, point, memo) for a in condition.args)
    if isinstance(condition, sp.Not):
        return not holds(condition.args[0], point, memo)
    if not condition.is_Relational:
        raise Undefined(f"no truth value for {condition}")
    left, right = (_value(a, point, memo) for a in condition.args)
    if condition.rel_op in ("==", "!="):
        return bool((left == right) == (condition.rel_op == "=="))
    if isinstance(left, mpmath.mpc) or isinstance(right, mpmath.mpc):
        raise Undefined("complex numbers have no order")
    comparisons: dict[str, Callable[[], Any]] = {
        ">": lambda: left > right, "<": lambda: left < right,
        ">=": lambda: left >= right, "<=": lambda: left <= right,
    }  # fmt: skip
    return bool(comparisons[condition.rel_op]())


def _unknown(e: Expr, args: list[Value]) -> Value:
    if not isinstance(e, sp.core.function.AppliedUndef):
        numeric = (
            e.func(*[sp.Float(a, mp.dps) for a in args]).evalf(mp.dps) if args else e.evalf(mp.dps)
        )
        if not numeric.is_Float:
            raise Undefined(f"no value for {type(e).__name__}")
        return mpmath.mpf(numeric._mpf_)
    text = str(e.func) + ",".join(mpmath.nstr(a, 25) for a in args)
    digest = hashlib.sha256(text.encode()).digest()
    return mpmath.mpf(int.from_bytes(digest[:16], "big")) / 2**127 - 1


def _ordered(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*args: Value) -> Value:
        if any(isinstance(a, mpmath.mpc) for a in args):
            raise Undefined("complex numbers have no order")
        return function(*args)

    return apply


def _written_out(function: Any) -> Callable[..., Any]:
    """A sum over a size that is a number by now; its first argument may be an order."""

    def value(*args: Value) -> Value:
        names = [sp.Dummy(f"x{i}") for i in range(len(args))]
        table = dict(zip(names, args, strict=True))
        whole = [sp.Integer(int(a)) if a == int(a) else x for x, a in table.items()]
        return evaluate(function(*whole[:-2], names[-2], whole[-1]), table)

    return value


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "multigammaln": _written_out(multigammaln), "multipolygamma": _written_out(multipolygamma),
    "exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "Abs": abs,
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "atan": mpmath.atan,
    "tanh": mpmath.tanh, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "atanh": mpmath.atanh,
    "sign": _ordered(mpmath.sign), "Max": _ordered(max), "Min": _ordered(min), 
    "Larger": _ordered(max), "Smaller": _ordered(min),
    "Heaviside": _ordered(lambda x: (mpmath.sign(x) + 1) / 2),
    "floor": _ordered(mpmath.floor), "erf": mpmath.erf, "erfc": mpmath.erfc,
    "gamma": mpmath.gamma, "loggamma": mpmath.loggamma, "digamma": mpmath.digamma,
    "polygamma": lambda n, x: mpmath.polygamma(int(n), x), "beta": mpmath.beta,
    "factorial": mpmath.factorial, "binomial": mpmath.binomial, "zeta": mpmath.zeta,
    "besseli": mpmath.besseli, "besselk": mpmath.besselk, "LambertW": mpmath.lambertw,
}  # fmt: skip
