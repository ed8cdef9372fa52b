"""Sums of exponentials over the components by their logarithm, so that nothing overflows.

exp(a_k)/(1 + Σ exp(a))  →  exp(a_k − L),      L = log(1 + Σ exp(a)).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.components import total, varies

Expr = Any


class log_total(total):
    """log(Σ_k exp(f_k) + exp(c)); without c there is no second term."""

    nargs = (2, 3)  # type: ignore[assignment]

    @classmethod
    def eval(cls, f: Expr, size: Expr, more: Expr | None = None) -> Expr:
        return None

    def derivative(self, x: Expr, once: Any) -> Expr:
        return self.fdiff()


def logs_of_totals(x: Expr) -> Expr:
    """An expression with the logarithms of such sums, quotients as one exponential."""
    x = sp.sympify(x)
    if x.is_commutative is False or not any(_level(t) is not None for t in x.atoms(total)):
        return x
    return _combined(_opened(x))


def _level(t: Expr) -> Expr | None:
    """a of Σ exp(a)."""
    f = t.args[0] if isinstance(t, total) and not isinstance(t, log_total) else None
    return f.args[0] if isinstance(f, sp.exp) else None


def _opened(x: Expr) -> Expr:
    if x.is_Add:
        whole = _sum(x)
        if whole is not None:
            return whole
    level = _level(x)
    if level is not None:
        return sp.exp(log_total(_opened(level), x.args[1]))
    return x.func(*map(_opened, x.args)) if x.args else x


def _sum(x: Expr) -> Expr | None:
    """Σ exp(a) + c with a positive number c, as one exponential."""
    found = [t for t in x.args if _level(t) is not None]
    rest = sp.Add(*[a for a in x.args if a not in found])
    if len(found) != 1 or varies(rest) or not rest.is_positive:
        return None
    return sp.exp(log_total(_opened(_level(found[0])), found[0].args[1], sp.log(rest)))


def _combined(x: Expr) -> Expr:
    """The exponentials of each product as one."""
    if not x.args:
        return x
    x = x.func(*map(_combined, x.args))
    if not x.is_Mul:
        return x
    levels = [p.exp for f in x.args for p in [_as_exp(f)] if p is not None]
    if len(levels) < 2:
        return x
    others = [f for f in x.args if _as_exp(f) is None]
    return sp.Mul(sp.exp(sp.expand(sp.Add(*levels))), *others)


def _as_exp(f: Expr) -> Expr | None:
    """f as a single exponential."""
    if isinstance(f, sp.exp):
        return f
    if f.is_Pow and isinstance(f.base, sp.exp):
        return sp.exp(f.base.exp * f.exp, evaluate=False)
    return None
