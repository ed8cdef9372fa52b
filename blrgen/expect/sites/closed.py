"""E[f(u)] under N(m, v) where it is an expression in m and v.

E[uᵖ exp(cu + d)] = exp(cm + ½c²v + d) E[wᵖ],  w ~ N(m + cv, v)
E|u| = √(2v/π) exp(−m²/(2v)) + m erf(m/√(2v))
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from blrgen.algebra.indexed.build import add, multiplied, power, scaled, subtracted, symbol
from blrgen.algebra.indexed.functions import exp, pi, plain
from blrgen.algebra.indexed.normal import collected, normal
from blrgen.algebra.indexed.values import ONE, ZERO, Atom, Expression, Symbol, Term
from blrgen.expect.blocks.templates import holds

MOST = 12  # the degree of a polynomial


def centre(variable: Symbol) -> Symbol:
    """m, the mean of the predictor."""
    return Symbol(f"{variable.name}_m", known=True)


def spread(variable: Symbol) -> Symbol:
    """v, its variance."""
    return Symbol(f"{variable.name}_v", known=True, lower=Fraction(0))


def closed(function: Expression, variable: Symbol) -> tuple[Expression | None, str]:
    """(E[f], "") in m and v; (None, why not)."""
    parts = []
    for term, c in function.terms:
        part = _term(term, c, variable)
        if part is None:
            return None, "no moment, no exponential of a linear form, no |u|"
        parts.append(part)
    return add(*parts), ""


def _term(term: Term, c: Fraction, variable: Symbol) -> Expression | None:
    """One term: what is known, times a power, times one function of the predictor."""
    name = frozenset([variable.name])
    kept: list[tuple[Atom, Fraction]] = []
    degree, rate, found = 0, ZERO, ONE
    for a, p in term.factors:
        if not holds(a, name):
            kept.append((a, p))
        elif a.kind == "symbol" and p.denominator == 1 and 0 < p <= MOST:
            degree = int(p)
        elif a.name == "exp" and a.kind == "function" and rate == ZERO:
            split = _linear(scaled(a.arguments[0], p), variable)
            if split is None:
                return None
            rate, shift = split
            found = exp(shift)
        elif a.name == "abs" and a.kind == "function" and p == 1 and len(term.factors) == 1:
            return _absolute(a.arguments[0], c, variable) if not term.bound else None
        else:
            return None
    outside = collected(normal(c, kept, term.bound))
    return multiplied(outside, found, _moment(degree, rate, variable))


def _linear(e: Expression, variable: Symbol) -> tuple[Expression, Expression] | None:
    """(c, d) of cu + d."""
    from blrgen.algebra.indexed.calculus import partial

    rate = partial(e, variable.name, ())
    if variable.name in rate.symbols():
        return None
    return rate, subtracted(e, multiplied(rate, symbol(variable)))


def _moment(degree: int, rate: Expression, variable: Symbol) -> Expression:
    """E[uᵖ exp(cu)]."""
    m, v = symbol(centre(variable)), symbol(spread(variable))
    level = add(multiplied(rate, m), scaled(multiplied(power(rate, 2), v), Fraction(1, 2)))
    whole = exp(level) if rate else ONE
    middle = add(m, multiplied(rate, v)) if rate else m
    total = [
        scaled(multiplied(power(middle, degree - 2 * k), power(v, k)),
               comb(degree, 2 * k) * _double(2 * k - 1))
        for k in range(degree // 2 + 1)
    ]  # fmt: skip
    return multiplied(whole, add(*total))


def _double(k: int) -> int:
    """1·3·5 … k."""
    return k * _double(k - 2) if k > 1 else 1


def _absolute(inner: Expression, c: Fraction, variable: Symbol) -> Expression | None:
    """E|au + b|."""
    split = _linear(inner, variable)
    if split is None or split[0].number is None:
        return None
    rate, shift = split
    m = add(multiplied(rate, symbol(centre(variable))), shift)
    v = multiplied(power(rate, 2), symbol(spread(variable)))
    half = multiplied(power(m, 2), power(scaled(v, 2), -1))
    tail = multiplied(power(scaled(v, 2), Fraction(1, 2)), power(pi(), Fraction(-1, 2)),
                      exp(scaled(half, -1)))  # fmt: skip
    body = multiplied(m, plain("erf", multiplied(m, power(scaled(v, 2), Fraction(-1, 2)))))
    return scaled(add(tail, body), c)
