"""Linear equations between vectors whose matrix is diagonal plus terms of low rank.

    a_ij Y_j + Σ u total(w Y_j) + Σ v s = r_i

for vectors Y_j and numbers s, one equation for each.  The totals are taken as further
unknown numbers t; component by component the small system for the Y_j is solved in t and
s, and putting it into t = total(w Y_j) and the equations of the numbers leaves one system
of numbers.  This is the Sherman–Morrison–Woodbury formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component, outer_totals, total, varies
from blrgen.algebra.partial import partial
from blrgen.algebra.width import WIDE, width
from blrgen.errors import InternalError

Expr = Any
_LARGE = 300  # operations beyond which a quotient is not brought to lowest terms
_SHORT = 15  # operations of a solution that needs no second look
Tidy = Callable[[Expr], Expr]


def solve_components(equations: Sequence[Expr], unknowns: Sequence[Expr]) -> dict[Expr, Expr]:
    """The unknowns from equations = 0 (the i-th is a vector where the i-th unknown is one).

    In lowest terms, or with the numbers in the equations kept whole, whichever is shorter.
    """
    found = _solved(equations, unknowns, lowest)
    if _length(found) <= _SHORT:
        return found
    letters: dict[Expr, Expr] = {}
    lettered = [_lettered(sp.expand(e), unknowns, letters) for e in equations]
    back = {v: k for k, v in letters.items()}
    other = {u: v.xreplace(back) for u, v in _solved(lettered, unknowns, spread).items()}
    return min((found, other), key=_length)


def _length(found: dict[Expr, Expr]) -> int:
    return sum(int(sp.count_ops(v)) for v in found.values())


def _lettered(equation: Expr, unknowns: Sequence[Expr], letters: dict[Expr, Expr]) -> Expr:
    """Each number that multiplies something that varies, or an unknown, as one letter."""
    groups: dict[Expr, Expr] = {}
    for term in sp.Add.make_args(equation):
        outer: list[Expr] = []
        inner: list[Expr] = []
        for f in sp.Mul.make_args(term):
            (inner if varies(f) or f.has(*unknowns) else outer).append(f)
        body = sp.Mul(*inner)
        groups[body] = groups.get(body, sp.S.Zero) + sp.Mul(*outer)
    made = []
    for body, weight in groups.items():
        if not weight.is_Atom and weight.free_symbols and not (-weight).is_Atom:
            weight = letters.setdefault(weight, sp.Dummy(f"c{len(letters)}", real=True))
        made.append(weight * body)
    return sp.Add(*made)


def _solved(equations: Sequence[Expr], unknowns: Sequence[Expr], tidy: Tidy) -> dict[Expr, Expr]:
    vectors = [u for u in unknowns if isinstance(u, Component)]
    numbers = [u for u in unknowns if not isinstance(u, Component)]
    meaning: dict[Expr, Expr] = {}
    flat = [_flattened(sp.expand(e), unknowns, meaning) for e in equations]
    pairs = list(zip(flat, unknowns, strict=True))
    by_component = _linear([e for e, u in pairs if isinstance(u, Component)], vectors, tidy)
    left = [e.xreplace(by_component) for e, u in pairs if not isinstance(u, Component)]
    left += [t - total(w * by_component[y], y.size) for t, (w, y) in meaning.items()]
    found = _linear([sp.expand(e) for e in left], [*numbers, *meaning], tidy)
    solved = {y: numbers_apart(tidy(by_component[y].xreplace(found))) for y in vectors}
    return {u: solved.get(u, found.get(u)) for u in unknowns}


def _flattened(equation: Expr, unknowns: Sequence[Expr], meaning: dict[Expr, Expr]) -> Expr:
    """Every total of an unknown as a number of its own; `meaning` says of which (weight, Y)."""
    table = {}
    for t in outer_totals(equation):
        held = [u for u in unknowns if t.has(u)]
        if not held:
            continue
        if len(held) > 1:
            raise InternalError(f"{t} mixes unknowns")
        weight = partial(t.args[0], held[0])
        if weight.has(held[0]):
            raise InternalError(f"{t} is not linear in {held[0]}")
        known = [k for k, v in meaning.items() if v == (weight, held[0])]
        table[t] = known[0] if known else sp.Dummy(f"t{len(meaning)}", real=True)
        meaning.setdefault(table[t], (weight, held[0]))
    return equation.xreplace(table)


def _linear(equations: list[Expr], unknowns: list[Expr], tidy: Tidy) -> dict[Expr, Expr]:
    """A small linear system."""
    if not unknowns:
        return {}
    matrix = sp.Matrix([[partial(e, u) for u in unknowns] for e in equations])
    if matrix.free_symbols & set(unknowns):
        raise InternalError(f"{equations} are not linear in {unknowns}")
    none = dict.fromkeys(unknowns, sp.S.Zero)
    right = sp.Matrix([-e.xreplace(none) for e in equations])
    solution = matrix.applyfunc(tidy).LUsolve(right)
    return {u: tidy(v) for u, v in zip(unknowns, solution, strict=True)}


def numbers_apart(x: Expr) -> Expr:
    """A vector's terms, each in lowest terms and with what varies taken out of its divisor.

    (r_k (1 − c) + a_k t)/(b_k − c b_k) is r_k/b_k + a_k t/(b_k (1 − c)).
    """
    groups: dict[tuple[Expr, Expr], Expr] = {}
    for term in sp.Add.make_args(x):
        over, under = sp.fraction(term)
        if width(over) > WIDE:
            return x
        for part in sp.Add.make_args(sp.expand(over)):
            body = sp.Mul(*[f for f in sp.Mul.make_args(part) if varies(f)])
            key = (body, under)
            groups[key] = groups.get(key, sp.S.Zero) + part / body
    return sp.Add(*[body * _taken_out(lowest(w / under)) for (body, under), w in groups.items()])


def _taken_out(x: Expr) -> Expr:
    over, under = sp.fraction(x)
    parts = [sp.factor_terms(f) if f.is_Add and varies(f) else f for f in sp.Mul.make_args(under)]
    for i, f in enumerate(sp.Mul.make_args(sp.Mul(*parts))):
        if f.is_Add and f.as_coeff_Add()[0].is_negative:  # 1 − c reads better than c − 1
            under = sp.Mul(*parts)
            rest = [g for k, g in enumerate(sp.Mul.make_args(under)) if k != i]
            return -over / sp.Mul(sp.Add(*[-a for a in f.args]), *rest)
    return over / sp.Mul(*parts)


def lowest(x: Expr) -> Expr:
    """A quotient in lowest terms, its functions and totals taken as letters."""
    if x.is_Atom or sp.count_ops(x) > _LARGE:
        return x
    return sp.cancel(sp.together(x))


def spread(x: Expr) -> Expr:
    """A quotient as a sum over the terms of its numerator, where they are not too many."""
    over, under = sp.fraction(x)
    if width(over) > WIDE:
        return x
    return sp.Add(*[t / under for t in sp.Add.make_args(sp.expand(over))])
