"""Sums over components of 1/ψ′ that cancel against what they are sums of.

With 1/ψ′(x) = x − gap(x), gap(x) = x (ψ′(x) − 1/x)/ψ′(x) between 0 and ½, the determinant of
such a metric loses what it is made of for large x,

    1 − ψ′(Σa) Σ 1/ψ′(a) = ψ′(Σa) (Σ gap(a) − gap(Σa)),

while for small x the left side keeps its digits and the right one does not.  The form with
the smaller terms is taken, when it is computed.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.components import total, varies

Expr = Any


class trigamma_gap(sp.Function):  # type: ignore[misc]
    """x − 1/ψ′(x)."""

    nargs = 1
    is_real = True
    is_positive = True


class steadier(sp.Function):  # type: ignore[misc]
    """Its first argument, which is its second as well: where the third is below the fourth."""

    nargs = 4
    is_real = True


def gaps_of_totals(x: Expr) -> Expr:
    """A number made from sums over components, in the form that keeps its digits."""
    if not x.is_Add or varies(x) or not any(_inverse(t) for t in x.atoms(total)):
        return x
    letters: dict[Expr, Expr] = {}  # gaps, by their letters
    opened = _opened(x, letters)
    top, bottom = sp.fraction(sp.cancel(sp.together(opened)))
    try:
        polynomial = sp.Poly(sp.expand(top), *letters.values())
    except sp.PolynomialError:
        return x
    if polynomial.as_dict().get((0,) * len(letters), sp.S.Zero) != 0:
        return x
    back = {v: k for k, v in letters.items()}
    plain = {v: _plain(k) for k, v in letters.items()}
    terms = [a.xreplace(back) for a in sp.Add.make_args(polynomial.as_expr())]
    divisor = sp.factor_terms(sp.cancel(bottom.xreplace(plain)))
    new = sp.Add(*terms) / divisor
    if len({a.is_positive for a in terms}) == 1 and terms[0].is_positive is not None:
        return new
    size = sp.Add(*[sp.Abs(a) for a in terms])
    before = sp.Add(*[sp.Abs(a) for a in x.args]) * sp.Abs(divisor)
    return steadier(new, x, size, before)


def _inverse(t: Expr) -> bool:
    """Whether t is Σ c/ψ′(a)."""
    return bool(t.args[0].is_Pow and t.args[0].exp == -1 and _argument(t.args[0].base) is not None)


def _argument(x: Expr) -> Expr | None:
    """a of ψ′(a)."""
    return x.args[1] if isinstance(x, sp.polygamma) and x.args[0] == 1 else None


def _opened(x: Expr, letters: dict[Expr, Expr]) -> Expr:
    """1/ψ′(a) as a − gap(a), outside of sums and in them."""
    if isinstance(x, total) and _inverse(x):
        a = _argument(x.args[0].base)
        gap = total(trigamma_gap(a), x.args[1])
        return total(a, x.args[1]) - letters.setdefault(gap, sp.Dummy("g", positive=True))
    a = _argument(x)
    if a is not None and not varies(a):
        return 1 / (a - letters.setdefault(trigamma_gap(a), sp.Dummy("g", positive=True)))
    if isinstance(x, total) or not x.args:
        return x
    return x.func(*[_opened(a, letters) for a in x.args])


def _plain(gap: Expr) -> Expr:
    """A gap, or a sum of gaps, by ψ′."""
    return gap.replace(trigamma_gap, lambda a: a - 1 / sp.polygamma(1, a))
