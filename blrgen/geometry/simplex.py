"""Working parameters on the simplex: p with Σ p = 1 from the natural parameters, K − 1 of them.

The family says η = f(head(p), p_K), component by component.  Solved for head(p) this leaves
p_K, which the sum gives: p_K + Σ head(p) = 1.  Both are found here, and put back into f.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.components import Head, Last, head, total
from blrgen.algebra.invert import solve_component, solve_scalar
from blrgen.core import Family
from blrgen.errors import InternalError, UserError

Expr = Any


def of_natural(family: Family) -> tuple[tuple[Expr, Expr], ...]:
    """(head(p), its value) and (last(p), its value) by natural parameters; () without a simplex."""
    if not family.simplex:
        return ()
    (declared,), (chart,) = family.simplex, family.natural_of_simplex
    eta = family.natural[0].symbol
    front = head(declared.symbol)
    end = next((x for x in chart.atoms(sp.Symbol) if isinstance(x, Last)), None)
    if end is None or not chart.has(front):
        raise _refused(family, f"{chart} does not tell all {declared.symbol.size} numbers apart")
    try:
        by_end = solve_component(eta - chart, front)
        value = solve_scalar(end + total(by_end, front.size) - 1, end)
    except InternalError as error:
        raise _refused(family, str(error)) from error
    found = ((front, by_end.xreplace({end: value})), (end, value))
    gap = sp.expand(sp.expand_log(chart.xreplace(dict(found)))) - eta
    if sp.cancel(gap) != 0:
        raise _refused(family, f"put back it gives {eta} + {sp.cancel(gap)}")
    return found


def spelled(e: Expr) -> str:
    """The formula as a family file writes it, with head(p) and last(p)."""
    return str(e.xreplace({x: sp.Symbol(f"head({x.name})") for x in e.atoms(Head)}))


def _refused(family: Family, why: str) -> UserError:
    name = family.simplex[0].name
    return UserError(
        f"{name} of {family.name!r} cannot be found from the natural parameters",
        where=family.path, why=why, how=f'write working = "log(head({name})/last({name}))"',
    )  # fmt: skip
