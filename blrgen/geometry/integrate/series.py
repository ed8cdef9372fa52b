"""Sums over whole numbers by the ratio of successive terms, with z = e^η.

    Σ zʲ/j! = eᶻ                              Σ (a)ⱼ zʲ/j! = (1 − z)^(−a)
    Σ zʲ/((b)ⱼ j!) = Γ(b) z^((1−b)/2) I_{b−1}(2√z)      Σ zʲ/(j + 1) = −log(1 − z)/z
    Σ_{j ≤ n} zʲ = (1 − z^(n+1))/(1 − z)

A series that starts later than it might is the whole one without its first terms.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.ring import Elementwise
from blrgen.algebra.special import uniform_cumulant
from blrgen.geometry.integrate.gammas import close, log_gamma
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem
from blrgen.geometry.integrate.ratio import Ratio, ratio_of

Expr = Any
_EARLIER = 4  # first terms that may be missing


def integrate(problem: Problem) -> Integral | None:
    """log Σ_k exp(exponent)."""
    support = problem.support
    if (
        support.kind != "integers"
        or not isinstance(problem.ring, Elementwise)
        or support.lower == -sp.oo
    ):
        return None
    ratio = ratio_of(problem)
    if ratio is None:
        return None
    first, last = sp.sympify(support.lower), sp.sympify(support.upper)
    start = _first_term(problem, first)
    ratio = ratio.started(first)
    length = sp.expand(last - first) if last.is_finite else None
    if length is not None and not any(sp.expand(a + length) == 0 for a in ratio.above):
        return _stretch(start, ratio, length, problem)
    found = _whole(ratio, problem) or _tail(ratio, problem)
    if found is None:
        return None
    value, said, conditions, sampler = found
    return Integral(
        sp.expand(start) + value,
        "summation",
        f"the ratio of successive terms is rational in {problem.variable}: {said}",
        sampler=first + sampler if sampler is not None else None,
        conditions=conditions,
    )


def _first_term(problem: Problem, first: Expr) -> Expr:
    return close(sp.expand(problem.exponent_opened.subs(problem.variable, first)))


_Found = tuple[Expr, str, tuple[Expr, ...], Expr | None]


def _whole(r: Ratio, problem: Problem) -> _Found | None:
    """The series in closed form, from j = 0."""
    eta, z = sp.expand(r.log_z), r.sign * sp.exp(sp.expand(r.log_z))
    shape = len(r.above), len(r.below)
    if shape == (0, 0):
        sampler = draw("poisson", z) if r.sign > 0 else None
        return z, "Σ zʲ/j! = exp(z)", (), sampler
    if shape == (1, 0):
        return _binomial(r.above[0], eta, r.sign, problem)
    if shape == (0, 1) and r.sign > 0:
        b = r.below[0]
        value = log_gamma(b) + sp.expand((1 - b) / 2 * eta)
        value += sp.log(sp.besseli(sp.expand(b - 1), 2 * sp.exp(eta / 2)))
        return value, "Σ zʲ/((b)ⱼ j!) = Γ(b) z^((1−b)/2) I_(b−1)(2√z)", (b,), None
    if r.above == [1, 1] and r.below == [2] and r.sign > 0:
        value = sp.log(-sp.log(1 - sp.exp(eta))) - eta
        return value, "Σ zʲ/(j+1) = −log(1 − z)/z", (-eta,), None
    if r.above == [1] and r.below == [2]:
        return uniform_cumulant(0, z), "Σ zʲ/(j+1)! = (eᶻ − 1)/z", (), None
    return None


def _binomial(a: Expr, eta: Expr, sign: int, problem: Problem) -> _Found | None:
    """(1 − z)^(−a): for z = −e^η only where it ends, a = −n."""
    n = sp.expand(-a)
    if sign < 0:
        if problem.sign(n + 1) != 1:
            return None
        sampler = draw("binomial", n, 1 / (1 + sp.exp(-eta)))
        return n * sp.log(1 + sp.exp(eta)), "Σ C(n, j) zʲ = (1 + z)ⁿ", (), sampler
    mean = draw("gamma", a) * sp.exp(eta) / (1 - sp.exp(eta))
    value = -a * sp.log(1 - sp.exp(eta))
    return value, "Σ (a)ⱼ zʲ/j! = (1 − z)^(−a)", (a, -eta), draw("poisson", mean)


def _tail(r: Ratio, problem: Problem) -> _Found | None:
    """With 1 above and m + 1 below: a series in i = j + m without its first m terms."""
    for b in r.below:
        if 1 not in r.above or not (b.is_Integer and 2 <= b <= _EARLIER):
            continue
        m = int(b) - 1
        above, below = list(r.above), list(r.below)
        above.remove(sp.S.One)
        below.remove(b)
        earlier = Ratio(
            r.log_z, r.sign, [sp.expand(a - m) for a in above], [sp.expand(c - m) for c in below]
        )
        if any(a.is_Integer and a <= 0 for a in (*earlier.above, *earlier.below)):
            continue
        whole = _whole(earlier, problem)
        if whole is None:
            continue
        terms = [_term(earlier, i) for i in range(m + 1)]
        left = sp.exp(whole[0]) - sp.Add(*terms[:m])
        value = sp.log(left * r.sign**m) - sp.log(_coefficient(earlier, m) * r.sign**m)
        value -= m * sp.expand(r.log_z)
        return value, f"{whole[1]}, without its first {m} terms", whole[2], None
    return None


def _coefficient(r: Ratio, i: int) -> Expr:
    top = sp.Mul(*[sp.Mul(*[a + s for s in range(i)]) for a in r.above])
    bottom = sp.Mul(*[sp.Mul(*[b + s for s in range(i)]) for b in r.below])
    return r.sign**i * top / bottom / sp.factorial(i)


def _term(r: Ratio, i: int) -> Expr:
    return _coefficient(r, i) * sp.exp(sp.expand(i * r.log_z))


def _stretch(start: Expr, r: Ratio, length: Expr, problem: Problem) -> Integral | None:
    """Σ_{j ≤ n} zʲ: log (1 − z^(n+1))/(1 − z), the number of points at z = 1."""
    if r.above != [1] or r.below or r.sign < 0:
        return None
    eta, count = sp.expand(r.log_z), sp.expand(length + 1)
    value = sp.log(count) + uniform_cumulant(0, sp.expand(count * eta)) - uniform_cumulant(0, eta)
    said = "Σ zʲ over j ≤ n is (1 − z^(n+1))/(1 − z), n + 1 at z = 1"
    # whole numbers below t(n + 1), where t on (0, 1) has a density in proportion to z^(t(n+1))
    first = sp.sympify(problem.support.lower)
    share = draw("uniform") if eta == 0 else draw("tilted", sp.expand(count * eta))
    sampler = first + sp.floor(count * share)
    return Integral(sp.expand(start) + value, "summation", said, sampler=sampler)
