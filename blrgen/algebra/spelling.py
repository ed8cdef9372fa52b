"""Γ, ψ and Bessel functions in one spelling, so that equal expressions may look equal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from blrgen.algebra.bessel import bessel_kernel
from blrgen.algebra.multigamma import multigammaln, multipolygamma

Expr = Any
SPECIAL = (
    sp.loggamma, sp.gamma, sp.beta, sp.polygamma, sp.digamma, sp.trigamma, sp.besseli,
    sp.factorial, sp.binomial, multigammaln, multipolygamma, bessel_kernel, sp.erf, sp.erfc,
)  # fmt: skip


def in_few(*exprs: Expr) -> list[Expr]:
    """Expressions with ψ, Γ and I in one spelling, so that equal ones may look equal.

    I_{ν+k} is written in the two lowest orders that occur in any of them.
    """
    out = [one_spelling(x) if x.has(*SPECIAL) else x for x in exprs]
    out = [x.replace(bessel_kernel, lambda *a: bessel_kernel(*a).plain()) for x in out]
    for at, (base, reach) in bessel_orders(*out).items():
        if reach > 1:
            one, two = sp.besseli(base, at), sp.besseli(base + 1, at)
            values = bessel_values(base, at, reach, one, two)
            out = [x.xreplace(values) for x in out]
    return in_two(*out)


def one_spelling(x: Expr) -> Expr:
    """Products of Gamma functions through log Γ, ψ and ψ′ as polygamma."""
    log_gamma = sp.loggamma
    x = x.replace(sp.digamma, lambda a: sp.polygamma(0, a))
    x = x.replace(sp.trigamma, lambda a: sp.polygamma(1, a))
    x = x.replace(sp.binomial, lambda a, k: sp.gamma(a + 1) / sp.gamma(k + 1) / sp.gamma(a - k + 1))
    x = x.replace(sp.factorial, lambda a: sp.gamma(a + 1))
    x = x.replace(sp.beta, lambda a, b: sp.gamma(a) * sp.gamma(b) / sp.gamma(a + b))
    if x.has(sp.gamma):
        x = x.replace(sp.gamma, lambda a: sp.exp(log_gamma(a)))
        x = x.replace(
            lambda e: isinstance(e, sp.log), lambda e: sp.expand_log(e, force=True)
        ).replace(
            lambda e: isinstance(e, sp.log) and isinstance(e.args[0], sp.exp),
            lambda e: e.args[0].args[0],
        )
    return x


def bessel_orders(*exprs: Expr) -> dict[Expr, tuple[Expr, int]]:
    """Argument of I → its smallest order there and how far the orders reach beyond it."""
    groups: dict[Expr, list[Expr]] = {}
    for x in exprs:
        for f in sorted(x.atoms(sp.besseli), key=sp.default_sort_key):
            groups.setdefault(f.args[1], []).append(f.args[0])
    found = {}
    for at, orders in groups.items():
        steps = [sp.expand(o - orders[0]) for o in orders]
        if all(s.is_Integer for s in steps):
            low = min(steps)
            found[at] = (orders[0] + low, int(max(steps) - low))
    return found


def bessel_values(base: Expr, at: Expr, reach: int, one: Expr, two: Expr) -> dict[Expr, Expr]:
    """I_ν, I_{ν+1}, …, I_{ν+reach} in terms of the first two of them, or down to there."""
    values = [one, two]
    for k in range(1, reach):  # I_{ν+k+1} = I_{ν+k−1} − 2(ν+k)/x I_{ν+k}
        values.append(values[k - 1] - 2 * (base + k) / at * values[k])
    found = {sp.besseli(sp.expand(base + k), at): v for k, v in enumerate(values)}
    for k in range(0, reach, -1):
        above, here = (found[sp.besseli(sp.expand(base + j), at)] for j in (k + 1, k))
        found[sp.besseli(sp.expand(base + k - 1), at)] = above + 2 * (base + k) / at * here
    return found


def in_two(*exprs: Expr) -> list[Expr]:
    """Expressions with every K_{ν+k} in the two lowest orders that occur in any of them."""
    out = list(exprs)
    pairs = {f.args for x in exprs for f in x.atoms(sp.besselk)}
    for order, at, reach in order_groups(pairs):
        if reach > 1:
            one = sp.besselk(order, at)
            two = sp.besselk(sp.expand(order + 1), at)
            values = besselk_values(order, at, reach, one, two)
            named = {sp.besselk(sp.expand(order + k), at): sp.expand(v)
                     for k, v in enumerate(values)}  # fmt: skip
            out = [x.xreplace(named) for x in out]
    return out


def order_groups(pairs: Iterable[tuple[Expr, Expr]]) -> list[tuple[Expr, Expr, int]]:
    """(lowest order, argument, how far the orders reach beyond it) of orders and arguments."""
    groups: list[tuple[Expr, Expr, list[int]]] = []
    for order, at in sorted(pairs, key=sp.default_sort_key):
        for first, there, steps in groups:
            step = sp.expand(order - first)
            if there == at and step.is_Integer:
                steps.append(int(step))
                break
        else:
            groups.append((order, at, [0]))
    return [(sp.expand(o + min(s)), at, max(s) - min(s)) for o, at, s in groups]


def besselk_values(order: Expr, at: Expr, reach: int, one: Expr, two: Expr) -> list[Expr]:
    """K_ν, …, K_{ν+reach} in terms of the first two: K_{ν+k+1} = K_{ν+k−1} + 2(ν+k)/z K_{ν+k}."""
    values = [one, two]
    for k in range(1, reach):
        values.append(values[k - 1] + 2 * (order + k) / at * values[k])
    return values
