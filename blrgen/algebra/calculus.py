"""Differentials and gradients of scalars, vectors and matrices.

SymPy's own matrix derivatives are not used.  The rules, for a non-commuting X:

    d(A B) = dA B + A dB        d(X⁻¹) = −X⁻¹ dX X⁻¹      d(Xᵀ) = (dX)ᵀ
    d tr(A) = tr(dA)            d log|X| = tr(X⁻¹ dX)

and the one convention: ∇f is the G with df = tr(Gᵀ dX); where X is symmetric, G is
the symmetric such G.  Anything not listed raises.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.components import has_components, slope
from blrgen.algebra.partial import corner_slopes, partial
from blrgen.algebra.ranks import Ranked, SymMat, T, like, logdet, trace
from blrgen.algebra.width import width
from blrgen.algebra.words import normal, split
from blrgen.errors import InternalError, UserError

Expr = Any
_WIDEST = 5000  # terms of a differential, multiplied out
_LARGEST = 10_000  # parts of it


def increment(x: Expr) -> Expr:
    """dx: a symbol of the same rank as x."""
    if isinstance(x, Ranked):
        return like(x, f"d_{x.name}")
    raise InternalError(f"no differential with respect to {x}")


def differential(f: Expr, x: Expr, dx: Expr) -> Expr:
    """df, linear in dx, for f of any rank and a non-commuting symbol x."""
    if not f.has(x):
        return sp.S.Zero
    if f == x:
        return dx
    if f.is_Add:
        return sp.Add(*[differential(a, x, dx) for a in f.args])
    if f.is_Mul:
        return _product_rule(f.args, x, dx)
    if f.is_Pow:
        return _power_rule(f, x, dx)
    if isinstance(f, T):
        return T(differential(f.args[0], x, dx))
    if isinstance(f, trace):
        return trace(normal(differential(f.args[0], x, dx)), *f.args[1:])
    if isinstance(f, logdet):
        return trace(normal(f.args[0] ** -1 * differential(f.args[0], x, dx)), *f.args[1:])
    if f.is_commutative and f.is_Function:
        inner = [differential(a, x, dx) for a in f.args]
        corners = corner_slopes(f)
        return sp.Add(*[
            (f.fdiff(i + 1) if corners is None else corners[i]) * da
            for i, da in enumerate(inner) if da != 0
        ])  # fmt: skip
    raise InternalError(f"no differential rule for {type(f).__name__} in {f}")


def _product_rule(factors: tuple[Expr, ...], x: Expr, dx: Expr) -> Expr:
    total = []
    for i, factor in enumerate(factors):
        if factor.has(x):
            total.append(
                sp.Mul(*factors[:i]) * differential(factor, x, dx) * sp.Mul(*factors[i + 1 :])
            )
    return sp.Add(*total)


def _power_rule(f: Expr, x: Expr, dx: Expr) -> Expr:
    base, exponent = f.args
    db = differential(base, x, dx)
    if f.is_commutative:
        return exponent * base ** (exponent - 1) * db
    if not exponent.is_Integer:
        raise InternalError(f"no differential of a non-integer matrix power: {f}")
    if exponent < 0:
        inverse = base**-1
        step = -inverse * db * inverse
        return step if exponent == -1 else _product_rule((inverse,) * int(-exponent), x, dx)
    return _product_rule((base,) * int(exponent), x, dx)


def gradient(f: Expr, x: Expr) -> Expr:
    """∇_x f of a scalar f, in the convention above; plain ∂f/∂x for a commuting x."""
    if x.is_commutative:
        return slope(f, x) if has_components(f) else partial(f, x)
    dx = increment(x)
    total = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(_bounded(differential(f, x, dx)))):
        total += _coefficient_of(term, dx)
    total = normal(total)
    if isinstance(x, SymMat):
        total = normal((total + T(total)) / 2)
    return total


def _bounded(x: Expr) -> Expr:
    """The differential, refused where multiplying it out would not end."""
    parts = zip(range(_LARGEST + 1), sp.preorder_traversal(x), strict=False)
    if width(x) > _WIDEST or sum(1 for _ in parts) > _LARGEST:
        raise UserError(
            "the derivative of the formula is too large",
            why=f"it can have more than {_WIDEST} terms multiplied out, or {_LARGEST} parts",
            how="fewer functions inside each other",
        )
    return x


def _coefficient_of(term: Expr, dx: Expr) -> Expr:
    """G of a term c·tr(… dx …) = tr(Gᵀ dx)."""
    if term == 0:
        return sp.S.Zero
    holders = [a for a in sp.Mul.make_args(term) if a.has(dx)]
    if len(holders) != 1 or not isinstance(holders[0], trace):
        raise InternalError(f"{term} is not linear in {dx}")
    rest = term / holders[0]
    coefficient, word = split(holders[0].args[0])
    for i, a in enumerate(word):
        before, after = sp.Mul(*word[:i]), sp.Mul(*word[i + 1 :])
        if a == dx:
            return rest * coefficient * T(after * before)
        if isinstance(a, T) and a.args[0] == dx:
            return rest * coefficient * after * before
    raise InternalError(f"{dx} is hidden inside {term}")


def jacobian(v: Expr, x: Expr) -> Expr:
    """M with dv = M dx, for a vector v and a vector x (∂v/∂x for commuting ones)."""
    if x.is_commutative:
        return partial(v, x)
    dx = increment(x)
    total = sp.S.Zero
    for term in sp.Add.make_args(normal(_bounded(differential(v, x, dx)))):
        if term == 0:
            continue
        coefficient, word = split(term)
        scalars = coefficient
        if coefficient.has(dx):  # w (gᵀdx) = w gᵀ dx
            total += sp.Mul(*word) * T(_coefficient_of(coefficient, dx))
            continue
        if word and word[-1] == dx:
            total += scalars * sp.Mul(*word[:-1])
            continue
        places = [i for i, a in enumerate(word) if isinstance(a, T) and a.args[0] == dx]
        if len(places) != 1:
            raise InternalError(f"{term} is not linear in {dx}")
        # a (dxᵀ b) = a bᵀ dx
        i = places[0]
        total += scalars * sp.Mul(*word[:i]) * T(sp.Mul(*word[i + 1 :]))
    return normal(total)
