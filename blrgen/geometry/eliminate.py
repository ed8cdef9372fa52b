"""μ(λ) = μ down to one equation: all parameters but one in closed form, given that one.

The equations μ_i(ψ) = μ_i are solved one unknown at a time while a scalar parameter s is
held; what is left is one equation in s.  Its other side is monotone in s: the points that
meet all equations but the k-th are a curve on which μ_k increases or decreases (mean and
natural parameters together are coordinates, and the mean domain is convex), and s names
each of them once.  So the equation has one solution or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.algebra.partial import NoDerivative, partial
from blrgen.algebra.ring import Ring
from blrgen.algebra.solve import isolate
from blrgen.core import Parameter
from blrgen.errors import InternalError

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
_LARGE = 600  # operations of an equation that is still looked at


@dataclass(frozen=True)
class Elimination:
    """ψ_j = steps[j](s, the ones before, μ), and which mean parameter is left to be met."""

    held: Parameter  # s
    steps: tuple[tuple[Parameter, Expr], ...]
    left: int
    working: bool  # whether ψ are the working parameters, or the natural ones


def elimination(geometry: Geometry) -> Elimination | None:
    """The first scalar that, when it is held, lets all others be solved for; or None."""
    from blrgen.algebra.nodes import has_nodes
    from blrgen.geometry.inverse import mean_symbols

    family = geometry.family
    if geometry.ring.components or family.factors:
        return None
    if any(has_nodes(m) for m in geometry.mean):
        return None
    symbols = mean_symbols(geometry)
    charts = [(geometry.mean, family.natural, False)]
    if family.working and len(family.natural) > 1:
        charts.insert(0, (geometry.mean_in_working, family.working, True))
    for means, parameters, working in charts:
        if any(sp.count_ops(m) > _LARGE for m in means):
            continue
        equations = [m - mu for m, mu in zip(means, symbols, strict=True)]
        for held in parameters:
            if held.symbol.is_commutative and not held.domain.whole:
                found = _without(equations, parameters, held, geometry.ring)
                if found is not None:
                    return Elimination(held, found[0], found[1], working)
    return None


def _without(
    equations: list[Expr], parameters: tuple[Parameter, ...], held: Parameter, ring: Ring
) -> tuple[tuple[tuple[Parameter, Expr], ...], int] | None:
    """The steps with `held` known, and the equation that none of them used; a scalar one."""
    left = dict(enumerate(equations))
    wanted = [p for p in parameters if p is not held]
    steps: list[tuple[Parameter, Expr]] = []
    while wanted:
        found = _next(left, wanted, ring)
        if found is None:
            return None
        k, p, value = found
        steps.append((p, value))
        wanted.remove(p)
        del left[k]
    ((last, equation),) = left.items()
    return (tuple(steps), last) if equation.is_commutative else None


def _next(
    left: dict[int, Expr], wanted: list[Parameter], ring: Ring
) -> tuple[int, Parameter, Expr] | None:
    """An equation with one unknown and its solution; by arithmetic alone where that goes."""
    for functions in (False, True):
        for k, e in left.items():
            unknown = [p for p in wanted if e.has(p.symbol)]
            if len(unknown) == 1:
                value = solved(e, unknown[0].symbol, ring, functions)
                if value is not None:
                    return k, unknown[0], value
    return None


def solved(equation: Expr, x: Expr, ring: Ring, functions: bool = True) -> Expr | None:
    """x from equation = 0 where it stands alone: linearly, in 1/x, or in one function."""
    try:
        if not x.is_commutative:
            if equation.has(x**-1):
                y = ring.symbol_like(x, f"inv_{x.name}")
                return isolate(ring.tidy(equation.xreplace({x**-1: y})), y) ** -1
            return isolate(ring.tidy(equation), x)
        return _scalar(equation, x, functions)
    except (InternalError, NoDerivative, NotImplementedError):
        return None


def _scalar(equation: Expr, x: Expr, functions: bool) -> Expr | None:
    from blrgen.geometry.charts import _undo_function

    if not equation.is_commutative:
        return None
    # what is made of matrices stands aside, as letters
    held = sorted((f for f in equation.atoms(sp.Function) if not f.has(x)), key=str)
    letters = {f: sp.Dummy(f"f{i}", real=True) for i, f in enumerate(held)}
    back = {letter: f for f, letter in letters.items()}
    plain = equation.xreplace(letters)
    if any(not s.is_commutative for s in plain.free_symbols):
        return None
    numerator = sp.expand(sp.fraction(sp.together(plain))[0])
    if partial(numerator, x, 2) == 0:
        return isolate(numerator, x).xreplace(back)
    found = _undo_function(numerator, x) if functions else None
    return None if found is None else found.xreplace(back)
