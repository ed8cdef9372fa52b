"""E[f(x)] of a normal variable x, by what can be integrated against exp(bx − ½Px²).

    f = Σ c xⁿ e^{q(x)}, q quadratic       E = e^{A(b + q₁, P − 2q₂) + q₀ − A(b, P)} E′[xⁿ]
    E[x f] = ∂_b E[f] + ∂_bA · E[f]        moments, of the moved density too
    sin, cos, sinh, cosh                   as exponentials, with imaginary q₁ for sin and cos
    sign, | |                              by erf: E[1_{x>0} eˣᵗ] and its derivatives

A is the integral of `geometry.integrate.gaussian`.  A tilt e^{q₂x²} is used where P − 2q₂ is
positive for every P; with q₂ > 0 the expectation is infinite for P ≤ 2q₂, and that is said.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient
from blrgen.algebra.ranks import T, trace
from blrgen.algebra.ring import Elementwise
from blrgen.algebra.width import width
from blrgen.algebra.words import normal
from blrgen.expect.exists import NoExpectation
from blrgen.geometry.integrate.gaussian import quadratic_integral

Expr = Any
_MOST = 12  # the degree of a polynomial, beyond which moments are long
_TERMS = 60  # of a function multiplied out
_WIDEST = 600  # before terms are collected
_WAVES = (sp.sin, sp.cos, sp.sinh, sp.cosh)


def gaussian_expectation(f: Expr, x: Expr, mean: Expr, precision: Expr) -> Expr | None:
    """E[f] in the mean and the precision; None where it is not found."""
    f = f.replace(lambda t: isinstance(t, sp.Max | sp.Min) and len(t.args) == 2, _by_size)
    f = f.replace(lambda t: isinstance(t, sp.Abs | sp.sign) and t.has(x), lambda t: _upward(t, x))
    turns = {t.args[0] for t in f.atoms(sp.sign, sp.Abs) if t.has(x)} - {x}
    if len(turns) == 1:
        return _turned(f, turns.pop(), x, mean, precision)
    b, p = sp.Symbol("b", real=True), sp.Symbol("p", positive=True)
    by_parts = _by_sign(f, x)
    found = _smooth(f, x, b, p) if by_parts is None else _with_sign(by_parts, x, b, p)
    if found is None:
        return None
    at = found.subs({b: p * mean}, simultaneous=True).subs(p, precision)
    return sp.expand(at) if not at.has(sp.exp, sp.erf) else _terms_tidied(at)


def _by_size(t: Expr) -> Expr:
    """max(a, b) = ½(a + b + |a − b|), min with a minus."""
    a, b = t.args
    return (a + b + (1 if isinstance(t, sp.Max) else -1) * sp.Abs(sp.expand(a - b))) / 2


def _upward(t: Expr, x: Expr) -> Expr:
    """|a| = |−a| and sign a = −sign(−a), so that x grows inside."""
    a = sp.expand(t.args[0])
    if not sp.diff(a, x).is_negative:
        return t.func(a)
    return sp.Abs(-a) if isinstance(t, sp.Abs) else -sp.sign(-a)


def _turned(f: Expr, w: Expr, x: Expr, mean: Expr, precision: Expr) -> Expr | None:
    """In w = αx + β ~ N(αM + β, α²/P), for a known α that is not 0."""
    slope = sp.diff(w, x)
    if slope.has(x) or not slope.is_nonzero:
        return None
    u = sp.Dummy("w", real=True)
    corners = {sp.Abs(w): sp.Abs(u), sp.sign(w): sp.sign(u)}
    moved = f.xreplace(corners).subs(x, sp.expand((u - w.subs(x, 0)) / slope))
    if {t.args[0] for t in moved.atoms(sp.sign, sp.Abs)} != {u}:
        return None
    return gaussian_expectation(moved, u, w.subs(x, mean), precision / slope**2)


def _terms_tidied(f: Expr) -> Expr:
    """What stands inside exponentials and other functions with what cancels in it cancelled."""
    return f.replace(
        lambda t: isinstance(t, (sp.exp, sp.erf, sp.sin, sp.cos)),
        lambda t: t.func(_shorter(t.args[0])),
    )


def _shorter(x: Expr) -> Expr:
    """Multiplied out or in factors: a square keeps its digits where its terms cancel."""
    return min(sp.expand(x), sp.factor(x), key=sp.count_ops)


def along_one_direction(f: Expr, theta: Expr, mean: Expr, precision: Expr) -> Expr | None:
    """E[f] of a vector or matrix that depends on θ through one ⟨x, θ⟩ ~ N(⟨x, M⟩, ⟨x, P⁻¹x⟩)."""
    holders = {t for t in f.atoms(trace) if t.has(theta)}
    if len(holders) != 1:
        return None
    (holder,) = holders
    u, variance = sp.Dummy("u", real=True), sp.Dummy("v", positive=True)
    plain = f.xreplace({holder: u})
    direction = gradient(holder, theta)
    if plain.has(theta) or direction.has(theta):
        return None
    middle = sp.Dummy("m", real=True)
    back = {
        middle: holder.xreplace({theta: mean}),
        variance: trace(normal(T(direction) * precision**-1 * direction), sp.S.One),
    }
    total = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(plain)):
        numbers, words = term.args_cnc()
        value = gaussian_expectation(sp.Mul(*numbers), u, middle, 1 / variance)
        if value is None:
            return None
        total += value.xreplace(back) * sp.Mul(*words)
    return total


def log_partition(b: Expr, p: Expr) -> Expr:
    """log ∫ exp(bx − ½px²) dx."""
    return quadratic_integral((sp.S.Zero, b, p), sp.Symbol("x", real=True), Elementwise())


def _smooth(f: Expr, x: Expr, b: Expr, p: Expr) -> Expr | None:
    """Of polynomials times exponentials of quadratics, waves among them."""
    if not f.has(x):
        return f
    waves = f.has(*_WAVES)
    opened = f.replace(lambda t: isinstance(t, _WAVES), lambda t: t.rewrite(sp.exp))
    if width(opened) > _WIDEST:
        return None
    opened = sp.expand(sp.powsimp(sp.expand(opened), combine="exp"))
    terms = sp.Add.make_args(opened)
    if len(terms) > _TERMS:
        return None
    total = sp.S.Zero
    for term in terms:
        value = _term(term, x, b, p)
        if value is None:
            return None
        total += value
    return _real(total) if waves else total


def _real(z: Expr) -> Expr | None:
    """The real part, where it is found by multiplying out."""
    parts = sp.expand(z, complex=True).as_real_imag()[0]
    return None if parts.has(sp.I, sp.re, sp.im, sp.arg) else parts


def _term(term: Expr, x: Expr, b: Expr, p: Expr) -> Expr | None:
    """E[c xⁿ e^q]."""
    c, dependent = term.as_independent(x, as_Add=False)
    degree, exponent = 0, sp.S.Zero
    for factor in sp.Mul.make_args(dependent):
        if factor.is_Pow and factor.base == x and factor.exp.is_Integer and factor.exp > 0:
            degree += int(factor.exp)
        elif factor == x:
            degree += 1
        elif isinstance(factor, sp.exp) and factor.args[0].is_polynomial(x):
            exponent += factor.args[0]
        elif factor != 1:
            return None
    exponent = sp.expand(exponent)
    if degree > _MOST or sp.degree(exponent, x) > 2:
        return None
    q0, q1, q2 = (exponent.coeff(x, k) for k in range(3))
    if q2 != 0 and not _falls(q2, x):
        return None
    moved = {b: b + q1, p: p - 2 * q2}
    if exponent == 0:
        return c * _moment(degree, b, p)
    rise = log_partition(b, p).subs(moved, simultaneous=True) - log_partition(b, p) + q0
    return c * _exp(rise) * _moment(degree, b, p).subs(moved, simultaneous=True)


def _exp(x: Expr) -> Expr:
    """eˣ, its logarithms outside."""
    logs = sp.Add(*[t for t in sp.Add.make_args(sp.expand(x)) if t.has(sp.log)])
    rest = sp.expand(sp.expand(x) - logs)
    powers = [sp.exp(t) for t in sp.Add.make_args(logs)]
    return sp.Mul(*powers) * sp.exp(rest if logs == 0 else sp.factor(rest))


def _falls(q2: Expr, x: Expr) -> bool:
    """Whether e^{q₂x²} keeps every normal density integrable."""
    if q2.is_nonpositive:
        return True
    if q2.is_positive:
        from blrgen.text.expression import unicode

        plain = sp.Symbol(x.name, real=True) if isinstance(x, sp.Dummy) else x
        written = unicode(sp.exp(q2 * plain**2))
        within = ", u being an inner product" if x.name == "u" else ""
        raise NoExpectation(
            f"the expectation of the loss does not exist for every member: it has {written}"
            f"{within}",
            where="--loss",
            why=f"against a normal density of precision up to {unicode(2 * q2)} it is infinite",
            how="a loss that grows like a polynomial or like exp(c*theta)",
        )
    return False


@cache
def _moment(degree: int, b: Expr, p: Expr) -> Expr:
    """E[xⁿ] by E[x f] = ∂_b E[f] + ∂_bA E[f]."""
    if degree == 0:
        return sp.S.One
    before = _moment(degree - 1, b, p)
    return sp.expand(sp.diff(before, b) + sp.diff(log_partition(b, p), b) * before)


def _by_sign(f: Expr, x: Expr) -> tuple[Expr, Expr] | None:
    """(u, v) with f = u + sign(x)·v for smooth u, v; None where there is no sign of x."""
    if not any(t.has(x) for t in f.atoms(sp.sign, sp.Abs)):
        return None
    letter = sp.Dummy("s")
    plain = sp.expand(f.xreplace({sp.sign(x): letter, sp.Abs(x): x * letter}))
    if any(t.has(x) for t in plain.atoms(sp.sign, sp.Abs)) or not plain.is_polynomial(letter):
        return sp.nan, sp.nan
    terms = sp.Poly(plain, letter).as_dict() if plain.has(letter) else {(0,): plain}
    even = sp.Add(*[c for (k,), c in terms.items() if k % 2 == 0])  # sign² = 1
    return even, sp.Add(*[c for (k,), c in terms.items() if k % 2])


def _with_sign(parts: tuple[Expr, Expr], x: Expr, b: Expr, p: Expr) -> Expr | None:
    """E[u] + E[sign(x) v] for a polynomial v: ∂_b of ∫ sign(x) exp(bx − ½px²) dx."""
    even, odd = parts
    if even is sp.nan or not odd.is_polynomial(x) or sp.degree(odd, x) > _MOST:
        return None
    first = _smooth(even, x, b, p)
    if first is None:
        return None
    value, total = sp.erf(b / sp.sqrt(2 * p)), sp.S.Zero
    slope = sp.diff(log_partition(b, p), b)
    for k in range(int(sp.degree(odd, x)) + 1 if odd != 0 else 0):
        total += odd.coeff(x, k) * value
        value = sp.expand(sp.diff(value, b) + slope * value)
    return first + total
