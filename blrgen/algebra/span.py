"""Linear relations between functions of some letters, coefficients free of them.

Functions are brought to rational functions of generators: the letter itself, its
logarithm, roots, exponentials and whatever else depends on it, each an independent letter.
Relations between letters that are not known (other than sin² + cos² = 1 and sign² = 1) are
not used, so that a relation found always holds and one that exists may be missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

Expr = Any
_MOST = 4000  # operations beyond which no relation is looked for


def canonical(f: Expr, variables: Sequence[Expr]) -> Expr:
    """Factorials as Γ, logarithms of products opened, |u| as u·sign u, powers split."""
    f = sp.sympify(f).replace(sp.factorial, lambda a: sp.gamma(a + 1))
    f = f.replace(
        sp.binomial, lambda a, b: sp.gamma(a + 1) / (sp.gamma(b + 1) * sp.gamma(a - b + 1))
    )
    f = f.replace(sp.beta, lambda a, *b: sp.gamma(a) * sp.gamma(b[0]) / sp.gamma(a + b[0]))
    f = f.replace(sp.log, _opened)
    f = f.replace(sp.Abs, lambda a: a * sp.sign(a) if a.has(*variables) else sp.Abs(a))
    return sp.expand(sp.expand_power_exp(f), multinomial=True, log=False)


def _opened(inside: Expr) -> Expr:
    """Log of a product, sum by sum; log Γ(u) as loggamma."""
    opened = sp.expand_log(sp.log(inside), force=bool(inside.is_positive) or _of_gammas(inside))
    return opened.replace(
        lambda x: isinstance(x, sp.log) and isinstance(x.args[0], sp.gamma),
        lambda x: sp.loggamma(x.args[0].args[0]),
    )


def _of_gammas(x: Expr) -> bool:
    return bool(x.has(sp.gamma))


class _Letters:
    """Generators that stand for what is not rational."""

    def __init__(self, variables: Sequence[Expr]) -> None:
        self.variables = tuple(variables)
        self.inner: dict[Expr, Expr] = {}  # depends on the variable
        self.outer: dict[Expr, Expr] = {}  # free of it

    def rational(self, f: Expr) -> Expr:
        """The function with letters for everything that is not a rational operation."""
        if f.is_Symbol or f.is_Rational:
            return f
        if f.is_Add or f.is_Mul:
            return f.func(*[self.rational(a) for a in f.args])
        if f.is_Pow and f.exp.is_Integer:
            return self.rational(f.base) ** f.exp
        if f.is_Pow and f.exp.is_Rational and f.has(*self.variables):
            whole = sp.floor(f.exp)
            return self.rational(f.base) ** whole * self.letter(f.base ** (f.exp - whole))
        if isinstance(f, sp.exp):
            c, rest = f.args[0].as_coeff_Mul()
            if c.is_Integer and c != 1:
                return self.letter(sp.exp(rest)) ** c
        return self.letter(f)

    def letter(self, f: Expr) -> Expr:
        table = self.inner if f.has(*self.variables) else self.outer
        if f not in table:
            table[f] = sp.Dummy(f"x{len(self.inner)}_{len(self.outer)}")
        return table[f]

    def reduce(self, p: Expr) -> Expr:
        """Powers lowered by sign² = 1 and cos² = 1 − sin²."""
        for f, letter in list(self.inner.items()):
            if isinstance(f, sp.sign):
                square: Expr = sp.S.One
            elif isinstance(f, sp.cos):
                square = 1 - self.letter(sp.sin(f.args[0])) ** 2
            else:
                continue
            p = sp.expand(sp.rem(p, letter**2 - square, letter)) if p.has(letter) else p
        return p

    def back(self) -> dict[Expr, Expr]:
        return {v: k for k, v in (*self.inner.items(), *self.outer.items())}


def relations(functions: Sequence[Expr], variables: Sequence[Expr]) -> list[tuple[Expr, ...]]:
    """A basis of the c with Σ c_k f_k = 0 for all x, one vector for each dependent function.

    The vector of the function j has c_j = 1 and uses, besides it, only functions before j
    that are independent of those before them.
    """
    letters = _Letters(variables)
    plain = [letters.rational(canonical(f, variables)) for f in functions]
    if sum(sp.count_ops(p) for p in plain) > _MOST:
        return []
    tops, bottoms = zip(*[sp.fraction(sp.together(p)) for p in plain], strict=True)
    least = sp.lcm_list([sp.expand(b) for b in bottoms])
    pieces = [
        letters.reduce(sp.expand(t * sp.cancel(least / b)))
        for t, b in zip(tops, bottoms, strict=True)
    ]
    # a vector or matrix stands in letters only: in log|S|, say
    generators = [*(x for x in variables if x.is_commutative), *letters.inner.values()]
    columns = [sp.Poly(p, *generators).as_dict() for p in pieces]
    monomials = sorted({m for c in columns for m in c})
    if not monomials:
        return []
    from sympy.polys.matrices import DomainMatrix

    table = sp.Matrix(len(monomials), len(columns), lambda i, j: columns[j].get(monomials[i], 0))
    reduced, pivots = DomainMatrix.from_Matrix(table).to_field().rref()
    rows, back, found = reduced.to_Matrix(), letters.back(), []
    for j in range(len(columns)):
        if j in pivots:
            continue
        vector = [sp.S.Zero] * len(columns)
        vector[j] = sp.S.One
        for i, p in enumerate(pivots):
            vector[p] = sp.cancel(-rows[i, j]).xreplace(back)
        found.append(tuple(vector))
    return found


def in_span(
    f: Expr, basis: Sequence[Expr], variables: Sequence[Expr]
) -> tuple[Expr, tuple[Expr, ...]] | None:
    """(c₀, c) with f = c₀ + Σ c_k b_k, all free of the variables, or None."""
    functions = [*basis, sp.S.One, f]
    for vector in relations(functions, variables):
        if vector[-1] == 1:
            return -vector[-2], tuple(-c for c in vector[:-2])
    return None
