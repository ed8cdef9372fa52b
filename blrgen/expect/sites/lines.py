"""A function of latents as a function of one linear predictor.

log(1 + exp(Σ_i w_i x_i + 2))    →    u = Σ_i w_i x_i,   f(u) = log(1 + exp(u + 2))
(h − a) exp(−h)                  →    u = h,             f(u) = (u − a) exp(−u)
"""

from __future__ import annotations

from fractions import Fraction

from blrgen.algebra.indexed.build import (
    add,
    multiplied,
    power,
    rebuilt,
    scaled,
    subtracted,
    summed,
    symbol,
)
from blrgen.algebra.indexed.functions import exp, plain
from blrgen.algebra.indexed.normal import collected, normal
from blrgen.algebra.indexed.values import ONE, ZERO, Atom, Expression, Index, Symbol, Term
from blrgen.expect.blocks.templates import holds

Names = frozenset[str]


def lines_of(e: Expression, names: Names) -> tuple[Expression, ...]:
    """The different linear forms of latents that an expression is a function of."""
    found: dict[str, Expression] = {}
    _collect(e, names, found)
    return tuple(found.values())


def _collect(e: Expression, names: Names, found: dict[str, Expression]) -> None:
    own = [(t, c) for t, c in e.terms if any(holds(a, names) for a, _ in t.factors)]
    if not own:
        return
    if all(is_linear(t, names) for t, _ in own):
        line = unit(Expression(tuple(own)))
        found.setdefault(line.key, line)
        return
    for t, _ in own:
        for a, _ in t.factors:
            if not holds(a, names):
                continue
            if a.kind == "symbol":
                one = collected(normal(Fraction(1), [(a, Fraction(1))], ()))
                found.setdefault(one.key, one)
            for inner in a.arguments:
                _collect(inner, names, found)


def is_linear(t: Term, names: Names) -> bool:
    """Whether a term has one latent, itself and to the power 1."""
    own = [(a, p) for a, p in t.factors if holds(a, names)]
    return len(own) == 1 and own[0][0].kind == "symbol" and own[0][1] == 1


def unit(e: Expression) -> Expression:
    """The form with 1 for the number of its first term."""
    return scaled(e, 1 / e.terms[0][1])


def in_line(
    e: Expression, names: Names, line: Expression, variable: Symbol, inner: Index | None = None
) -> Expression | None:
    """The expression with the variable for the predictor; None where latents are left.

    A predictor whose elements are summed over has one at the letter `inner`.
    """
    own = [(t, c) for t, c in e.terms if any(holds(a, names) for a, _ in t.factors)]
    if not own:
        return e
    rest = [(t, c) for t, c in e.terms if (t, c) not in own]
    if all(is_linear(t, names) for t, _ in own):
        whole = Expression(tuple(own))
        if unit(whole) == line:
            return add(
                Expression(tuple(rest)), scaled(_at(variable, inner), own[0][1] / _lead(line))
            )
    found = [Expression(tuple(rest))]
    for t, c in own:
        one = _term(t, c, names, line, variable, inner)
        if one is None:
            return None
        found.append(one)
    return add(*found)


def _at(variable: Symbol, inner: Index | None) -> Expression:
    return symbol(variable) if inner is None else symbol(variable, inner)


def _lead(line: Expression) -> Fraction:
    return line.terms[0][1]


def _term(
    t: Term, c: Fraction, names: Names, line: Expression, variable: Symbol, inner: Index | None
) -> Expression | None:
    """One term; what it sums over may stand beside functions of the predictor, not inside.

    The elements of a predictor are summed over inside.
    """
    sums = [r for r in t.bound if any(r.index in a.letters for a, _ in t.factors
                                      if holds(a, names))]  # fmt: skip
    if any(r.index != inner for r in sums):
        return None
    made = ONE
    kept: list[tuple[Atom, Fraction]] = []
    for a, p in t.factors:
        if not holds(a, names):
            kept.append((a, p))
            continue
        value = _atom(a, names, line, variable, inner)
        if value is None:
            return None
        made = multiplied(made, power(value, p))
    if sums and len(sums) == len(t.bound):
        (r,) = sums
        whole = multiplied(collected(normal(c, kept, ())), made)
        return summed(whole, r.index, r.low, r.high)
    return None if sums else multiplied(collected(normal(c, kept, t.bound)), made)


