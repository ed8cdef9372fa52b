"""Stationarity equations that have a closed solution: by what the unknown is.

* an interval: g cleared of denominators is b − a x^m at every element;
* a simplex: x_k g_k = c_k is free of x, so x_k = c_k / Σ c (g = ν on the simplex);
* positive definite: g = α inv(X) + C, or inv(X)(αX + C)inv(X).
"""

from __future__ import annotations

from fractions import Fraction

from blrgen.algebra.indexed.build import (
    add,
    moved,
    multiplied,
    of_atom,
    power,
    put,
    scaled,
    subtracted,
    summed,
    symbol,
)
from blrgen.algebra.indexed.matrices import inverse
from blrgen.algebra.indexed.values import ZERO, Atom, Expression, Index, Symbol

Places = tuple[Index, ...]


def closed(s: Symbol, places: Places, kind: str, g: Expression) -> Expression | None:
    """x with g(x) = 0, or None."""
    if not g:
        return None
    if kind == "simplex":
        return _on_simplex(s, places, g)
    if kind == "spd":
        return _definite(s, places, g)
    return _of_number(s, places, g)


def _on_simplex(s: Symbol, places: Places, g: Expression) -> Expression | None:
    c = multiplied(g, symbol(s, *places))
    if s.name in c.symbols():
        return None
    return multiplied(c, power(summed(c, places[-1]), -1))


def _of_number(s: Symbol, places: Places, g: Expression) -> Expression | None:
    """(b/a)^(1/m) where g, cleared of denominators, is b − a x^m, m = 1 or x positive."""
    cleared = _cleared(g, s.name)
    x = symbol(s, *places)
    constant = put(cleared, {s.name: lambda _: ZERO}) if _polynomial(cleared, s.name) else None
    if constant is None:
        return None
    rest = subtracted(cleared, constant)
    degrees = {p for t, _ in rest.terms for b, p in t.factors if b.name == s.name and b.symbol}
    if len(degrees) != 1 or not constant:
        return None
    degree = degrees.pop()
    a = scaled(multiplied(rest, power(x, -degree)), -1)
    if s.name in a.symbols() or not a or (degree != 1 and s.sign <= 0):
        return None
    return power(multiplied(constant, power(a, -1)), 1 / degree)


def _polynomial(e: Expression, name: str) -> bool:
    return not any(
        (p < 0 and name in of_atom(a).symbols()) or (a.arguments and name in of_atom(a).symbols())
        for t, _ in e.terms
        for a, p in t.factors
    )


def _cleared(g: Expression, name: str) -> Expression:
    """g times the powers of all atoms that hold x and stand below a line."""
    for _ in range(4):
        below: dict[Atom, Fraction] = {}
        for term, _ in g.terms:
            bound = {r.name for r in term.bound}
            for a, p in term.factors:
                inside = any(i.name in bound for i in a.letters)
                if p < 0 and not inside and name in of_atom(a).symbols():
                    below[a] = min(p, below.get(a, p))
        if not below:
            break
        from blrgen.algebra.indexed.build import divided

        g = divided(g, list(below.items()))
    return g


def _definite(s: Symbol, places: Places, g: Expression) -> Expression | None:
    """X from g = α inv(X) + C, or from X g X = αX + C."""
    *front, i, j = places
    inv = inverse(symbol(s, *places), i, j)
    alpha, c = _along(g, inv)
    if alpha is not None and alpha and s.name not in {*c.symbols(), *alpha.symbols()}:
        y = multiplied(scaled(c, -1), power(alpha, -1))
        return inverse(y, i, j)
    around = _between(s, tuple(front), i, j, g)
    alpha, c = _along(around, symbol(s, *places))
    if alpha is not None and alpha and s.name not in {*c.symbols(), *alpha.symbols()}:
        return multiplied(scaled(c, -1), power(alpha, -1))
    return None


def _along(e: Expression, unit: Expression) -> tuple[Expression | None, Expression]:
    """(α, C) with e = α unit + C."""
    ((term, _),) = unit.terms
    ((atom, _),) = term.factors
    held: list[Expression] = []
    free: list[Expression] = []
    for t, c in e.terms:
        own = [f for f in t.factors if f[0] == atom and f[1] == 1]
        (held if own else free).append(Expression(((t, c),)))
    if not held:
        return None, e
    alpha = multiplied(add(*held), power(unit, -1))
    return alpha, add(*free, ZERO)


def _between(s: Symbol, front: Places, i: Index, j: Index, g: Expression) -> Expression:
    """X g X, element by element."""
    a, b = Index(i.axis, "`a"), Index(i.axis, "`b")
    inner = moved(g, {i: a, j: b})
    product = multiplied(symbol(s, *front, i, a), inner, symbol(s, *front, b, j))
    return summed(summed(product, a), b)
