"""Bessel functions K and their derivatives, in ratios and variances that keep their digits.

R = K_{ν+1}/K_ν, C = ∂R/∂ν.  A sum with R² is written with one of

    1 + 2(ν+1)R/z − R²,   R² − 2νR/z − 1,   1 + (2ν+1)R/z − R²,   1 + (2ν+1)R/z − R² − ν/z²

for ν or for −ν, whichever leaves the fewest terms: variances and covariances of the law
exp(νt − z cosh t), of which the textbook forms are small differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from blrgen.algebra import named
from blrgen.algebra.nodes import Numeric
from blrgen.algebra.spelling import besselk_values, order_groups
from blrgen.geometry.integrate.bessel import log_of_law, order_power, order_slope
from blrgen.geometry.numbers.nodes import Covariance

Expr = Any
_ONE, _R, _C, _Z = (sp.Dummy(x, positive=True) for x in ("K", "R", "C", "z"))
_E = sp.Dummy("E", real=True)


def besselk_forms(x: Expr) -> Expr:
    """An expression in which no K is left."""
    x = x.replace(
        lambda e: isinstance(e, sp.log) and e.has(sp.besselk),
        lambda e: sp.expand_log(e, force=True),
    ).replace(
        lambda e: isinstance(e, sp.log) and isinstance(e.args[0], sp.besselk),
        lambda e: named.log_besselk(*e.args[0].args),
    )  # fmt: skip
    x = _variances(x)
    for order, at, reach in orders(x):
        values = _values(order, at, reach)
        x = x.xreplace(values)
        inside = _in_one_letter(at)
        if inside:  # powers of the argument as powers of one letter
            x = x.xreplace({at: _Z}).xreplace(inside)
        x = _sums(x, order, _Z if inside else at)
        x = x.xreplace(_names(order, _Z if inside else at)).xreplace({_Z: at})
        x = x.xreplace({_ONE: sp.exp(named.log_besselk(order, at))})
    return x


def _in_one_letter(at: Expr) -> dict[Expr, Expr]:
    """A symbol in terms of the argument z, where z² is linear in it: b = z²/4a for z = 2√(ab)."""
    square = sp.expand(at**2)
    for v in sorted(square.free_symbols, key=lambda s: str(s.name), reverse=True):
        slope = sp.diff(square, v)
        if not slope.has(v) and not at.is_Symbol:
            return {v: (_Z**2 - square.subs(v, 0)) / slope}
    return {}


def orders(*exprs: Expr) -> list[tuple[Expr, Expr, int]]:
    """(lowest order, argument, how far the orders reach beyond it) of K and of its law."""
    pairs: set[tuple[Expr, Expr]] = set()
    for x in exprs:
        pairs |= {f.args for f in x.atoms(sp.besselk)}
        pairs |= {e.args for e in x.atoms(Numeric) if order_power(e)}
    return order_groups(pairs)


def is_concerned(x: Expr) -> bool:
    """Whether there is a K in the expression, or a variance under its law."""
    return bool(orders(x)) or (x.has(Covariance) and _variances(x) != x)


def _variances(x: Expr) -> Expr:
    """Var[log x] of the law of K."""
    log, statistics = log_of_law()
    found = {
        c: named.besselk_order_variance(*c.args)
        for c in x.atoms(Covariance)
        if type(c).family.statistics == statistics and type(c).pair == (log, log)
    }
    return x.xreplace(found)


def _values(order: Expr, at: Expr, reach: int) -> dict[Expr, Expr]:
    """K_ν, …, K_{ν+reach} and ∂log K of the first two, in the letters."""
    values = besselk_values(order, at, reach, _ONE, _ONE * _R)
    found = {sp.besselk(sp.expand(order + k), at): v for k, v in enumerate(values)}
    found[order_slope(order, at)] = _E
    found[order_slope(sp.expand(order + 1), at)] = _E + _C / _R
    for k in range(2, reach + 1):
        above = sp.expand(order + k)
        found[order_slope(above, at)] = named.besselk_order(above, at)
    return found


def _names(order: Expr, at: Expr) -> dict[Expr, Expr]:
    return {
        _R: named.besselk_ratio(order, at),
        _C: named.besselk_order_slope(order, at),
        _E: named.besselk_order(order, at),
    }


def _sums(x: Expr, order: Expr, at: Expr) -> Expr:
    """Every sum with K in it in the shortest of its forms, multiplied out."""
    if not x.args or not x.has(_ONE, _R, _C, _E):
        return x
    if not x.is_Add:
        args = [_sums(a, order, at) for a in x.args]
        return x.func(*args) if args != list(x.args) else x
    opened = sp.expand(_below(x, order, at))
    powers = {t.as_powers_dict()[_ONE] for t in sp.Add.make_args(opened)}
    if len(powers) > 1:
        return opened
    common = _ONE ** powers.pop()
    inside = sp.expand(opened / common)
    return common * min(_forms(inside, order, at), key=_rank)


def _below(x: Expr, order: Expr, at: Expr) -> Expr:
    """A sum with what it cannot be multiplied out with, below a line or in a function, done."""
    if x.is_Add or x.is_Mul:
        return x.func(*[_below(a, order, at) for a in x.args])
    if x.is_Pow and x.exp.is_Integer and x.exp > 0:
        return x
    return _sums(x, order, at)


def _rank(x: Expr) -> int:
    return len(sp.Add.make_args(x))


def _forms(x: Expr, order: Expr, at: Expr) -> Iterator[Expr]:
    """The sum as it is, and with R² or C written through what keeps its digits."""
    yield x.xreplace(_names(order, at))
    for nu, mirrored in ((order, False), (-order, True)):
        y = x
        if mirrored:  # R(ν) = R(−ν) + 2ν/z, C(ν) = 2/z − C(−ν)
            if x.has(_E):
                continue
            y = sp.expand(x.xreplace({_R: _R + 2 * order / at, _C: 2 / at - _C}))
        names = _names(nu, at)
        for square in _squares(nu, at) if y.has(_R**2) or mirrored else ():
            yield sp.expand(_reduced(y, square(_R))).xreplace(names)
        if y.has(_C):
            yield y.xreplace(names)
            tilt = named.besselk_tilt(nu, at)
            yield sp.expand(y.xreplace({_C: tilt + 1 / at})).xreplace(names)


def _squares(nu: Expr, at: Expr) -> tuple[Callable[[Expr], Expr], ...]:
    """R² in terms of R and a covariance."""
    return (
        lambda r: 1 + 2 * (nu + 1) * r / at - named.besselk_spread(nu, at),
        lambda r: 1 + 2 * nu * r / at + named.besselk_turan(nu, at),
        lambda r: 1 + (2 * nu + 1) * r / at - nu / at**2 - named.besselk_curvature(nu, at),
        lambda r: 1 + (2 * nu + 1) * r / at - named.besselk_slope(nu, at),
    )


def _reduced(x: Expr, square: Expr) -> Expr:
    """A polynomial in R with its powers from the second on taken down."""
    while True:
        parts = sp.collect(sp.expand(x), _R, evaluate=False)
        high = [p for p in parts if p.as_powers_dict()[_R] >= 2]
        if not high:
            return x
        x = sp.Add(*[c * (p / _R**2 * square if p in high else p) for p, c in parts.items()])