def _atom(
    a: Atom, names: Names, line: Expression, variable: Symbol, inner: Index | None
) -> Expression | None:
    if a.kind == "symbol":
        one = collected(normal(Fraction(1), [(a, Fraction(1))], ()))
        return _at(variable, inner) if one == line else None
    found = [in_line(e, names, line, variable, inner) for e in a.arguments]
    ready = tuple(e for e in found if e is not None)
    return rebuilt(a, ready) if len(ready) == len(found) else None


def by_levels(e: Expression) -> Expression:
    """Shares eˣ/Σeʸ as exp(x − log Σeʸ): nothing overflows."""
    found = [ZERO]
    for t, c in e.terms:
        levels = ZERO
        kept: list[tuple[Atom, Fraction]] = []
        for a, p in t.factors:
            sums = a.kind == "sum" and p < 0 and all(_positive(x) for x, _ in a.arguments[0].terms)
            if sums:
                levels = add(levels, scaled(plain("log", a.arguments[0]), p))
            elif a.kind == "function" and a.name == "exp":
                levels = add(levels, scaled(a.arguments[0], p))
            else:
                kept.append((a, p))
        if t.bound:
            return e
        rest = collected(normal(c, kept, ()))
        found.append(multiplied(rest, plain("exp", levels)) if levels else rest)
    return add(*found)


def tailed(e: Expression) -> Expression:
    """Logarithms that have a value, and derivatives, far out.

    log(1 ± erf x) by log erfc(∓x), where erf is ±1 to the last digit; log(eˣ − …) as
    x + log(1 − …e⁻ˣ), where eˣ is too large.
    """
    found = [ZERO]
    for t, c in e.terms:
        made = ONE
        kept: list[tuple[Atom, Fraction]] = []
        for a, p in t.factors:
            inside = _beside_one(a)
            other = plain("log_erfc", inside) if inside is not None else _led(a)
            if other is None:
                kept.append((a, p))
            else:
                made = multiplied(made, power(other, p))
        found.append(multiplied(collected(normal(c, kept, t.bound)), made))
    return add(*found)


def _led(a: Atom) -> Expression | None:
    """x + log(1 − …e⁻ˣ) for log(eˣ − …): the only term that is positive is the greatest."""
    if a.kind != "function" or a.name != "log" or len(a.arguments[0].terms) < 2:
        return None
    inside = a.arguments[0]
    above = [(t, c) for t, c in inside.terms if c > 0]
    if len(above) != 1 or any(not _positive(t) for t, _ in inside.terms):
        return None
    (top, c) = above[0]
    if c != 1 or top.bound or [x.name for x, _ in top.factors] != ["exp"]:
        return None
    ((e, p),) = top.factors
    high = scaled(e.arguments[0], p)
    return add(high, plain("log", multiplied(inside, exp(scaled(high, -1)))))


def _positive(t: Term) -> bool:
    """Whether a term is a product of exponentials."""
    return all(x.kind == "function" and x.name == "exp" for x, _ in t.factors)


def _beside_one(a: Atom) -> Expression | None:
    """∓x of log(1 ± erf x)."""
    if a.kind != "function" or a.name != "log" or len(a.arguments[0].terms) != 2:
        return None
    for t, c in a.arguments[0].terms:
        rest = subtracted(a.arguments[0], Expression(((t, c),)))
        if rest == ONE and abs(c) == 1 and len(t.factors) == 1 and not t.bound:
            (inner, p) = t.factors[0]
            if inner.kind == "function" and inner.name == "erf" and p == 1:
                return scaled(inner.arguments[0], -c)
    return None
