"""An exponent as a sum of coefficients times functions of the variable, logarithms opened.

log(a b^k) = log|a| + k log|b|        log(x − x²) = log x + log(1 − x)
log binomial(n, k), log k!, log cosh x in log Γ and exponentials
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

Expr = Any
Sign = Callable[[Expr], int | None]
_FACTORED = 80  # operations up to which a sum under a logarithm is factored


def open_logs(e: Expr, sign: Sign) -> Expr:
    """Every logarithm of a product as a sum; every part real where the density is positive."""
    e = sp.sympify(e)
    if not e.args or not e.has(sp.Function, sp.Pow):
        return e
    args = [open_logs(a, sign) for a in e.args]
    if isinstance(e, sp.log):
        return _log(args[0], sign)
    if isinstance(e, sp.Abs):
        return _absolute(args[0], sign)
    if isinstance(e, sp.beta):
        return sp.gamma(args[0]) * sp.gamma(args[1]) / sp.gamma(args[0] + args[1])
    if isinstance(e, sp.tanh):
        return 1 - 2 / (1 + sp.exp(2 * args[0]))
    return e.func(*args)


def _absolute(a: Expr, sign: Sign) -> Expr:
    side = sign(a)
    return a * side if side is not None else sp.Abs(a)


def _log(inside: Expr, sign: Sign) -> Expr:
    """log|inside|, opened."""
    if inside.is_Mul:
        return sp.Add(*[_log(a, sign) for a in inside.args])
    if inside.is_Pow and inside.base is not sp.E:
        return sp.expand(inside.exp * _log(inside.base, sign))
    if isinstance(inside, sp.exp):
        return inside.args[0]
    if isinstance(inside, sp.Abs):
        return _log(inside.args[0], sign)
    special = _special(inside, sign)
    if special is not None:
        return special
    if inside.is_Add:
        return _log_of_sum(inside, sign)
    return sp.log(_absolute(inside, sign))


def _special(f: Expr, sign: Sign) -> Expr | None:
    """log Γ for what is made of gamma functions; log(1 + e²ˣ) − x − log 2 for log cosh x."""
    if isinstance(f, sp.gamma):
        return sp.loggamma(f.args[0])
    if isinstance(f, sp.factorial):
        return sp.loggamma(f.args[0] + 1)
    if isinstance(f, sp.binomial):
        n, k = f.args
        return sp.loggamma(n + 1) - sp.loggamma(k + 1) - sp.loggamma(n - k + 1)
    if isinstance(f, sp.cosh):
        a = f.args[0]
        return _log(1 + sp.exp(2 * a), sign) - a - sp.log(2)
    if isinstance(f, sp.sinh):
        a = f.args[0]
        return _log(1 - sp.exp(-2 * a), sign) + a - sp.log(2)
    return None


def _log_of_sum(inside: Expr, sign: Sign) -> Expr:
    factored = sp.factor_terms(inside)
    if sp.count_ops(inside) <= _FACTORED and inside.is_rational_function(*inside.free_symbols):
        factored = sp.factor(sp.together(inside))
    if factored.is_Mul or factored.is_Pow:
        parts = [_log(a, sign) if not a.is_Add else _bare(a, sign)
                 for a in sp.Mul.make_args(factored)]  # fmt: skip
        return sp.Add(*parts)
    return _bare(inside, sign)


def _bare(a: Expr, sign: Sign) -> Expr:
    return sp.log(_absolute(sp.expand(a), sign))


def split(e: Expr, x: Expr) -> dict[Expr, Expr]:
    """{f(x): coefficient}; what is free of x stands under 1."""
    found: dict[Expr, Expr] = {}
    for term in sp.Add.make_args(sp.expand(e)):
        free, dependent = term.as_independent(x, as_Add=False)
        found[dependent] = found.get(dependent, sp.S.Zero) + free
    return {f: c for f, c in found.items() if sp.expand(c) != 0}


def affine(e: Expr, x: Expr) -> tuple[Expr, Expr] | None:
    """(a, b) with e = a + b x."""
    e = sp.expand(e)
    if not e.is_polynomial(x) or sp.degree(e, x) > 1:
        return None
    b = e.coeff(x, 1)
    return e.coeff(x, 0), b


def power_of(f: Expr, x: Expr) -> Expr | None:
    """p where f = xᵖ with p free of x."""
    if f == x:
        return sp.S.One
    if f.is_Pow and f.base == x and not f.exp.has(x):
        return f.exp
    return None
