"""Linear equations whose unknowns stand inside words: A X B = C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component
from blrgen.algebra.partial import partial
from blrgen.algebra.woodbury import solve_components
from blrgen.algebra.words import collect_words, normal
from blrgen.errors import InternalError

Expr = Any
_LARGE = 150  # operations in a system whose solution is still brought to lowest terms


def solve_linear(equations: Sequence[Expr], unknowns: Sequence[Expr]) -> dict[Expr, Expr]:
    """Solve equations = 0, linear in the unknowns, by substitution.

    Each turn takes an equation with one unknown left, standing in one word A X B with
    invertible A and B, and gives X = −A⁻¹ (rest) B⁻¹.  Commuting systems that are not
    triangular go through elimination.
    """
    if any(isinstance(u, Component) for u in unknowns):
        return solve_components(equations, unknowns)
    if all(u.is_commutative for u in unknowns):
        return _solve_commuting(equations, unknowns)
    left, found = list(equations), dict[Expr, Expr]()
    while len(found) < len(unknowns):
        for e in left:
            e_now = normal(e.subs(found)) if found else e
            names = [u for u in unknowns if u not in found and e_now.has(u)]
            if len(names) == 1:
                found[names[0]] = isolate(e_now, names[0])
                left.remove(e)
                break
        else:
            raise InternalError(f"equations in {unknowns} are not triangular: {left}")
    return found


def _solve_commuting(equations: Sequence[Expr], unknowns: Sequence[Expr]) -> dict[Expr, Expr]:
    matrix = sp.Matrix([[partial(e, u) for u in unknowns] for e in equations])
    if matrix.free_symbols & set(unknowns):
        raise InternalError(f"{list(equations)} are not linear in {list(unknowns)}")
    none = dict.fromkeys(unknowns, 0)
    right = sp.Matrix([-e.subs(none) for e in equations])
    if matrix.shape[0] == 1 or sum(sp.count_ops(a) for a in matrix) <= _LARGE:
        solution = [sp.cancel(v) for v in matrix.LUsolve(right)]
    else:  # common factors of large transcendental entries are not looked for
        names = sp.Matrix(*matrix.shape, lambda i, j: sp.Dummy(f"a{i}{j}"))
        sides = sp.Matrix(right.shape[0], 1, lambda i, _: sp.Dummy(f"b{i}"))
        table = dict(zip([*names, *sides], [*matrix, *right], strict=True))
        solution = [sp.cancel(v).xreplace(table) for v in names.LUsolve(sides)]
    return dict(zip(unknowns, solution, strict=True))


def isolate(equation: Expr, unknown: Expr) -> Expr:
    """X from (… A X B …) = 0 with X in exactly one word."""
    if unknown.is_commutative:
        c1 = partial(equation, unknown)
        if c1.has(unknown):
            raise InternalError(f"{equation} is not linear in {unknown}")
        return sp.cancel(-equation.subs(unknown, 0) / c1)
    rest, holder = sp.S.Zero, None
    for word, coefficient in collect_words(equation).items():
        if unknown in word:
            if holder is not None or word.count(unknown) != 1:
                raise InternalError(f"{unknown} stands in several words of {equation}")
            holder = (coefficient, word)
        else:
            rest += coefficient * sp.Mul(*word)
    if holder is None:
        raise InternalError(f"{unknown} does not occur in {equation}")
    coefficient, word = holder
    i = word.index(unknown)
    left = sp.Mul(*[a**-1 for a in reversed(word[:i])])
    right = sp.Mul(*[a**-1 for a in reversed(word[i + 1 :])])
    return normal(-left * rest * right / coefficient)
