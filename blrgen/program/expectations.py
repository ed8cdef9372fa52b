"""Expectations without a closed form, as quadrature in one variable t on the whole line.

    E_q[f] = Σ f w / Σ w,   w = exp(log h(x) + ⟨λ, T(x)⟩ + log dx/dt),   x = x(t)

x = sinh t on the line, end ± exp(sinh t) on a half-line, end + width · σ(sinh t) on an
interval; where the exponent has a kink the support is cut there.  On the integers t is x
itself.  The logarithm of the distance to an end is sinh t: a density that falls off as a
tiny power of that distance has its mass within a few tens of t, and nothing overflows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import sympy as sp

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.numbers.nodes import covariance_class

Expr = Any
T = sp.Symbol("t", real=True)


def with_covariances(x: Expr) -> Expr:
    """E[f g] − E[f] E[g] as one covariance, which keeps its digits, in every sum."""
    from blrgen.algebra.nodes import Numeric

    if not x.args or not x.has(Numeric):
        return x
    args = [with_covariances(a) for a in x.args]
    x = x.func(*args) if args != list(x.args) else x
    return _paired(x, Numeric) if x.is_Add else x


def _paired(x: Expr, numeric: Any) -> Expr:
    """E[f g] = Cov[f, g] + E[f] E[g] in a sum, where that leaves fewer terms.

    f and g are statistics; those E[f g] that are themselves a statistic's come last.
    """
    for own in (False, True):
        found = sorted(filter(_is_mean, x.atoms(numeric)), key=sp.default_sort_key)
        basic = [e for e in found if e.integrand in e.family.statistics]
        joints = [e for e in found if (e in basic) == own]
        x = _opened(x, basic, joints)
    return x


def _opened(x: Expr, basic: list[Expr], joints: list[Expr]) -> Expr:
    names: dict[Expr, Expr] = {}
    opened: dict[Expr, Expr] = {}
    for i, a in enumerate(basic):
        for b in basic[i:]:
            joint = _joint(joints, a, b)
            if joint is not None and joint not in opened:
                c = sp.Dummy("c", real=True)
                names[c] = covariance_class(a.family, a.integrand, b.integrand)(*a.args)
                opened[joint] = c + a * b
    touched = [a for a in x.args if a.has(*basic, *joints)] if x.is_Add and opened else []
    new = sp.expand(sp.Add(*touched).xreplace(opened))
    if len(sp.Add.make_args(new)) >= len(touched):
        return x
    others = [a for a in x.args if a not in touched]
    return sp.Add(*others, sp.factor_terms(new).xreplace(names))


def _is_mean(x: Expr) -> bool:
    return x.integrand is not None


def _joint(found: list[Expr], a: Expr, b: Expr) -> Expr | None:
    """The node E[f g] of E[f] and E[g], if it is there."""
    if a.args != b.args or a.family.statistics != b.family.statistics:
        return None
    product = sp.expand(a.integrand * b.integrand)
    for node in found:
        if node.args == a.args and sp.expand(node.integrand - product) == 0:
            return node
    return None


# the density in t --------------------------------------------------------------------------
def change_of_variable(family: Family) -> list[tuple[Expr, Expr, Any]]:
    """(x(t), log dx/dt, how logarithms of x are written in t), one for each part."""
    support = family.support
    x = family.variable
    if support.kind == "integers":
        return [(T, sp.S.Zero, lambda e: e)]
    if support.kind != "interval":
        raise UserError(
            f"no target can average over {support.text}",
            where=family.path,
            how="quadrature in emitted code is for intervals and integers",
        )
    cuts = [support.lower, *kinks(family), support.upper]
    return [_part(x, low, high) for low, high in pairwise(cuts)]


def kinks(family: Family) -> list[Expr]:
    """Where |·| in the declaration has its kink, inside the support."""
    x, found = family.variable, set()
    for e in (*family.statistics, sp.sympify(family.base_measure)):
        for a in e.atoms(sp.Abs):
            inner = sp.expand(a.args[0])
            if inner.is_polynomial(x) and sp.degree(inner, x) == 1:
                found.add(-inner.coeff(x, 0) / inner.coeff(x, 1))
    low, high = family.support.lower, family.support.upper
    inside = [p for p in found if p.is_number and low < p < high]
    return sorted(inside, key=lambda p: float(p))


def _part(x: Expr, low: Expr, high: Expr) -> tuple[Expr, Expr, Any]:
    """A line, a half-line or an interval."""
    far, log_cosh = sp.sinh(T), sp.log(2 * sp.cosh(T)) - sp.log(2)
    if low == -sp.oo and high == sp.oo:
        return far, log_cosh, lambda e: e
    if low == -sp.oo or high == sp.oo:
        end, sign = (low, 1) if high == sp.oo else (high, -1)
        known = [(sign * (x - end), far)]
        return end + sign * sp.exp(far), far + log_cosh, _logs(x, known)
    width = high - low
    left, right = -sp.log(1 + sp.exp(-far)), -sp.log(1 + sp.exp(far))
    log_width = sp.log(width) if width != 1 else sp.S.Zero
    place = low + width / (1 + sp.exp(-far))
    known = [(x - low, log_width + left), (high - x, log_width + right)]
    return place, log_width + left + right + log_cosh, _logs(x, known)


def _logs(x: Expr, known: list[tuple[Expr, Expr]]) -> Any:
    """Logarithms and powers of the distances to the ends, in t."""

    def change(e: Expr) -> Expr:
        def log_of(argument: Expr) -> Expr:
            for distance, value in known:
                ratio = sp.cancel(argument / distance)
                if not ratio.has(x):
                    return sp.log(ratio) + value if ratio != 1 else value
            return sp.log(argument)

        def power(base: Expr, exponent: Expr) -> Expr:
            if base.has(x) and not (exponent.is_Integer and exponent > 0):
                for distance, value in known:
                    if sp.expand(base - distance) == 0:
                        return sp.exp(exponent * value)
            return base**exponent

        e = e.replace(sp.log, log_of)
        return e.replace(sp.Pow, power)

    return change


def log_weights(family: Family) -> list[tuple[Expr, Expr]]:
    """(log w(t), x(t)) for each part of the support."""
    from blrgen.algebra.ring import ring_of
    from blrgen.geometry.integrate import exponent_of

    exponent = sp.expand(exponent_of(family, ring_of(family)))
    found = []
    for place, jacobian, change in change_of_variable(family):
        inside = change(exponent).xreplace({family.variable: place}) + jacobian
        found.append((inside, place))
    return found


def in_t(family: Family, f: Expr) -> list[Expr]:
    """A function of the variable as one of t, for each part."""
    return [
        change(sp.expand(f)).xreplace({family.variable: place})
        for place, _, change in change_of_variable(family)
    ]
