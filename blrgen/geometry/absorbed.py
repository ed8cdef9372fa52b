"""Functions that are affine in the statistics: f = c + Σ_i ⟨c_i, T_i⟩ with constants c, c_i.

Then E_q[f] = c + Σ_i ⟨c_i, μ_i⟩ and ∇_{μ_i} E_q[f] = c_i, with nothing to invert.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.ranks import SymMat, T, rows_of, trace
from blrgen.algebra.ring import Ring
from blrgen.algebra.words import normal, split
from blrgen.core import Family
from blrgen.errors import InternalError

Expr = Any


def affine_in_statistics(family: Family, f: Expr) -> tuple[Expr, tuple[Expr, ...]] | None:
    """(c, (c_1, …)), or None where f is not of that form."""
    if family.support.kind == "finite" and family.components is None:
        return _at_points(family, f)
    variables, statistics = family.variables, family.statistics
    matrix: dict[int, Expr] = {}
    rest = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(f)):
        found = None if not term.has(*variables) else _in_matrices(term, statistics, variables)
        if found is None:
            rest += term
        else:
            matrix[found[0]] = matrix.get(found[0], sp.S.Zero) + found[1]
    numbers = [i for i, t in enumerate(statistics) if t.is_commutative]
    solved = _in_numbers(rest, [statistics[i] for i in numbers], variables)
    if solved is None:
        return None
    c, parts = solved
    matrix |= dict(zip(numbers, parts, strict=True))
    return c, tuple(matrix.get(i, sp.S.Zero) for i in range(len(statistics)))


def _at_points(family: Family, f: Expr) -> tuple[Expr, tuple[Expr, ...]] | None:
    """Of a finite support: the equations f(x) = c + Σ c_i T_i(x), one a point.

    With one point more than statistics every f is affine, however it is written.
    """
    x, count = family.variable, len(family.statistics)
    names = [sp.Dummy(f"c{i}") for i in range(count + 1)]
    rows = []
    for p in family.support.points:
        value = sp.sympify(f).subs(x, p)
        if value.has(sp.oo, -sp.oo, sp.zoo, sp.nan):
            return None
        level = names[0] + sp.Add(
            *[c * t.subs(x, p) for c, t in zip(names[1:], family.statistics, strict=True)]
        )
        rows.append(sp.expand(level - value))
    solution = sp.linsolve(rows, names)
    if not solution:
        return None
    values = next(iter(solution)).xreplace(dict.fromkeys(names, sp.S.Zero))
    return sp.expand(values[0]), tuple(sp.expand(v) for v in values[1:])


def pairing(
    c: Expr, parts: tuple[Expr, ...], mean: tuple[Expr, ...], family: Family, ring: Ring
) -> Expr:
    """c + Σ_i ⟨c_i, μ_i⟩; a number c_i beside a matrix μ_i is that multiple of the identity."""
    total = c
    for part, mu, t in zip(parts, mean, family.statistics, strict=True):
        if part == 0:
            continue
        square = part.is_commutative and not t.is_commutative
        total += trace(normal(part * mu), rows_of(t)) if square else ring.inner(part, mu)
    return total


def _in_numbers(
    f: Expr, statistics: list[Expr], variables: tuple[Expr, ...]
) -> tuple[Expr, list[Expr]] | None:
    """Of statistics that are numbers: the coefficients of every function of the variables."""
    names = [sp.Dummy(f"c{i}") for i in range(len(statistics) + 1)]
    combination = names[0] + sp.Add(*[c * t for c, t in zip(names[1:], statistics, strict=True)])
    collected: dict[Expr, Expr] = {}
    for term in sp.Add.make_args(sp.expand(f - combination)):
        free, dependent = term.as_independent(*variables, as_Add=False)
        collected[dependent] = collected.get(dependent, sp.S.Zero) + free
    solution = sp.linsolve(list(collected.values()), names)
    if not solution:
        return None
    values = next(iter(solution)).xreplace(dict.fromkeys(names, sp.S.Zero))
    return values[0], list(values[1:])


def _in_matrices(
    term: Expr, statistics: tuple[Expr, ...], variables: tuple[Expr, ...]
) -> tuple[int, Expr] | None:
    """(i, c) with term = ⟨c, T_i⟩ for a statistic that is a vector or a matrix."""
    holders = [a for a in sp.Mul.make_args(term) if a.has(*variables)]
    if len(holders) != 1 or not isinstance(holders[0], trace):
        return None
    coefficient = term / holders[0]
    word = split(holders[0].args[0])[1]
    flipped = tuple(T(a) for a in reversed(word))
    for i, t in enumerate(statistics):
        if t.is_commutative or t.is_Add:
            continue
        outside, inner = split(t)
        for w in (word, flipped):
            for k in range(len(w)):
                turned = w[k:] + w[:k]
                rest = sp.Mul(*turned[len(inner) :])
                if turned[: len(inner)] == inner and not rest.has(*variables):
                    c = coefficient / outside * T(rest)
                    return i, normal((c + T(c)) / 2) if _symmetric(t) else c
    return None


def _symmetric(t: Expr) -> bool:
    try:
        return isinstance(t, SymMat) or normal(t - T(t)) == 0
    except InternalError:
        return False
