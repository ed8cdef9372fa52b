"""Quotients of Bessel kernels G_ν(s) = I_ν(√s)/√s^ν, whole in s, with nothing that cancels.

    T = G_{ν+1}/G_ν          bessel_quotient(ν, κ)             κ² = s
    U = T − G_{ν+2}/G_{ν+1}  bessel_bend(ν, κ)                 positive
    S = T·(1 − s U)          bessel_slope(ν, κ) = (κT)′        positive

Where 1 − c U with c < s stands in a sum, 1 = S/T + s U is put in: its terms then have one
sign, at s = 0 as well as far out.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.bessel import bessel_kernel
from blrgen.algebra.named import bessel_bend, bessel_quotient, bessel_slope

Expr = Any


def kernel_quotients(x: Expr) -> Expr:
    """Quotients of kernels at one argument in T, U and S; what is no quotient is left alone."""
    held: dict[Expr, Expr] = {}
    for f in sorted(x.atoms(sp.log), key=sp.default_sort_key):
        if isinstance(f.args[0], bessel_kernel):  # a log-partition, no quotient
            held[sp.Dummy("log", real=True)] = f
    x = x.xreplace({f: name for name, f in held.items()})
    groups: dict[Expr, list[Expr]] = {}
    for f in sorted(x.atoms(bessel_kernel), key=sp.default_sort_key):
        groups.setdefault(f.args[1], []).append(f.args[0])
    for s, orders in groups.items():
        steps = [sp.expand(o - orders[0]) for o in orders]
        if all(k.is_Integer for k in steps):
            x = _quotients(x, s, orders[0] + min(steps), int(max(steps) - min(steps)))
    return x.xreplace(held)


def _quotients(x: Expr, s: Expr, base: Expr, reach: int) -> Expr:
    one, first, bend = (sp.Dummy(n, positive=True) for n in ("G", "T", "U"))
    at = sp.sqrt(s)
    tail = [sp.Dummy(f"Q{k}", positive=True) for k in range(2, reach)]
    value, values = one, {bessel_kernel(sp.expand(base), s): one}
    for k, q in enumerate([first, first - bend, *tail][:reach], 1):
        value = value * q
        values[bessel_kernel(sp.expand(base + k), s)] = value
    top, bottom = sp.fraction(sp.cancel(sp.together(x.xreplace(values))))
    if top.has(one) or bottom.has(one):
        return x
    ratio = sp.Dummy("R", positive=True)  # S/T
    better = [_positive(p, s, bend, ratio) for p in (top, bottom)]
    new = _terms(better[0] / better[1])
    swap = {q: bessel_quotient(base + k, at) for k, q in enumerate(tail, 2)}
    slope, quotient = bessel_slope(base, at), bessel_quotient(base, at)
    swap |= {ratio: slope / quotient, first: quotient, bend: bessel_bend(base, at)}
    return new.xreplace(swap)


def _positive(p: Expr, s: Expr, bend: Expr, ratio: Expr) -> Expr:
    """A polynomial in U, factor by factor with 1 = S/T + s U where fewer signs then change."""
    factors = []
    for f, power in sp.factor_list(p)[1]:
        factors.append(min((f, *_mixed(f, s, bend, ratio)), key=_signs) ** power)
    return sp.Mul(sp.factor_list(p)[0], *factors)


def _mixed(f: Expr, s: Expr, bend: Expr, ratio: Expr) -> list[Expr]:
    if not f.is_polynomial(bend) or sp.degree(f, bend) < 1:
        return []
    poly = sp.Poly(f, bend)
    top, unit = poly.degree(), ratio + s * bend
    mixed = sp.Add(*[c * bend**k * unit ** (top - k) for (k,), c in poly.terms()])
    return [sp.Add(*[sp.factor_terms(a) for a in sp.Add.make_args(sp.expand(mixed))])]


def _signs(f: Expr) -> tuple[Any, ...]:
    terms = sp.Add.make_args(f)
    minus = sum(bool(t.could_extract_minus_sign()) for t in terms)
    return min(minus, len(terms) - minus), sp.count_ops(f), sp.default_sort_key(f)


def _terms(x: Expr) -> Expr:
    """A quotient with one sum above, term by term, where nothing is a sum below."""
    top, bottom = sp.fraction(x)
    if bottom.has(sp.Add) and any(a.is_Add for a in sp.Mul.make_args(bottom)):
        return x
    return sp.Add(*[a / bottom for a in sp.Add.make_args(sp.expand(top))])
