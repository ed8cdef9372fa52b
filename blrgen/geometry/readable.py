"""Forms that a person would write: the same value, the shortest of a few spellings.

Nothing is simplified by search: sums are expanded, rational parts are put over a common
denominator, and terms are collected at the functions they share.  What has the fewest
operations is kept.  Every step holds wherever the logarithms in it are real.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import sympy as sp

from blrgen.algebra.width import WIDE, width

Expr = Any
_LARGE = 160  # operations beyond which common denominators are not looked for


def readable(e: Expr) -> Expr:
    """The shortest of: as given, expanded, collected at its functions, rational parts joined."""
    return _readable(sp.sympify(e))


def multiplied_out(e: Expr) -> Expr:
    """Expanded, but eᵃ⁺ᵇ stays one power; as it is where that would be a page of terms."""
    return sp.expand(e, power_exp=False, power_base=False) if width(e) <= WIDE else e


@lru_cache(maxsize=512)
def _readable(e: Expr) -> Expr:
    if not e.is_commutative or e.is_number or e.is_Symbol:
        return e
    e = inside(e)
    if sp.count_ops(e) > 4 * _LARGE or width(e) > WIDE:
        return e
    open_ = multiplied_out(e)
    if rational(e):
        return min((e, open_, joined(open_), _joined(e)), key=_cost)
    plain = sp.Add(*[t for t in sp.Add.make_args(open_) if rational(t)])
    rest = collected(open_ - plain)
    return min((e, open_, joined(plain) + rest), key=_cost)


def _cost(e: Expr) -> int:
    return int(sp.count_ops(e))  # the first of equals is kept


def inside(e: Expr) -> Expr:
    """The arguments of functions, each in its shortest rational form."""
    found = {}
    for f in e.atoms(sp.Function):
        if len(f.args) == 1 and f.args[0].args and rational(f.args[0]):
            shorter = min((f.args[0], _joined(f.args[0])), key=_cost)
            if shorter != f.args[0] or isinstance(f, sp.log):
                found[f] = _log(shorter) if isinstance(f, sp.log) else f.func(shorter)
    return e.xreplace(found) if found else e


def _log(x: Expr) -> Expr:
    """log x, and −log(±d) + log|n| for x = n/d with a number n."""
    n, d = sp.fraction(x)
    if not n.is_Rational or n == 0 or d.is_number:
        return sp.log(x)
    return sp.log(abs(n)) - sp.log(d if n > 0 else -d)


def weighted(e: Expr, a: Expr) -> Expr:
    """Sums that are affine in the weight a as a·(…) + (1 − a)·(…), throughout."""
    if not e.has(a) or not e.args:
        return e
    if e.is_Add and rational(e):
        none, all_ = e.subs(a, 0), e.subs(a, 1)
        affine = sp.expand(e - a * all_ - (1 - a) * none) == 0
        if affine and none != 0 and all_ != 0 and not none.is_number and not all_.is_number:
            return a * sp.factor(all_) + (1 - a) * sp.factor(none)
    return e.func(*[weighted(x, a) for x in e.args])


def rational(e: Expr) -> bool:
    """Whether e is a rational function of its symbols."""
    return not e.atoms(sp.Function) and all(p.exp.is_Integer for p in e.atoms(sp.Pow))


@lru_cache(maxsize=2048)
def _joined(e: Expr) -> Expr:
    return sp.factor(sp.together(e)) if sp.count_ops(e) <= _LARGE else e


def joined(e: Expr) -> Expr:
    """The terms without functions over a common denominator; the others as they are."""
    terms = sp.Add.make_args(e)
    plain = [t for t in terms if rational(t)]
    rest = [t for t in terms if not rational(t)]
    if len(plain) < 2:
        return e
    whole = sp.Add(*plain)
    constant, moving = whole.as_independent(*whole.free_symbols, as_Add=True)
    square, left = _squared(moving)
    options = (whole, _joined(whole), constant + _joined(moving), constant + square + _joined(left),
               constant + square + left)  # fmt: skip
    return min(options, key=_cost) + sp.Add(*rest)


def _squared(e: Expr) -> tuple[Expr, Expr]:
    """(Σ c(x ± y)², what is left) of an expanded sum."""
    found, left = sp.S.Zero, e
    names = sorted(e.free_symbols, key=lambda x: x.name)
    for i, x in enumerate(names):
        for y in names[i + 1 :]:
            c, cross = left.coeff(x, 2), left.coeff(x, 1).coeff(y, 1)
            if c == 0 or c.has(y) or left.coeff(y, 2) != c or cross**2 != 4 * c**2:
                continue
            sign = 1 if cross == 2 * c else -1
            found += c * (x + sign * y) ** 2
            left = sp.expand(left - c * (x + sign * y) ** 2)
    return found, left


def collected(e: Expr) -> Expr:
    """Terms that share a function brought together, as in (a − b)ψ(a)."""
    groups: dict[Expr, Expr] = {}
    rest = []
    for term in sp.Add.make_args(e):
        functions = [f for f in sp.Mul.make_args(term) if f.atoms(sp.Function)]
        if functions:
            key = sp.Mul(*functions)
            groups[key] = groups.get(key, 0) + term / key
        else:
            rest.append(term)
    return sp.Add(*[_product(c, k) for k, c in groups.items()], *rest)


def _product(c: Expr, function: Expr) -> Expr:
    """c·function; a sum c joined, so that it stays one factor."""
    if c.is_Add or (rational(c) and any(p.base.is_Add for p in c.atoms(sp.Pow))):
        c = min((_joined(c), c), key=_cost)
    return c * function


def opened(e: Expr, point: Mapping[Expr, Expr]) -> Expr:
    """e with hyperbolic functions, logarithms and powers opened up, where that is shorter."""
    whole = readable(e)
    if not e.atoms(sp.log, sp.exp):
        return whole
    terms = spread(exponentials(e), point)
    return min((whole, readable(sp.Add(*map(_lowest, sp.Add.make_args(terms))))), key=_cost)


def _lowest(e: Expr) -> Expr:
    """In lowest terms where e holds no functions but powers."""
    return e if e.atoms(sp.Function) or rational(e) else sp.factor(sp.together(e))


def exponentials(e: Expr) -> Expr:
    """Hyperbolic functions in exponentials, their inverses in logarithms: both open up."""
    e = e.rewrite(sp.exp) if e.has(sp.cosh, sp.sinh, sp.tanh) else e
    return e.rewrite(sp.log) if e.has(sp.atanh, sp.asinh, sp.acosh) else e


def spread(e: Expr, point: Mapping[Expr, Expr]) -> Expr:
    """Logarithms and roots of products opened up, sums multiplied out: comparable terms.

    A factor is turned positive where it is negative at `point`, an interior point of the
    domain: log x = Σ k log|f| for the factors of x.
    """
    return multiplied_out(_spread(sp.sympify(e), point))


def open_log(x: Expr, point: Mapping[Expr, Expr]) -> Expr:
    """log|x| as terms, for an x that keeps its sign on a domain that holds the point."""
    return sp.expand(sp.Add(*[k * sp.log(f) for f, k in _factors(_spread(x, point), point)]))


def _spread(e: Expr, point: Mapping[Expr, Expr]) -> Expr:
    if not e.args or not e.atoms(sp.log, sp.exp, sp.Pow):
        return e
    inner = [_spread(a, point) for a in e.args]
    if isinstance(e, sp.log):
        return sp.Add(*[k * sp.log(f) for f, k in _factors(inner[0], point)])
    if e.is_Pow and not e.exp.is_Integer and not e.base.is_number:
        return sp.Mul(*[f ** (k * inner[1]) for f, k in _factors(inner[0], point)])
    if isinstance(e, sp.exp):
        return _exponential(sp.expand(inner[0]))
    return e.func(*inner)


def _exponential(e: Expr) -> Expr:
    """exp(k log f + r) as fᵏ exp(r)."""
    powers, rest = sp.S.One, sp.S.Zero
    for term in sp.Add.make_args(e):
        logs = [f for f in sp.Mul.make_args(term) if isinstance(f, sp.log)]
        if len(logs) == 1:
            powers *= logs[0].args[0] ** (term / logs[0])
        else:
            rest += term
    return powers * sp.exp(rest)


def _factors(x: Expr, point: Mapping[Expr, Expr]) -> list[tuple[Expr, Expr]]:
    """(|f|, k) for the factors fᵏ of a positive x."""
    found = []
    for part in sp.Mul.make_args(sp.factor(sp.together(x))):
        base, power = part.as_base_exp() if not isinstance(part, sp.exp) else (part, sp.S.One)
        if base == -1:
            continue
        if base.is_Rational and base < 0:
            base = -base
        value = sp.N(base.subs(point))
        found.append((-base if value.is_real and value < 0 else base, power))
    return found or [(sp.S.One, sp.S.One)]


def shifted(e: Expr) -> Expr:
    """log Γ(a + n) beside log Γ(a) as log Γ(a) + log a + … + log(a + n − 1)."""
    found: dict[Expr, Expr] = {}
    calls = sorted(e.atoms(sp.loggamma), key=lambda f: (sp.count_ops(f), str(f)))
    for i, f in enumerate(calls):
        for g in calls[:i]:
            gap = sp.expand(f.args[0] - g.args[0])
            if gap.is_Integer and 0 < abs(gap) <= 8 and f not in found:
                a, n = (g.args[0], int(gap)) if gap > 0 else (f.args[0], -int(gap))
                logs = sp.Add(*[sp.log(a + k) for k in range(n)])
                found[f] = g + logs if gap > 0 else g - logs
    return e.xreplace(found)
