"""The larger and the smaller of two, without SymPy's search for which one it is.

SymPy's Max and Min factor all their arguments whenever they are built, which costs
more than the whole proof; these stay as they are written.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

Expr = Any


class Larger(sp.Function):  # type: ignore[misc]
    """max(a, b)."""

    nargs = 2
    is_real = True

    def _sympystr(self, printer: Any) -> str:
        return f"max({', '.join(map(printer._print, self.args))})"


class Smaller(sp.Function):  # type: ignore[misc]
    """min(a, b)."""

    nargs = 2
    is_real = True

    def _sympystr(self, printer: Any) -> str:
        return f"min({', '.join(map(printer._print, self.args))})"


def plain(e: Expr) -> Expr:
    """An expression with SymPy's Max and Min replaced."""
    if not e.has(sp.Max, sp.Min):
        return e
    args = [plain(a) for a in e.args]
    if isinstance(e, sp.Max | sp.Min):
        two = Larger if isinstance(e, sp.Max) else Smaller
        out, *rest = sorted(args, key=sp.default_sort_key)
        for a in rest:
            out = two(out, a)
        return out
    return e.func(*args)


def spoken(e: Expr) -> Expr:
    """The way back, for reading: SymPy's Max and Min again."""
    return e.replace(Larger, sp.Max).replace(Smaller, sp.Min)


def outward(e: Expr) -> Expr:
    """max(f x, f y) as f max(x, y) for factors f > 0 that both arguments show, from inside out."""
    if not e.has(Larger, Smaller):
        return e
    args = [outward(a) for a in e.args]
    if not isinstance(e, Larger | Smaller):
        return e.func(*args)
    split = [set(sp.Mul.make_args(sp.factor_terms(a))) for a in args]
    shared = [f for f in set.intersection(*split) if f.is_positive]
    if not shared:
        return e.func(*args)
    rest = [sp.Mul(*(s - set(shared))) for s in split]
    return sp.Mul(*shared, e.func(*rest))
