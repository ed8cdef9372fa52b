"""Writing an update the way people do: (1 − ρ)s + ρh.  Exact regroupings only."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import sympy as sp

Expr = Any


def arrange(x: Expr, hyper: Iterable[Expr]) -> Expr:
    """Group the terms of a sum by what they multiply; coefficients hold hyperparameters only."""
    groups: dict[Expr, Expr] = {}
    for term in sp.Add.make_args(x):
        coefficient, rest = _split(term, set(hyper))
        groups[rest] = groups.get(rest, 0) + coefficient
    return sp.Add(*[sp.Mul(*signed(c), rest) for rest, c in groups.items()])


def signed(coefficient: Expr) -> tuple[Expr, ...]:
    """A sum of hyperparameters as factors: common ones out, and its constant positive.

    −½ + ½ρ is −½·(1 − ρ), and Nβ − N is −N·(1 − β).
    """
    if not coefficient.is_Add:
        return (coefficient,)
    if any(p.exp.is_negative for p in coefficient.atoms(sp.Pow) if p.exp.is_Integer):
        coefficient = sp.cancel(coefficient)
        if not coefficient.is_Add:
            return (coefficient,)
    content, core = sp.gcd_terms(coefficient).as_independent(sp.Add, as_Add=False)
    if not core.is_Add:
        return (coefficient,)
    constant = core.as_coeff_Add()[0]
    if constant.is_negative:
        return (-content, sp.Add(*[-a for a in core.args]))
    return (content, core)


def common_factor(x: Expr, hyper: Iterable[Expr]) -> Expr:
    """ρH − ρS as ρ(H − S): the hyperparameters that all terms share, taken out."""
    parts = [_split(term, set(hyper)) for term in sp.Add.make_args(arrange(x, hyper))]
    shared = reduce(sp.gcd, [sp.expand(c) for c, _ in parts])
    if shared.is_number:
        return x
    return shared * sp.Add(*[sp.cancel(c / shared) * rest for c, rest in parts])


def _split(term: Expr, names: set[Expr]) -> tuple[Expr, Expr]:
    outer: list[Expr] = []
    inner: list[Expr] = []
    for factor in sp.Mul.make_args(term):
        known = factor.is_commutative and factor.free_symbols <= names
        (outer if known else inner).append(factor)
    return sp.Mul(*outer), sp.Mul(*inner)
