"""SymPy's scalar functions behind the atoms: a SymPy expression of arguments, put in here.

What has no rule of its own in `calculus` has one in SymPy, or in the classes that are
declared beside it; a derivative is taken there and read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from blrgen.algebra.indexed.build import add, multiplied, number
from blrgen.algebra.indexed.functions import applied, exp, pi, raised
from blrgen.algebra.indexed.values import ONE, Expression

Expr = Any
_NAMES = {"loggamma": "lgamma"}


def from_sympy(e: Expr, values: Mapping[str, Expression]) -> Expression:
    """The expression with its symbols replaced."""
    import sympy as sp

    if e.is_Rational:
        return number(Fraction(int(e.p), int(e.q)))
    if e is sp.pi:
        return pi()
    if e is sp.E:
        return exp(ONE)
    if e.is_Symbol:
        return values[e.name]
    args = [from_sympy(a, values) for a in e.args]
    if e.is_Add:
        return add(*args)
    if e.is_Mul:
        return multiplied(*args)
    if e.is_Pow:
        return raised(*args)
    name = type(e).__name__.lower()
    return applied(_NAMES.get(name, name), *args)


def slope_of(name: str, arguments: tuple[Expression, ...], k: int) -> Expression | None:
    """The derivative of a function by its k-th argument, from its class; None without one."""
    import sympy as sp
    from sympy.core.function import ArgumentIndexError

    cls = _class(name)
    if cls is None:
        return None
    letters = [sp.Symbol(f"x{j}", real=True) for j in range(len(arguments))]
    made = cls(*letters)
    if not made.has(*letters) or type(made) is not cls:
        return None
    try:
        slope = made.fdiff(k + 1)
    except (ArgumentIndexError, NotImplementedError):
        return None
    if slope.has(sp.Derivative, sp.Subs):
        return None
    return from_sympy(slope, {x.name: a for x, a in zip(letters, arguments, strict=True)})


def _class(name: str) -> Any:
    """The SymPy class behind a function's name."""
    import sympy as sp

    from blrgen.algebra import bessel, multigamma, named, special

    for module in (bessel, special, multigamma, named, sp):
        found = getattr(module, name, None)
        if isinstance(found, type) and issubclass(found, sp.Function):
            return found
    return None
