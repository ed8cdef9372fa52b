"""Solving for a vector that also stands in sums: μ = f(η, Σ g(η)) for η.

The sums are taken as numbers t; the equation is solved component by component, and what
it gives is put into t = Σ g(η), which leaves equations in the numbers t.  So

    μ = e^η/(1 + t),  t = Σ e^η   ⇒   η = log μ(1 + t),  t = (1 + t) Σ μ   ⇒   η = log μ/(1 − Σ μ).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.components import Component, outer_totals, varies
from blrgen.algebra.partial import partial
from blrgen.algebra.solve import isolate
from blrgen.algebra.woodbury import lowest
from blrgen.errors import InternalError

Expr = Any


def solve_component(equation: Expr, x: Expr) -> Expr:
    """x from equation = 0, a number or a vector; `InternalError` where it is not solved."""
    table = {t: sp.Dummy(f"t{i}", real=True) for i, t in enumerate(outer_totals(equation))}
    inside = {v: k for k, v in table.items() if k.has(x)}
    known = {v: k for k, v in table.items() if not k.has(x)}
    flat = equation.xreplace(table)
    if isinstance(x, Component) and not varies(flat):
        raise InternalError(f"{equation} is one equation for the vector {x}")
    if not isinstance(x, Component) and (varies(flat) or inside):
        raise InternalError(f"{x} is a number in equations of vectors")
    value = solve_scalar(flat, x).xreplace(known)
    left = [(t, t - k.xreplace({x: value})) for t, k in inside.items()]
    while left:
        t, e = next(
            ((t, e) for t, e in left if not any(e.has(u) for u, _ in left if u != t)), (None, None)
        )
        if t is None:
            raise InternalError(f"the sums over {x} do not separate")
        found = solve_scalar(sp.expand(e), t)
        value = value.xreplace({t: found})
        left = [(u, g.xreplace({t: found})) for u, g in left if u != t]
    return _tidy(value)


def solve_scalar(equation: Expr, x: Expr) -> Expr:
    """x from an equation linear in it, in 1/x, or in an invertible function of a linear term."""
    numerator = sp.expand(sp.fraction(sp.together(equation))[0])
    if partial(numerator, x, 2) == 0:
        return isolate(numerator, x)
    held = [f for f in sorted(equation.atoms(sp.Function), key=str) if f.has(x)]
    if len(held) != 1 or len(held[0].args) != 1 or not hasattr(held[0], "inverse"):
        raise InternalError(f"{equation} = 0 was not solved for {x} in closed form")
    letter = sp.Dummy("held", real=True)
    level = equation.xreplace({held[0]: letter})
    if level.has(x) or partial(level, letter, 2) != 0:
        raise InternalError(f"{equation} = 0 was not solved for {x} in closed form")
    value = held[0].inverse()(isolate(level, letter))
    return value if held[0].args[0] == x else solve_scalar(held[0].args[0] - value, x)


def _tidy(value: Expr) -> Expr:
    """Quotients in lowest terms, inside of functions too."""
    value = _signed(value)
    return value.xreplace({f: f.func(*map(_signed, f.args)) for f in value.atoms(sp.log, sp.exp)})


def _signed(x: Expr) -> Expr:
    """a/(1 − b) and not −a/(b − 1)."""
    over, under = sp.fraction(lowest(x))
    if under != 1 and over.could_extract_minus_sign():
        over, under = -over, -under
    return over / under
