"""Quotients of Bessel functions I of neighbouring orders, in two that keep their digits.

T = I_{ν+1}(x)/(x I_ν(x)), bessel_quotient(ν, x), and S = 1 − x²T² − (2ν+1)T = (xT)′,
bessel_slope(ν, x).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.named import bessel_quotient, bessel_slope, log_besseli
from blrgen.algebra.spelling import bessel_orders, bessel_values

Expr = Any


def bessel_ratios(x: Expr) -> Expr:
    """Quotients of I_{ν+k} at one argument in terms of T = I_{ν+1}/(x I_ν) and the slope S.

    κ²T² = 1 − (2ν+1)T − S is used where the result is then better.
    """
    if x.is_Add:  # what has no I in it stays as it is
        own = [a for a in x.args if not a.has(sp.besseli)]
        if own:
            return sp.Add(*own) + bessel_ratios(x - sp.Add(*own))
    for at, (lowest, reach) in bessel_orders(x).items():
        forms: list[Expr] = []
        for base in (sp.expand(lowest + k) for k in range(min(reach, 4) + 1)):
            forms += _bessel_forms(x, at, base, lowest, reach)
        if forms:
            x = min(forms, key=_rank)
    return x


def by_logarithms(x: Expr, inside: bool = False) -> Expr:
    """log I_ν by a function of its own; where I is in no quotient, as its exponential."""
    x = x.replace(
        lambda e: isinstance(e, sp.log) and isinstance(e.args[0], sp.besseli),
        lambda e: log_besseli(*e.args[0].args),
    )
    return x if inside else x.replace(sp.besseli, lambda n, z: sp.exp(log_besseli(n, z)))


def shorter(x: Expr) -> Expr:
    """Sums of Bessel functions as a power of one times a quotient in the ratio of two."""
    for at, (base, reach) in bessel_orders(x).items():
        one, quotient, kappa = (sp.Dummy(n, positive=True) for n in ("I", "T", "k"))
        new = x.xreplace(bessel_values(base, at, reach, one, one * at * quotient))
        square = _squared(at)
        relations = [] if square is None else [(kappa**2 - at**2, square)]
        new = _reduced(_in_one_symbol(new, at, kappa), relations)
        here = sp.besseli(base, at)
        ratio = sp.besseli(base + 1, at) / (at * here)
        x = new.xreplace({one: here, quotient: ratio, kappa: at})
    return x


def _rank(x: Expr) -> tuple[Any, ...]:
    """Better first: no sum of Bessel functions below the line, then the shorter one."""
    divisor = sp.fraction(x)[1]
    sums = any(s.has(bessel_quotient, bessel_slope) for s in divisor.atoms(sp.Add))
    return sums, sp.count_ops(x), sp.default_sort_key(x)


def _bessel_forms(x: Expr, at: Expr, base: Expr, lowest: Expr, reach: int) -> list[Expr]:
    """The expression with T of one order, and with T and S; none where I itself stays."""
    one, quotient, slope, kappa = (sp.Dummy(n, positive=True) for n in ("I", "T", "S", "k"))
    below = int(sp.expand(base - lowest))
    values = bessel_values(base, at, reach - below, one, one * at * quotient)
    values |= bessel_values(base, at, -below, one, one * at * quotient)
    new = _in_one_symbol(x.xreplace(values), at, kappa)
    square = _squared(at)
    relations = [] if square is None else [(kappa**2 - at**2, square)]
    slopes = (kappa**2 * quotient**2 - 1 + (2 * base + 1) * quotient + slope, quotient)
    forms = [_reduced(new, relations), _reduced(new, [*relations, slopes])]
    swap = {quotient: bessel_quotient(base, at), slope: bessel_slope(base, at), kappa: at}
    return [f.xreplace(swap) for f in forms if not f.has(one)]


def _in_one_symbol(x: Expr, at: Expr, symbol: Expr) -> Expr:
    """The argument and its powers as one symbol and its powers."""
    x = x.xreplace({at: symbol})
    if not at.is_Pow or at.exp != sp.S.Half:
        return x
    return x.replace(lambda e: e.is_Pow and e.base == at.base, lambda e: symbol ** (2 * e.exp))


def _squared(at: Expr) -> Expr | None:
    """A symbol that stands only as a square in the argument √(…), None if there is none."""
    if not (at.is_Pow and at.exp == sp.S.Half):
        return None
    for v in sorted(at.free_symbols, key=lambda s: s.name, reverse=True):
        if (
            at.base.is_polynomial(v)
            and sp.degree(at.base, v) == 2
            and sp.diff(at.base, v).subs(v, 0) == 0
        ):
            return v
    return None


def _reduced(x: Expr, relations: list[tuple[Expr, Expr]]) -> Expr:
    """A quotient of polynomials in lowest terms, squares replaced by the relations."""
    parts = []
    for part in sp.fraction(sp.together(x)):
        polynomial = sp.expand(part)
        for relation, v in relations:
            try:
                polynomial = sp.rem(polynomial, relation, v)
            except sp.PolynomialError:
                return x
        parts.append(polynomial)
    top, bottom = sp.fraction(sp.cancel(parts[0] / parts[1]))
    return sp.factor_terms(top) / sp.factor(bottom)
