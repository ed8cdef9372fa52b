"""An update collected by what it asks of the loss: each input once, its coefficient factored.

Entries of F⁻¹ come out of elimination as long sums over a determinant.  Most of it cancels in
the coefficient of a single input, and what is left of the determinant is written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.nodes import has_nodes

Expr = Any
_LONG = 400  # operations of a coefficient that is still factored


def by_inputs(x: Expr, inputs: Sequence[Expr], common: Expr = sp.S.One) -> Expr:
    """x = Σ cᵢ·inputᵢ + rest with the cᵢ factored; inputs over one divisor stand together.

    `common` is a weight such as ρ that every cᵢ has.  What is not linear in the inputs, or is
    no shorter collected, stays as it is.
    """
    there = [p for p in inputs if x.has(p)]
    if not there or not x.is_commutative or has_nodes(x):
        return x
    parts = _linear(x, there)
    if parts is None:
        return x
    rest, coefficients = parts
    groups: dict[Expr, Expr] = {}
    plain = []
    for p, c in zip(there, coefficients, strict=True):
        whole = sp.S.Zero
        for term in sp.Add.make_args(_factored(sp.Add(*[t / common for t in c]))):
            above, below = _apart(term)
            if below == 1:
                whole += above
                continue
            key = -below if -below in groups else below
            groups[key] = groups.get(key, sp.S.Zero) + (above if key == below else -above) * p
        plain.append(common * whole * p)
    terms = [common * _quotient(above, below) for below, above in groups.items()]
    found = sp.Add(rest, *plain, *terms)
    return found if sp.count_ops(found) < sp.count_ops(x) else x


def _linear(x: Expr, inputs: list[Expr]) -> tuple[Expr, list[list[Expr]]] | None:
    """(rest, terms of the coefficients), every term with at most one input, to the first power."""
    rest, found = [], {p: list[Expr]() for p in inputs}
    for term in sp.Add.make_args(x):
        holders = [p for p in inputs if term.has(p)]
        if not holders:
            rest.append(term)
            continue
        left, own = term.as_independent(*holders, as_Add=False)
        if own not in found:
            return None
        found[own].append(left)
    return sp.Add(*rest), [found[p] for p in inputs]


def _factored(c: Expr) -> Expr:
    """The shortest of c, c factored, and c in partial fractions of a function it holds."""
    quotient = any(p.exp.is_negative and p.base.is_Add for p in _powers(c))
    whole_powers = all(p.exp.is_Integer for p in _powers(c))
    if not (c.is_Add or quotient) or sp.count_ops(c) > _LONG or not whole_powers:
        return c
    whole = sp.factor(sp.together(c))
    return min((c, whole, *_divided(whole)), key=sp.count_ops)


def _divided(c: Expr) -> list[Expr]:
    """q + r/d for c = n/d, where d is linear in a function such as ψ′(a)."""
    above, below = sp.fraction(c)
    found = []
    functions = below.atoms(sp.Function) - below.atoms(sp.exp)  # powers of one another
    for f in sorted(functions, key=sp.default_sort_key):
        if below.is_polynomial(f) and above.is_polynomial(f) and sp.degree(below, f) == 1:
            q, r = sp.div(above, below, f)
            found.append(sp.factor(q) + sp.factor(r / below))
    return found


def _powers(c: Expr) -> list[Expr]:
    return [p for p in c.atoms(sp.Pow) if p.base is not sp.E]


def _apart(c: Expr) -> tuple[Expr, Expr]:
    """(above, below): below are the sums that divide, what several inputs can share."""
    below = [f for f in sp.Mul.make_args(c) if f.is_Pow and f.exp.is_negative and f.base.is_Add]
    divisor = sp.Mul(*[f**-1 for f in below])
    return c * divisor, divisor


def _quotient(above: Expr, below: Expr) -> Expr:
    """A sum of inputs over what divides it, its common factors in front."""
    return (sp.gcd_terms(above) if above.is_Add else above) / below
