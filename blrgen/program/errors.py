"""erf and erfc in the forms that keep their digits.

1 + erf(u) → erfc(−u)      log erfc(u) → log_erfc(u)
exp(−u²)/erfc(±u) → 1/erfcx(±u),   erfcx(u) = exp(u²) erfc(u)
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.named import erfcx, log_erfc

Expr = Any


def error_forms(x: Expr) -> Expr:
    """An expression with erf where it is near ±1 written through erfc, erfcx and log erfc."""
    if not x.has(sp.erf, sp.erfc):
        return x
    if x.args:
        args = [error_forms(a) for a in x.args]
        x = x.func(*args) if args != list(x.args) else x
    if x.is_Add:
        return _complements(x)
    if isinstance(x, sp.log):
        return sp.expand_log(x, force=True).replace(
            lambda e: isinstance(e, sp.log) and isinstance(e.args[0], sp.erfc),
            lambda e: log_erfc(e.args[0].args[0]),
        )
    return _scaled(x) if x.is_Mul else x


def _complements(x: Expr) -> Expr:
    """C ± C erf(u) = C erfc(∓u)."""
    for f in sorted(x.atoms(sp.erf), key=sp.default_sort_key):
        parts = sp.collect(sp.expand(x), f, evaluate=False)
        c, rest = parts.get(f), parts.get(sp.S.One, sp.S.Zero)
        if c is None or set(parts) - {f, sp.S.One}:
            continue
        for term in sp.Add.make_args(rest):
            for sign in (1, -1):
                if sp.expand(term - sign * c) == 0:
                    other = sp.Add(*[a for a in sp.Add.make_args(rest) if a is not term])
                    return error_forms(other + term * sp.erfc(-sign * f.args[0]))
    return x


def _scaled(x: Expr) -> Expr:
    """exp(−k u²)/erfc(u)ᵏ without the exponential."""
    for f in x.args:
        if f.is_Pow and isinstance(f.base, sp.erfc) and f.exp.is_Integer and f.exp < 0:
            u = f.base.args[0]
            powers = [a.args[0] for a in x.args if isinstance(a, sp.exp)]
            left = sp.expand(sp.Add(*powers) - f.exp * u**2)
            if powers and sp.count_ops(left) < sp.count_ops(sp.Add(*powers)):
                others = [a for a in x.args if a != f and not isinstance(a, sp.exp)]
                return sp.Mul(*others, erfcx(u) ** f.exp, sp.exp(left))
    return x
