"""A quadratic exponent over R^(n,p): the matrix Gaussian integral.

    ∫ exp(tr(LᵀX) − ½ tr(XᵀQXP)) dX = (2π)^{np/2} |Q|^{−p/2} |P|^{−n/2} exp(½ tr(P⁻¹LᵀQ⁻¹L))

with Q ∈ SPD(n), P ∈ SPD(p): the vector Gaussian integral with precision P ⊗ Q.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient
from blrgen.algebra.ranks import T, logdet, trace
from blrgen.algebra.words import normal, split
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem

Expr = Any


def integrate(problem: Problem) -> Integral | None:
    """The integral over a matrix without structure."""
    x, ring = problem.variable, problem.ring
    if problem.support.kind != "matrix" or x.is_commutative:
        return None
    free, linear, squares = sp.S.Zero, sp.S.Zero, list[tuple[Expr, Expr]]()
    for term in sp.Add.make_args(sp.expand(problem.exponent)):
        places = _places(term, x)
        if places == 0:
            free += term
        elif places == 1:
            linear += term
        elif (square := _square(term, x)) is not None:
            squares.append(square)
        else:
            return None
    both = _merged(squares)
    if both is None:
        return None
    q, p = _positive(both[0], both[1], problem)
    slope = sp.S.Zero if linear == 0 else ring.tidy(gradient(linear, x))
    n, columns = x.shape
    bend = 0 if slope == 0 else trace(normal(p**-1 * T(slope) * q**-1 * slope), columns) / 2
    value = (
        free
        + bend
        - columns * logdet(q, n) / 2
        - n * logdet(p, columns) / 2
        + n * columns * sp.log(2 * sp.pi) / 2
    )
    return Integral(
        sp.expand(value),
        "matrix Gaussian integral",
        f"the exponent is c + tr(Lᵀ{x}) − ½tr({x}ᵀQ{x}P), and ∫ exp of it is "
        "exp(c + ½tr(P⁻¹LᵀQ⁻¹L)) (2π)^(np/2) |Q|^(−p/2) |P|^(−n/2)",
        sampler=draw("matrixgaussian", slope, q, p),
        conditions=(q, p),
    )


def _places(term: Expr, x: Expr) -> int | None:
    """How often X stands in a term, when it stands in one trace of a word; None otherwise."""
    holders = [f for f in sp.Mul.make_args(term) if f.has(x)]
    if not holders:
        return 0
    if len(holders) > 1 or not isinstance(holders[0], trace):
        return None
    word = split(holders[0].args[0])[1]
    if any(a.has(x) and a not in (x, T(x)) for a in word):
        return None
    return sum(1 for a in word if a.has(x))


def _square(term: Expr, x: Expr) -> tuple[Expr, Expr] | None:
    """(A, B) of a term tr(Xᵀ A X B), coefficient and all in B."""
    if _places(term, x) != 2:
        return None
    holder = next(f for f in sp.Mul.make_args(term) if f.has(x))
    word = split(holder.args[0])[1]
    start = word.index(T(x)) if T(x) in word else -1
    if start < 0 or x not in word:
        return None
    turned = word[start:] + word[:start]
    end = turned.index(x)
    return sp.Mul(*turned[1:end]), term / holder * sp.Mul(*turned[end + 1 :])


def _merged(squares: list[tuple[Expr, Expr]]) -> tuple[Expr, Expr] | None:
    """(Q, P) of Σ tr(XᵀA X B) = −½ tr(XᵀQXP): the A or the B must be all the same."""
    if not squares:
        return None
    first, second = squares[0]
    if all(a == first for a, _ in squares):
        q, p = first, normal(sp.Add(*[b for _, b in squares]) * -2)
    elif all(b == second for _, b in squares):
        q, p = normal(sp.Add(*[a for a, _ in squares])), normal(-2 * second)
    else:
        return None
    symmetric = all(normal(m - T(m)) == 0 for m in (q, p))
    return (q, p) if symmetric else None


def _positive(q: Expr, p: Expr, problem: Problem) -> tuple[Expr, Expr]:
    """Both with the sign that Q has at a point of the domain, so that both are positive there."""
    from blrgen.geometry.points_at_sizes import sign_at_size_one

    turn = sign_at_size_one(q, problem.family)
    return (q, p) if turn >= 0 else (normal(-q), normal(-p))
