"""Linear equations whose unknowns stand inside words: A X B = C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component
from blrgen.algebra.partial import partial
from blrgen.algebra.ranks import shape_of
from blrgen.algebra.woodbury import solve_components
from blrgen.algebra.words import collect_words, normal
from blrgen.errors import InternalError, TooLarge

Expr = Any
_WIDE = 4  # unknowns from which on common factors are not looked for
_UNREADABLE = 30_000  # operations of a solution that is not worth writing down
_LARGE = 150  # operations in a system whose solution is still brought to lowest terms


def solve_linear(equations: Sequence[Expr], unknowns: Sequence[Expr]) -> dict[Expr, Expr]:
    """Solve equations = 0, linear in the unknowns, by substitution.

    Each turn takes an unknown that stands in one word A X B of an equation, A and B
    invertible, puts X = −A⁻¹ (rest) B⁻¹ into the others and goes on with those; equations
    with few unknowns first, another choice where one leads nowhere.  Commuting systems go
    through elimination of their coefficients.
    """
    if any(isinstance(u, Component) for u in unknowns):
        return solve_components(equations, unknowns)
    if all(u.is_commutative for u in unknowns):
        return _solve_commuting(equations, unknowns)
    found = _eliminate([normal(e) for e in equations], list(unknowns))
    if found is None:
        raise InternalError(f"no unknown of {list(unknowns)} can be isolated: {list(equations)}")
    return found


def _numeric(e: Expr) -> bool:
    """Whether it holds an expectation without a closed form: there is nothing to cancel."""
    return any(hasattr(f, "value_at") for f in e.atoms(sp.Function))


def _by_determinants(matrix: Expr, right: Expr) -> list[Expr]:
    """Cramer's rule with the entries as letters: nothing is brought to lowest terms."""
    n = matrix.shape[0]
    names: dict[Expr, Expr] = {}

    def letter(entry: Expr) -> Expr:
        if entry == 0 or entry.is_Rational:
            return entry
        return names.setdefault(entry, sp.Dummy(f"a{len(names)}"))

    square = sp.Matrix(n, n, lambda i, j: letter(matrix[i, j]))
    sides = sp.Matrix(n, 1, lambda i, _: letter(right[i]))
    whole = square.det(method="berkowitz")
    back = {name: entry for entry, name in names.items()}
    share = sum(sp.count_ops(e) for e in back.values()) / max(1, len(back))
    _check_readable(int(2 * n * sp.count_ops(whole) * share))
    found = []
    for k in range(n):
        changed = square.copy()
        changed[:, k] = sides
        found.append((changed.det(method="berkowitz") / whole).xreplace(back))
    _check_readable(sum(sp.count_ops(e) for e in found))
    return found


def _check_readable(size: int) -> None:
    if size > _UNREADABLE:
        raise TooLarge(
            "F⁻¹ in these coordinates is too long to be written down; working parameters "
            "in which F has more zeros make it short"
        )


def _eliminate(equations: list[Expr], unknowns: list[Expr]) -> dict[Expr, Expr] | None:
    """The unknowns, or None where no order of elimination goes through."""
    if not unknowns:
        return {}
    there = [[u for u in unknowns if e.has(u)] for e in equations]
    for k in sorted(range(len(equations)), key=lambda i: len(there[i])):
        for u in there[k]:
            try:
                value = isolate(equations[k], u)
            except InternalError:
                continue
            others = [normal(e.subs(u, value)) for i, e in enumerate(equations) if i != k]
            deeper = _eliminate(others, [v for v in unknowns if v != u])
            if deeper is not None:
                return {**deeper, u: normal(value.subs(deeper, simultaneous=True))}
    return None


def _solve_commuting(equations: Sequence[Expr], unknowns: Sequence[Expr]) -> dict[Expr, Expr]:
    matrix = sp.Matrix([[partial(e, u) for u in unknowns] for e in equations])
    if matrix.free_symbols & set(unknowns):
        raise InternalError(f"{list(equations)} are not linear in {list(unknowns)}")
    none = dict.fromkeys(unknowns, 0)
    right = sp.Matrix([-e.subs(none) for e in equations])
    if len(unknowns) > 2 and any(_numeric(e) for e in (*matrix, *right)):
        return dict(zip(unknowns, _by_determinants(matrix, right), strict=True))
    if matrix.shape[0] == 1 or sum(sp.count_ops(a) for a in matrix) <= _LARGE:
        solution = [sp.cancel(v) for v in matrix.LUsolve(right)]
    elif len(unknowns) >= _WIDE:
        return dict(zip(unknowns, _by_determinants(matrix, right), strict=True))
    else:  # common factors of large transcendental entries are not looked for
        names = sp.Matrix(*matrix.shape, lambda i, j: sp.Dummy(f"a{i}{j}"))
        sides = sp.Matrix(right.shape[0], 1, lambda i, _: sp.Dummy(f"b{i}"))
        table = dict(zip([*names, *sides], [*matrix, *right], strict=True))
        solution = [sp.cancel(v).xreplace(table) for v in names.LUsolve(sides)]
    return dict(zip(unknowns, solution, strict=True))


def _quotient(above: Expr, below: Expr) -> Expr:
    """above/below in lowest terms, numbers made of matrices as letters."""
    held = sorted((above.atoms(sp.Function) | below.atoms(sp.Function)), key=str)
    table = {f: sp.Dummy(f"f{i}") for i, f in enumerate(held) if not _commuting(f)}
    back = {name: f for f, name in table.items()}
    return sp.cancel((above / below).xreplace(table)).xreplace(back)


def _commuting(f: Expr) -> bool:
    return all(s.is_commutative for s in f.free_symbols)


def _shown(equation: Expr) -> str:
    """An equation in a message; printing a long one takes longer than solving it."""
    return str(equation) if sp.count_ops(equation) < _LARGE else "a long equation"


def isolate(equation: Expr, unknown: Expr) -> Expr:
    """X from (… A X B …) = 0 with X in exactly one word."""
    if unknown.is_commutative:
        c1 = partial(equation, unknown)
        if not equation.is_commutative or c1.has(unknown):
            raise InternalError(f"{_shown(equation)} is not linear in {unknown}")
        return _quotient(-equation.subs(unknown, 0), c1)
    rest, holder = sp.S.Zero, None
    for word, coefficient in collect_words(equation).items():
        if unknown in word:
            if holder is not None or word.count(unknown) != 1 or coefficient.has(unknown):
                raise InternalError(f"{unknown} stands in several words of {_shown(equation)}")
            holder = (coefficient, word)
        elif coefficient.has(unknown) or any(a.has(unknown) for a in word):
            raise InternalError(f"{unknown} is hidden inside {_shown(equation)}")
        else:
            rest += coefficient * sp.Mul(*word)
    if holder is None:
        raise InternalError(f"{unknown} does not occur in {_shown(equation)}")
    coefficient, word = holder
    i = word.index(unknown)
    if any(len(set(shape_of(a) or ())) > 1 for a in (*word[:i], *word[i + 1 :])):
        raise InternalError(f"a factor beside {unknown} has no inverse in {_shown(equation)}")
    left = sp.Mul(*[a**-1 for a in reversed(word[:i])])
    right = sp.Mul(*[a**-1 for a in reversed(word[i + 1 :])])
    return normal(-left * rest * right / coefficient)
