"""log Γ and log B without what cancels: log Γ(a + 1) − log Γ(a) = log a."""

from __future__ import annotations

from typing import Any

import sympy as sp

Expr = Any
_FAR = 4  # steps between two arguments that are still written as logarithms


def log_gamma(a: Expr) -> Expr:
    """log Γ(a)."""
    return sp.loggamma(sp.cancel(a) if sp.sympify(a).has(sp.Pow) else sp.expand(a))


def log_beta(a: Expr, b: Expr) -> Expr:
    """log B(a, b)."""
    return close(log_gamma(a) + log_gamma(b) - log_gamma(a + b))


def close(e: Expr) -> Expr:
    """A sum in which log Γ(a + k) − log Γ(a) with a small k is a sum of logarithms."""
    plus: list[Expr] = []
    minus: list[Expr] = []
    rest: list[Expr] = []
    for term in sp.Add.make_args(e):
        coefficient, f = term.as_coeff_Mul()
        if isinstance(f, sp.loggamma) and coefficient in (1, -1):
            (plus if coefficient == 1 else minus).append(f.args[0])
        else:
            rest.append(term)
    for a in list(plus):
        for b in list(minus):
            steps = sp.expand(a - b)
            if steps.is_Integer and abs(steps) <= _FAR:
                plus.remove(a)
                minus.remove(b)
                rest.append(_ratio(a, b, int(steps)))
                break
    return sp.Add(*rest, *map(sp.loggamma, plus), *[-sp.loggamma(b) for b in minus])


def _ratio(a: Expr, b: Expr, steps: int) -> Expr:
    if steps >= 0:
        return sp.Add(*[sp.log(sp.expand(b + i)) for i in range(steps)])
    return -sp.Add(*[sp.log(sp.expand(a + i)) for i in range(-steps)])
